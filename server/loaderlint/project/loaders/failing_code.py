"""Code that no run of a program reaches, because a statement before it always fails or ends the process: an import
(see `failing_imports`), `raise`, `assert False`, `sys.exit()`, a loop without an end, a name that nothing binds (see
`unbound_names`), an option that no parser declares (see `unset_options`), or a call of a function of the project that
always fails itself, or that does not accept the arguments.

Only what is certain counts. `*args` and `**kwargs` may pass everything, and calls of a function with an unknown
decorator or of one of several definitions are accepted. Notebooks are left out at module level: whoever runs one goes
on with the next cell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.process_exits import EXITS
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import ClassRef, DefKey, FunctionRef, Instance, Lib, Site, def_key
from loaderlint.project.loaders.failing_imports import FailingImports
from loaderlint.project.loaders.unbound_names import UnboundNames
from loaderlint.project.loaders.unset_options import UnsetOptions
from loaderlint.project.modules.dependencies import is_def
from loaderlint.project.modules.import_resolution import STANDARD, WELL_KNOWN
from loaderlint.project.modules.module_refs import PACKAGE, module_name
from loaderlint.project.modules.project_files import MODULE, ProjectFile
from loaderlint.syntax.main_guard import is_main_guard
from loaderlint.syntax.notebook import SUFFIX

#: What stands in a line after the `import` or `from` that begins a statement.
_IMPORT = re.compile(r"(?:^|[\r\n;:])[ \t\f]*(?:import|from)\b([^\r\n;#]*)")
#: A statement that ends a module in any case.
_ENDS = re.compile(r"\s*(?:raise\b|assert\s+(?:False|0)\b|(?:sys\.|os\._)?exit\s*\(|quit\s*\()")
_ASSERTS_FALSE = re.compile(r"\s*assert\s+(?:False|0)\s*(?:,|#|$)", re.MULTILINE)
_IS_ENDLESS = re.compile(r"\s*while\s+(?:True|1)\s*:")
_LEAVES_LOOP = re.compile(r"\b(?:break|return)\b")
_OF_LIBRARIES = STANDARD | WELL_KNOWN


class Failure(NamedTuple):
    """A step of a def that always fails, and its context: nothing after it in that context runs. `unbound`: the name
    that nothing binds, if it reads one. `where`: the step fails 'before' a call that it would make, 'in' a function
    that it calls, or 'here', by itself."""

    step: int
    context: int
    unbound: str = ""
    where: Literal["before", "in", "here"] = "here"


class FailingCode:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._failures: dict[DefKey, tuple[Failure, ...]] = {}
        self._of_frames: dict[Frame, tuple[Failure, ...]] = {}
        self._blocks: dict[Path, tuple[tuple[int, int], ...]] = {}
        self._unimportable: dict[Path, bool] = {}
        self._imports = FailingImports(evaluator, self._is_unimportable)
        self._unbound = UnboundNames(evaluator)
        self.unset_options = UnsetOptions(evaluator)

    def cuts_off(self, path: Path, piece: int) -> bool:
        """Whether a statement at module level that always fails comes before a piece in its block, or in one around
        it."""
        failing = self._failing_pieces(path)
        file = self._ev.file(path) if failing else None
        around = {-1, *file.around(piece)} if file is not None else set()
        return any(first < piece and block in around for first, block in failing)

    def keeps_from(self, site: Site) -> bool:
        """Whether what always fails keeps every program from a call: before it in its def or file, or before the object
        exists whose method makes the call."""
        frame = site.frame
        if self.cuts_off(frame.path, frame.piece) or self._follows_failure(site):
            return True
        return self.never_runs(frame)

    def never_runs(self, frame: Frame) -> bool:
        """Whether what always fails comes before the object exists on which the method of a frame runs, or is in the
        object's constructor."""
        made = frame.receiver
        if not isinstance(made, Instance) or made.site is None:
            return False
        if self._ev.calls.is_refused(made) or self.keeps_from(made.site):
            return True
        init = self._ev.classes.init_frame(made)
        return init is not None and init is not frame and self.fails_in(init)

    def keeps_from_all(self, path: Path, piece: int, numbers: Collection[ir.ExprId]) -> bool:
        """Whether calls and imports that always fail come before all of these expressions of a piece."""
        facts = self._ev.facts(path, piece)
        if facts is None or not any(self.failing_steps((path, piece, def_)) for def_ in range(len(facts.ir.defs))):
            return False
        return self.evaluated(path, piece).isdisjoint(numbers)

    def evaluated(self, path: Path, piece: int) -> frozenset[ir.ExprId]:
        """The expressions of a piece that its defs evaluate before they fail, or at all."""
        facts = self._ev.facts(path, piece)
        if facts is None:
            return frozenset()
        defs = range(len(facts.ir.defs))
        live = chain.from_iterable(_evaluated(facts, def_, self.failing_steps((path, piece, def_))) for def_ in defs)
        return frozenset(ir.made_of(facts.ir.exprs, live))

    def steps_before(self, key: DefKey) -> Iterator[ir.Step]:
        """The steps of a def that come after none that always fails."""
        facts = self._ev.facts(*key[:2])
        one = facts.ir.defs[key[2]] if facts is not None else None
        for number, step in enumerate(one.steps) if one is not None else ():
            if one is not None and not _is_after(number, one, self.failing_steps(key)):
                yield step

    def only_callee(self, number: ir.ExprId, key: DefKey) -> FunctionRef | ClassRef | None:
        """The function or class of the project that call `number` of a def runs in every run of a program; None if that
        is not certain."""
        facts = self._ev.facts(*key[:2])
        call = facts.ir.exprs[number] if facts is not None else None
        if facts is None or not isinstance(call, ir.Call):
            return None
        callee = self._callee(call, Unframed(self._ev, *key, facts))
        return callee if callee is not None and self._is_certain(callee, call, key[0], facts) else None

    def unbound_in(self, key: DefKey) -> tuple[tuple[int, str], ...]:
        """The steps of a def that always read a name which nothing binds, each with the name."""
        facts = self._ev.facts(*key[:2])
        if facts is None:
            return ()
        return tuple(self._unbound.read_in(key[0], facts, key[2], Unframed(self._ev, *key, facts)))

    def pieces_before(self, path: Path, piece: int) -> Iterator[int]:
        """The pieces at module level of a program that may fail, and that always run before a piece."""
        file = self._script(path)
        around = {-1, *file.around(piece)} if file is not None else set()
        for number, _ in file.asking(_may_fail, scope=MODULE) if file is not None else ():
            if file is not None and number < piece and file.pieces[number].parent in around:
                yield number

    def _follows_failure(self, site: Site) -> bool:
        code, at = site.frame.code, site.frame.code.evaluated_by(site.expr)
        return code.one is not None and at is not None and _is_after(at, code.one, self._failures_in(site.frame))

    def fails_in(self, frame: Frame) -> bool:
        """As `never_returns`, for the arguments of a frame."""
        one = frame.code.one
        if one is None or not _is_plain(one):
            return False
        first = min((failure.step for failure in self._failures_in(frame) if failure.context == 0), default=NONE)
        return first != NONE and not any(number < first for number, _ in self._ev.liveness.returns(frame))

    def _failures_in(self, frame: Frame) -> tuple[Failure, ...]:
        """The failures of a def in a frame, where a branch may be one that always runs."""
        if frame not in self._of_frames:
            with provisional(self._of_frames, frame, ()):
                self._of_frames[frame] = tuple(self._find_failures_in(frame))
        return self._of_frames[frame]

    def _find_failures_in(self, frame: Frame) -> Iterator[Failure]:
        steps = frame.code.one.steps if frame.code.one is not None else ()
        for number in self.unset_options.read_of_arguments(frame):
            yield Failure(number, steps[number].context, where="before")
        for failure in self.failing_steps(def_key(frame)):
            yield failure._replace(context=self._ev.liveness.run_with(failure.context, frame))
        for number, step in frame.code.steps_of(ir.Perform):
            if self._call_fails(step, frame):
                yield Failure(number, self._ev.liveness.run_with(step.context, frame), where="in")

    def _call_fails(self, step: ir.Perform, frame: Frame) -> bool:
        """Whether a step calls a function or class of the project that always fails with these arguments, and may not
        fail with others."""
        facts, call = frame.facts, frame.code.exprs[step.call]
        if facts is None or not isinstance(call, ir.Call) or self._ev.liveness.is_dead(step.context, frame):
            return False
        callee = self._callee(call, Unframed(self._ev, *def_key(frame), facts))
        run = self._function_of(callee)
        if callee is None or run is None or not self.failing_steps(run):
            return False
        targets = self._ev.targets(step.call, frame)
        if len(targets) != 1 or def_key(targets[0]) != run or not self.fails_in(targets[0]):
            return False
        return self._is_certain(callee, call, frame.path, facts)

    def _function_of(self, callee: FunctionRef | ClassRef | None) -> DefKey | None:
        """What a call of a function or class runs: the function, or the constructor."""
        if not isinstance(callee, ClassRef):
            return def_key(callee) if callee is not None else None
        init = self._ev.classes.member(callee, "__init__")
        return def_key(init.function) if init is not None and init.function is not None else None

    # --- what fails ---------------------------------------------------------------------------------------------------

    def _failing_pieces(self, path: Path) -> tuple[tuple[int, int], ...]:
        """The pieces at module level that always fail, each with the clause whose block it ends (-1: the module)."""
        if path not in self._blocks:
            with provisional(self._blocks, path, ()):
                file = self._ev.file(path) if not self._ev.installed.holds(path) else None
                pieces = file.asking(_may_fail, scope=MODULE) if file is not None else ()
                self._blocks[path] = tuple(self._failing_among(pieces, file))
        return self._blocks[path]

    def _script(self, path: Path) -> ProjectFile | None:
        """The file of the project at `path`, if it runs from its beginning to its end."""
        return None if path.suffix == SUFFIX or self._ev.installed.holds(path) else self._ev.file(path)

    def _failing_among(self, pieces: Iterable[tuple[int, bool]], file: ProjectFile | None) -> Iterator[tuple[int, int]]:
        for piece, _ in pieces:
            if file is not None and self._ends(file, piece):
                yield piece, file.pieces[piece].parent

    def _ends(self, file: ProjectFile, piece: int) -> bool:
        """Whether a statement at module level always fails. In a notebook, only imports do: cells that are gone may
        have set the names that it reads."""
        if file.path.suffix == SUFFIX:
            return self._imports_what_fails(file.path, piece)
        if file.pieces[piece].ask(_asserts_false) or file.pieces[piece].ask(_loops_for_ever):
            return True
        return any(one.context == 0 for one in self.failing_steps((file.path, piece, 0)))

    def _imports_what_fails(self, path: Path, piece: int) -> bool:
        """Whether a statement always imports what cannot be imported."""
        facts = self._ev.facts(path, piece)
        if facts is None:
            return False
        return any(step.context == 0 and self._fails_to_import(step, path, facts) for step in facts.ir.defs[0].steps)

    def failing_steps(self, key: DefKey) -> tuple[Failure, ...]:
        """The steps of a def that always fail where they run."""
        if key not in self._failures:
            with provisional(self._failures, key, ()):
                self._failures[key] = tuple(self._find_failing_steps(*key))
        return self._failures[key]

    def _find_failing_steps(self, path: Path, piece: int, def_: int) -> Iterator[Failure]:
        facts = self._ev.facts(path, piece)
        if facts is None:
            return
        here = Unframed(self._ev, path, piece, def_, facts)
        one = facts.ir.defs[def_]
        unbound = dict(self._unbound.read_in(path, facts, def_, here))
        unset = set(self.unset_options.read_in(one, here)) if path.suffix != SUFFIX else set()
        for number, step in enumerate(one.steps):
            if number in unset:
                yield Failure(number, step.context, where="before")
            elif number in unbound or self._fails(step, path, facts, here):
                yield Failure(number, step.context, unbound.get(number, ""))
            elif isinstance(step, ir.Perform) and self._callee_fails(step, path, facts, here):
                yield Failure(number, step.context, where="in")

    def _fails(self, step: ir.Step, path: Path, facts: PieceFacts, here: Unframed) -> bool:
        match step:
            case ir.Perform(_, number):
                call = facts.ir.exprs[number]
                return isinstance(call, ir.Call) and (_exits(call, here) or self._is_refused(call, path, facts, here))
            case ir.Raise():
                return True
        return self._fails_to_import(step, path, facts)

    def _fails_to_import(self, step: ir.Step, path: Path, facts: PieceFacts) -> bool:
        match step:
            case ir.Bind(_, _, number) if number != NONE:
                e = facts.ir.exprs[number]
                return isinstance(e, ir.Imported) and self._imports.fails(path, e)
            case ir.StarImport(_, module, level):
                return self._imports.fails(path, ir.Imported(module, None, level))
        return False

    # --- calls --------------------------------------------------------------------------------------------------------

    def is_refused(self, call: ir.Call, path: Path, piece: int) -> bool:
        """Whether a call in a piece certainly raises TypeError, because the project's function or class does not accept
        the arguments."""
        facts = self._ev.facts(path, piece)
        return facts is not None and self._is_refused(call, path, facts, Unframed(self._ev, path, piece, 0, facts))

    def refuses_all(self, path: Path, facts: PieceFacts, callees: Collection[ir.ExprId], here: Unframed) -> bool:
        """Whether these expressions of a piece are only called, and each call certainly raises TypeError, so that it
        does not run the callee."""
        calls = [e for e in facts.ir.exprs if type(e) is ir.Call and e.func in callees]
        are_called = {call.func for call in calls} == set(callees)
        return are_called and all(self._is_refused(call, path, facts, here) for call in calls)

    def _is_refused(self, call: ir.Call, path: Path, facts: PieceFacts, here: Unframed) -> bool:
        """Whether a call certainly raises TypeError: it has one callee in every run, which does not accept it."""
        callee = self._callee(call, here)
        if callee is None or not self._ev.calls.refuses(callee, call):
            return False
        return self._is_certain(callee, call, path, facts)

    def _callee_fails(self, step: ir.Perform, path: Path, facts: PieceFacts, here: Unframed) -> bool:
        """Whether a step calls a function of the project that never returns, because it always fails."""
        call = facts.ir.exprs[step.call]
        callee = self._callee(call, here) if isinstance(call, ir.Call) else None
        if not isinstance(call, ir.Call) or not isinstance(callee, FunctionRef):
            return False
        return self.never_returns(def_key(callee)) and self._is_certain(callee, call, path, facts)

    def never_returns(self, key: DefKey) -> bool:
        """Whether a function always fails when it is called: before it may return, outside branches and `try`."""
        facts = self._ev.facts(*key[:2])
        one = facts.ir.defs[key[2]] if facts is not None else None
        if one is None or not _is_plain(one):
            return False
        first = min((failure.step for failure in self.failing_steps(key) if failure.context == 0), default=NONE)
        return first != NONE and not any(isinstance(step, ir.Return) for step in one.steps[:first])

    def _callee(self, call: ir.Call, here: Unframed) -> FunctionRef | ClassRef | None:
        """The only function or class of the project that a call runs, as far as the code shows."""
        callee = here.value(call.func)
        (atom,) = callee.atoms if callee is not None and len(callee.atoms) == 1 else (None,)
        if not isinstance(atom, FunctionRef | ClassRef) or self._ev.installed.holds(atom.path):
            return None  # another version of a library may accept it
        return atom

    def _is_certain(self, callee: FunctionRef | ClassRef, call: ir.Call, path: Path, facts: PieceFacts) -> bool:
        """Whether no other code may stand behind the name of a callee."""
        if self._is_replaced(callee) or self._may_be_covered(path, facts.ir.exprs[call.func]):
            return False
        return callee.path == path or not self._may_be_of_another(callee, path, facts.ir.exprs[call.func])

    def _is_replaced(self, callee: FunctionRef | ClassRef) -> bool:
        """Whether some code sets an attribute of this name, perhaps of the module that defines it."""
        names = {self._name(callee), "__init__"} if isinstance(callee, ClassRef) else {self._name(callee)}
        return any(self._ev.files.containing(f".{name} =") for name in names)

    def _name(self, callee: FunctionRef | ClassRef) -> str:
        facts = self._ev.facts(callee.path, callee.piece)
        return facts.ir.defs[callee.def_].name if facts is not None else ""

    def _may_be_of_another(self, callee: FunctionRef | ClassRef, caller: Path, func: ir.Expr) -> bool:
        """Whether a library, or another module of the same name, may define what a call of `func` in file `caller`
        means. Nothing comes before what is in the folder of the program itself."""
        if callee.path.is_relative_to(caller.parent) and self._is_program(caller):
            return False
        written = [*self._imports_of(func, caller)]
        if not written:
            return self._may_be_elsewhere(callee, caller)
        return any(not e.level and self._may_mean_another(e, callee, caller) for e in written)

    def _imports_of(self, e: ir.Expr, path: Path) -> Iterator[ir.Imported]:
        """The imports of a file that bind a name."""
        file = self._ev.file(path)
        bindings = file.names.get(e.name, ()) if file is not None and isinstance(e, ir.Global) else ()
        written = (e, *(self._ev.names.written(path, binding) for binding in bindings))
        yield from (one for one in written if isinstance(one, ir.Imported))

    def _may_mean_another(self, e: ir.Imported, callee: FunctionRef | ClassRef, caller: Path) -> bool:
        """Whether an import may find a library, or another module of the project, that has what is called."""
        found = self._ev.names.resolve(caller, e.module, 0)
        own = {callee.path, found.path} if found is not None else {callee.path}
        return e.module.partition(".")[0] in WELL_KNOWN or self._is_in_others(e.module, self._name(callee), own)

    def _may_be_elsewhere(self, callee: FunctionRef | ClassRef, caller: Path) -> bool:
        """As `_may_mean_another`, where no import names what is called."""
        inside = callee.path.relative_to(self._ev.files.root).with_suffix("").parts
        if not WELL_KNOWN.isdisjoint(inside):
            return True
        package = callee.path.with_name(PACKAGE)
        module = module_name(callee.path)
        if callee.path != package and self._ev.files.exists(package) and package.parent != caller.parent:
            module = f"{package.parent.name}.{module}"  # from another folder, a module is imported from its package
        return self._is_in_others(module, self._name(callee), {callee.path})

    def _is_in_others(self, module: str, name: str, own: Collection[Path]) -> bool:
        """Whether files of the project that are not in `own` may be a module and bind a name."""
        others = (self._ev.file(path) for path in self._imports.called(module, None) if path not in own)
        return any(file is None or file.stars or name in file.names for file in others)

    def _is_program(self, path: Path) -> bool:
        """Whether a file has a main guard."""
        file = self._script(path)
        return file is not None and any(file.asking(is_main_guard, scope=MODULE))

    def _may_be_covered(self, path: Path, func: ir.Expr) -> bool:
        """Whether a star import may bind the name of a callee again."""
        file = self._ev.file(path)
        bindings = file.names.get(func.name, []) if file is not None and isinstance(func, ir.Global) else []
        last = max((binding.piece for binding in bindings), default=None)
        return file is not None and last is not None and any(star.piece > last for star in file.stars)

    def _is_unimportable(self, path: Path) -> bool:
        """Whether a module ends at its top level, or imports there what always fails."""
        if path not in self._unimportable:
            with provisional(self._unimportable, path, False):
                file = self._script(path)
                pieces = file.asking(_may_end, scope=MODULE) if file is not None else ()
                self._unimportable[path] = any(block < 0 for _, block in self._failing_among(pieces, file))
        return self._unimportable[path]


