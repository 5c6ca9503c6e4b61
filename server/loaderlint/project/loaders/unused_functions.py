"""The functions that no program of the project can run: no known code names them, except in functions that are unused
themselves, after what always fails, and in long branches at module level that constants switch off.

A loader in such a function starts no workers. Unknown code may call the functions of a library, and what a decorator, a
test runner or an entry point calls is not named either: these count as used."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import chain
from pathlib import Path
from typing import Literal

from loaderlint.facts import ir
from loaderlint.facts.ir import DefIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, DefKey, FunctionRef, Instance, def_key
from loaderlint.project.loaders.failing_code import FailingCode
from loaderlint.project.modules.module_refs import PACKAGE, has_module_name, module_name
from loaderlint.project.modules.project_files import Files, ProjectFile
from loaderlint.project.modules.tests_and_tutorials import may_be_collected
from loaderlint.syntax.notebook import SUFFIX

#: Names that entry points and command lines use.
_ENTRY_POINTS = frozenset({"main", "cli", "run", "entry_point"})
#: Texts of code that looks up modules, or functions of its own module, by names that are made up at run time.
_LOOKING_UP = ("import_module", "__import__", "sys.modules", "globals(", " eval(", "=eval(")
#: Calls that make a command line of an object, or of all functions of a file: `fire.Fire(Trainer())`, `fire.Fire()`.
_COMMAND_LINES = ("Fire(", "CLI(")
Use = Literal["known", "outside", "none"]


class UnusedFunctions:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator, callers: Callers, failing: FailingCode) -> None:
        self._ev = evaluator
        self._callers = callers
        self._failing = failing
        self._known: dict[DefKey, Use] = {}

    def is_unused(self, path: Path, piece: int, def_: int) -> bool:
        """Whether a def is a function, or lies in one, that no program of the project can run. Methods are used, unless
        what always fails comes before their class, or it is switched off."""
        return self.use(path, piece, def_) == "none"

    def is_uncalled(self, frame: Frame) -> bool:
        """Whether a frame is that of a method on an object that the project creates, and no code calls the method on
        it, or hands it on: `run(trainer.validate)`."""
        made, key = frame.receiver, def_key(frame)
        if not isinstance(made, Instance) or made.site is None or frame.facts is None or self._is_open(made, frame):
            return False
        if self._callers.owner(*key, frame.facts) is None or self._callers.is_called_on(made, key):
            return False
        name = frame.facts.ir.defs[frame.def_].name
        return not any(self._reads(file, number, name, key) for file, number in self._holding(name, frame.path))

    def _is_open(self, made: Instance, frame: Frame) -> bool:
        """Whether code from outside may call the methods of an object: that of users, or a command line that is made of
        it."""
        file = self._ev.file(made.site.frame.path) if made.site is not None else None
        return is_installed(self._ev.files, frame.path) or file is None or _makes_command_line(file)

    def _reads(self, file: ProjectFile, piece: int, name: str, method: DefKey) -> bool:
        """Whether a piece reads a method without calling it, or may look it up by its name."""
        facts = self._ev.facts(file.path, piece)
        if facts is None:
            return True  # it is half typed
        called = {e.func for e in facts.ir.exprs if isinstance(e, ir.Call)}
        named = (e for number, e in enumerate(facts.ir.exprs) if number not in called and names_function(e, name))
        return any(isinstance(e, ir.Attr) or _may_look_up(file, method[0], name) for e in named)

    def use(self, path: Path, piece: int, def_: int) -> Use:
        """What runs a def: 'known' code of the project, perhaps code 'outside' of it, or 'none'."""
        key = (path, piece, self._outermost(path, piece, def_))
        if key not in self._known:
            self._known[key] = "none"  # functions that only call each other are unused
            is_out = self._failing.cuts_off(path, piece) or self._ev.liveness.is_switched_off(path, piece)
            self._known[key] = "none" if is_out else self._find_use(*key)
        return self._known[key]

    def _outermost(self, path: Path, piece: int, def_: int) -> int:
        """The def of a piece, nested in no other, that holds a def."""
        facts = self._ev.facts(path, piece)
        while facts is not None and def_ > 0 and facts.ir.defs[def_].parent > 0:
            def_ = facts.ir.defs[def_].parent
        return def_

    def _find_use(self, path: Path, piece: int, def_: int) -> Use:
        facts = self._ev.facts(path, piece)
        if facts is None or self._callers.owner(path, piece, def_, facts) is not None:
            return "outside"
        if def_ == 0:
            return "known"
        one = facts.ir.defs[def_]
        others = (
            (file, number) for file, number in self._holding(one.name, path) if (file.path, number) != (path, piece)
        )
        found = {self._use_in((path, piece, def_), one.name, file, number) for file, number in others}
        if "known" in found:
            return "known"
        is_open = one.kind not in ("function", "async_function") or self._may_be_called_from_outside(one, path)
        return "outside" if is_open or "outside" in found else "none"

    def _may_be_called_from_outside(self, one: DefIR, path: Path) -> bool:
        file = self._ev.file(path)
        if one.decorators or one.name in _ENTRY_POINTS or (file is not None and _makes_command_line(file)):
            return True
        return path.suffix != SUFFIX and (
            may_be_collected(path, self._ev.files.root) or is_installed(self._ev.files, path)
        )

    def _holding(self, name: str, definer: Path) -> Iterator[tuple[ProjectFile, int]]:
        """The pieces whose text holds the name of a function of file `definer`, and that may run it."""
        for path in naming_files(self._ev.files, name, definer):
            file = self._ev.file(path)
            yield from ((file, number) for number in file.mentioning(name)) if file is not None else ()

    def _use_in(self, function: DefKey, name: str, file: ProjectFile, piece: int) -> Use:
        """How a piece that holds a function's name uses the function. An import alone does not use it, except under
        another name, which other code may use, and in a package's own file, which passes it on to the users of the
        package."""
        facts = self._ev.facts(file.path, piece)
        if facts is None:
            return "outside"  # it is half typed
        within = 1 if len(facts.ir.defs) > 1 else 0
        here = Unframed(self._ev, file.path, piece, 1, facts)  # 1: by all bindings of a name, wherever it is read
        named = {
            number
            for number, e in enumerate(facts.ir.exprs)
            if (names_function(e, name) or (within and _imports(e, name))) and not _is_another(here, number, function)
            if not _is_by_chance(facts.ir.exprs, e) or _may_look_up(file, function[0], name)
        }
        if named and (
            self._failing.keeps_from_all(file.path, piece, named)
            or self._failing.refuses_all(file.path, facts, named, here)
            or (not within and self._never_evaluates(self._ev.body(file.path, piece), named))
        ):
            return "none"
        if named or _renames(facts, name):
            return self.use(file.path, piece, within)
        return "outside" if file.path.name == PACKAGE and any(_imports(e, name) for e in facts.ir.exprs) else "none"

    def _never_evaluates(self, body: Frame, numbers: Set[ir.ExprId]) -> bool:
        """Whether code at module level evaluates some expressions only in branches that never run."""
        steps = body.code.one.steps if body.code.one is not None else ()
        live = (step for step in steps if not self._ev.liveness.is_dead(step.context, body))
        evaluated = ir.made_of(body.code.exprs, chain.from_iterable(map(ir.step_expressions, live)))
        return numbers.isdisjoint(evaluated)


def _is_by_chance(exprs: tuple[ir.Expr, ...], e: ir.Expr) -> bool:
    """Whether an expression has the name of a function and most often means something else: a text, or a method of an
    object, such as `model.train`."""
    return isinstance(e, ir.Const) or (isinstance(e, ir.Attr) and isinstance(exprs[e.base], ir.Param | ir.Call))


def _makes_command_line(file: ProjectFile) -> bool:
    return any(map(file.mentioning, _COMMAND_LINES))


def _may_look_up(file: ProjectFile, definer: Path, name: str) -> bool:
    """Whether a file may look up function `name` of file `definer` by its name: it names that module, or imports
    modules by names that are made up at run time. Where both have the same name, `train` in `train.py`, a word alone
    does not name the module."""
    module = module_name(definer)
    both = (f"import {name}", f"{name} import", f"{name}.{name}", f"{name}:{name}")
    named = both if module == name else (module,)
    return any(file.mentioning(word) for word in (*named, *_LOOKING_UP))


def _is_another(here: Unframed, number: ir.ExprId, function: DefKey) -> bool:
    """Whether an expression certainly is another function than this one, or a class."""
    value = here.value(number)
    atoms = value.atoms if value is not None else ()
    return bool(atoms) and all(isinstance(one, FunctionRef | ClassRef) and def_key(one) != function for one in atoms)


def _renames(facts: PieceFacts, name: str) -> bool:
    """Whether a piece imports a function under another name: `from data import loaders as make`."""
    binds = (step for step in facts.ir.defs[0].steps if isinstance(step, ir.Bind))
    return any(_imports(facts.ir.exprs[step.value], name) and step.name != name for step in binds)


def naming_files(files: Files, name: str, definer: Path) -> tuple[Path, ...]:
    """The files that hold the name of a function of file `definer` and may run it. Nobody imports a notebook, and a
    script that `import` cannot name only by its name in a text."""
    if definer.suffix == SUFFIX:
        return (definer,)
    found = files.containing(name)
    if has_module_name(definer):
        return found
    return tuple(path for path in found if path == definer or path in files.containing(definer.stem))


def is_installed(files: Files, path: Path) -> bool:
    """Whether a file belongs to a library that is installed: code from outside may call its functions."""
    if not path.is_relative_to(files.root):
        return True
    if not has_module_name(path):
        return False
    return files.exists(files.root / "setup.py") or "src" in path.relative_to(files.root).parts


def names_function(e: ir.Expr, name: str) -> bool:
    """Whether an expression names a function, or a text does: 'train.make_loader'."""
    match e:
        case ir.Global(named) | ir.Attr(_, named):
            return named == name
        case ir.Const("str", str(text)):
            return text == name or text.endswith((f".{name}", f":{name}"))
    return False


def _imports(e: ir.Expr, name: str) -> bool:
    return isinstance(e, ir.Imported) and e.name == name