def _is_plain(one: ir.DefIR) -> bool:
    """Whether a call of a function runs it at once, and nothing around it."""
    return one.kind == "function" and not one.is_generator and not one.decorators


def _exits(call: ir.Call, here: Unframed) -> bool:
    """Whether a call ends the process."""
    callee = here.value(call.func)
    return callee is not None and all(isinstance(atom, Lib) and atom.name in EXITS for atom in callee.atoms)


def _is_after(step: int, one: ir.DefIR, failures: Iterable[Failure]) -> bool:
    """Whether a step comes after one that fails, in its context, or makes no call because it fails itself."""
    context = one.steps[step].context
    return any(
        (failure.step < step or (failure.step == step and failure.where == "before"))
        and one.is_within(context, failure.context)
        for failure in failures
    )


def _evaluated(facts: PieceFacts, def_: int, failures: Collection[Failure]) -> Iterator[ir.ExprId]:
    """What a def evaluates up to the steps that fail, and its header."""
    one = facts.ir.defs[def_]
    yield from (*one.decorators, *one.bases, *(param.default for param in one.params))
    for number, step in enumerate(one.steps):
        if not _is_after(number, one, failures):
            yield from ir.step_expressions(step)


def _may_fail(text: str) -> bool:
    """Whether a piece may raise an exception, call something, or import something that may be in the project, and is no
    function or class."""
    return _may_import(text) or (("(" in text or "raise" in text or "assert" in text) and not is_def(text))


def _may_end(text: str) -> bool:
    """Whether a piece may end its module, or import something that may be in the project, and is no function or
    class."""
    return _may_import(text) or (_ENDS.match(text) is not None and not is_def(text))


def _asserts_false(text: str) -> bool:
    """Whether a statement is `assert False`, with or without a message."""
    return _ASSERTS_FALSE.match(text) is not None


def _loops_for_ever(text: str) -> bool:
    """Whether a statement is a loop that nothing ends but an exception: `while True` without `break`."""
    return _IS_ENDLESS.match(text) is not None and _LEAVES_LOOP.search(text) is None


def _may_import(text: str) -> bool:
    """Whether a piece may import something that may be in the project, and is no function or class."""
    return "import" in text and not is_def(text) and any(map(_may_be_of_project, _IMPORT.findall(text)))


def _may_be_of_project(written: str) -> bool:
    """Whether what follows `import` or `from` may name a module of the project: `os, data`, `data import Crops`."""
    modules = (one.split() for one in written.partition(" import")[0].split(","))
    return any(words and words[0].partition(".")[0] not in _OF_LIBRARIES for words in modules)
