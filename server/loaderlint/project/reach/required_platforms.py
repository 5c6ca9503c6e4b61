"""The platforms that a program needs, because it imports or calls what others lack: `from os import sched_getaffinity`,
`import fcntl`, `init_process_group("nccl")`. Elsewhere it raises before it gets to a loader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.platforms import ONLY_ON, ONLY_ON_WITH, platforms_of
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.file_imports import own_imports, surely_imported
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import DefKey, FunctionRef, Instance, Lib, Method, Site, def_key
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.modules.import_resolution import is_hidden
from loaderlint.project.modules.project_files import MODULE

#: The words of the tables, by which files are found.
_WORDS = frozenset(name.rpartition(".")[2] for name in (*ONLY_ON, *ONLY_ON_WITH))
#: How calls of the functions in the tables begin.
_CALLS = tuple(
    f"{name.rpartition('.')[2]}("
    for name in (*ONLY_ON, *ONLY_ON_WITH)
    if name.startswith(("os.", "signal.", "torch.distributed."))
)
#: How many calls lead from code that calls something in the tables to a loader.
_MAX_CALLERS = 6
#: How many calls lead from a function to what is in the tables.
_MAX_CALLED = 6


class _Users(NamedTuple):
    """The functions of a project that use the tables whenever they are called, each with the names, and the `words`
    that code has which calls them or uses the tables itself. No words: no code calls what is in the tables."""

    functions: dict[DefKey, frozenset[str]]
    words: frozenset[str]


class RequiredPlatforms:
    """What the modules and functions of a project need. Each module is followed once. Names are those in the tables of
    `loaderlint.knowledge.platforms`."""

    def __init__(self, ev: Evaluator, callers: Callers) -> None:
        self._ev = ev
        self._callers = callers
        self._needing: dict[Path, frozenset[str]] | None = None
        self._of_module: dict[Path, tuple[str, ...]] = {}
        self._before: dict[tuple[Site, int], frozenset[str]] = {}
        self._users: _Users | None = None

    def of_module(self, path: Path) -> tuple[str, ...]:
        """The names that a module, or one that it surely imports, uses whenever it is imported."""
        if self._needing is None:
            self._needing = dict(self._find_needing())
        if not self._needing:
            return ()
        if path not in self._of_module:
            together = (self._needing.get(one, frozenset()) for one in surely_imported(self._ev, path))
            self._of_module[path] = tuple(sorted(frozenset[str]().union(*together)))
        return self._of_module[path]

    def before(self, site: Site) -> tuple[str, ...]:
        """The names that a program has called whenever it evaluates an expression: in its def before, or in those that
        call this def, if they are known."""
        if self._users is None:
            self._users = self._find_users()
        return tuple(sorted(self._before_site(site, 0))) if self._users.words else ()

    def _before_site(self, site: Site, depth: int) -> frozenset[str]:
        key = (site, depth)
        if key not in self._before:
            with provisional(self._before, key, frozenset()):
                outside = self._before_calls(site.frame, depth + 1) if depth < _MAX_CALLERS else frozenset[str]()
                self._before[key] = outside.union(self._in_def(site), self._in_clauses(site.frame))
        return self._before[key]

    def _in_def(self, site: Site) -> Iterator[str]:
        """The names that the def of an expression has called before anything is done with its value."""
        code = site.frame.code
        last = code.evaluated_by(site.expr)
        if code.one is None or last is None or site.frame.facts is None:
            return
        if self._words.isdisjoint(site.frame.facts.ir.mentions):
            return
        sure = {0, *code.one.enclosing(code.one.steps[last].context)}
        for step in code.one.steps[: _first_use(site, last)]:
            if isinstance(step, ir.Perform) and step.context in sure and step.call not in (NONE, site.expr):
                yield from self._called(step.call, site.frame)

    def _in_clauses(self, frame: Frame) -> Iterator[str]:
        """The names that statements at module level have called before a piece, in the long clauses around it."""
        file = self._ev.file(frame.path) if frame.def_ == 0 else None
        around = set(file.around(frame.piece)) if file is not None else set()
        if file is None or not around:
            return
        mentioning = {piece for word in self._words for piece, _ in file.asking(holds, word, scope=MODULE)}
        for piece in sorted(one for one in mentioning if one < frame.piece):
            if file.pieces[piece].parent in around:
                yield from self._at_top(self._ev.body(frame.path, piece))

    def _before_calls(self, frame: Frame, depth: int) -> frozenset[str]:
        """The names that are called before each call of a def, or before the object exists whose method it is."""
        made = frame.receiver
        if isinstance(made, Instance):
            return self._before_site(made.site, depth) if made.site is not None else frozenset()
        calls = [
            self._before_site(site, depth).union(self.of_module(site.frame.path)) for site in self._calls_of(frame)
        ]
        return calls[0].intersection(*calls) if calls else frozenset()

    def _calls_of(self, frame: Frame) -> Iterator[Site]:
        """The calls of a function at module level."""
        one, facts = frame.code.one, frame.facts
        if one is None or facts is None or one.kind != "function" or one.parent != 0 or one.decorators:
            return
        if self._callers.owner(frame.path, frame.piece, frame.def_, facts) is None:
            for call in self._callers.sites_running(one.name, def_key(frame)):
                caller = self._callers.opened(call.path, call.piece, call.def_)
                if caller is not None:
                    yield Site(caller, call.expr)

    @property
    def _words(self) -> frozenset[str]:
        return self._users.words if self._users is not None else _WORDS

    def _find_users(self) -> _Users:
        """The functions that call what is in the tables, then those that call these, and so on."""
        is_used = any(any(self._ev.files.containing(call)) for call in _CALLS)
        users, calls = _Users({}, _WORDS if is_used else frozenset()), _CALLS
        for _ in range(_MAX_CALLED):
            self._users = users
            found = dict(self._users_among(calls, users.functions))
            if not found:
                break
            names = frozenset(name for name, _ in found.values())
            users = _Users(users.functions | {key: used for key, (_, used) in found.items()}, users.words | names)
            calls = tuple(f"{name}(" for name in sorted(names))
        return users

    def _users_among(
        self, calls: tuple[str, ...], known: Mapping[DefKey, object]
    ) -> Iterator[tuple[DefKey, tuple[str, frozenset[str]]]]:
        """The functions with one of some calls in them that always use the tables, and are not known: the name and what
        is used."""
        for path in sorted({path for call in calls for path in self._ev.files.containing(call)}):
            for one, key in self._functions_in(path, calls):
                frame = self._callers.opened(*key) if key not in known else None
                found = frozenset(self._at_top(frame)) if frame is not None else frozenset[str]()
                if found:
                    yield key, (one.name, found)

    def _functions_in(self, path: Path, calls: tuple[str, ...]) -> Iterator[tuple[ir.DefIR, DefKey]]:
        """The functions and methods of a module with one of some calls in them."""
        file = self._ev.file(path)
        pieces = {piece for call in calls for piece in file.mentioning(call)} if file is not None else set[int]()
        for piece in sorted(pieces):
            facts = self._ev.facts(path, piece)
            for def_, one in enumerate(facts.ir.defs if facts is not None else ()):
                if one.kind == "function" and not one.decorators and not one.is_generator:
                    yield one, (path, piece, def_)

    def _at_top(self, frame: Frame) -> Iterator[str]:
        """The names that a def always calls, before it may return."""
        one = frame.code.one
        sure = _always_run(one) if one is not None else frozenset()
        for step in one.steps if one is not None else ():
            if isinstance(step, ir.Return) and step.context in sure:
                return
            if isinstance(step, ir.Perform) and step.context in sure:
                yield from self._called(step.call, frame)

    def _find_needing(self) -> Iterator[tuple[Path, frozenset[str]]]:
        """The modules that use a name of the table themselves, each with these names."""
        for path in sorted({path for word in _WORDS for path in self._ev.files.containing(word)}):
            found = frozenset((*self._imported(path), *self._called_in(path)))
            if found:
                yield path, found

    def _imported(self, path: Path) -> Iterator[str]:
        for e in own_imports(self._ev, path):
            top = e.module.partition(".")[0]
            name = _listed(f"{e.module}.{e.name}" if e.name else e.module)
            if name is not None and not e.level and not is_hidden(self._ev.files, path, top):
                yield name

    def _called_in(self, path: Path) -> Iterator[str]:
        """What the code of a module calls in no branch, and in no function."""
        file = self._ev.file(path)
        if file is None:
            return
        mentioning = {piece for word in _WORDS for piece, _ in file.asking(holds, word, scope=MODULE)}
        for piece in sorted(one for one in mentioning if file.pieces[one].parent == -1):
            yield from self._at_top(self._ev.body(path, piece))

    def _called(self, number: int, frame: Frame) -> Iterator[str]:
        """The names that a call uses."""
        call = self._ev.expr(frame, number)
        atoms = self._ev.eval(call.func, frame).atoms if isinstance(call, ir.Call) else ()
        if not isinstance(call, ir.Call) or len(atoms) != 1:
            return
        for atom in atoms:
            if isinstance(atom, Lib) and (atom.name in ONLY_ON or self._is_limited(atom.name, call, frame)):
                yield atom.name
            function = atom.function if isinstance(atom, Method) else atom
            if isinstance(function, FunctionRef) and self._users is not None:
                yield from self._users.functions.get(def_key(function), ())

    def _is_limited(self, name: str, call: ir.Call, frame: Frame) -> bool:
        """Whether a call gives a function of a library the value that only some platforms support."""
        needed = ONLY_ON_WITH.get(name)
        if needed is None or any(arg.kind in ("star", "starstar") for arg in call.args):
            return False
        given = ir.written_argument(call, needed.keyword, needed.position)
        literal = self._ev.eval(given, frame).literal if given != NONE else None
        if literal is None or literal.configured or not isinstance(literal.value, str):
            return False
        return literal.value.lower() == needed.value


def _always_run(one: ir.DefIR) -> frozenset[int]:
    """The contexts of a def that run in each call that does not raise: its body, and what follows `if x: raise`."""
    raising = {step.context for step in one.steps if isinstance(step, ir.Raise)}
    raising -= {around for step in one.steps if isinstance(step, ir.Return) for around in one.enclosing(step.context)}
    tests = {(one.contexts[n].parent, one.contexts[n].expr) for n in raising if _is_branch(one.contexts[n], False)}
    sure = {0}
    for number, here in enumerate(one.contexts):  # a context comes after those around it
        if here.parent in sure and _is_branch(here, True) and (here.parent, here.expr) in tests:
            sure.add(number)
    return frozenset(sure)


def _is_branch(here: ir.Context, negated: bool) -> bool:
    return here.kind == "if" and here.negated is negated


def _first_use(site: Site, made: int) -> int:
    """The number of the step after which something may be done with the value that step `made` of a def computes. Code
    at module level, or in functions in the def, may read it without a trace."""
    code, facts = site.frame.code, site.frame.facts
    if code.one is None or facts is None or not site.frame.def_:
        return made + 1
    if any(one.parent == site.frame.def_ for one in facts.ir.defs):
        return made + 1
    for number, step in enumerate(code.one.steps[made + 1 :], made + 1):
        if not isinstance(step, ir.Bind) and site.expr in ir.made_of(code.exprs, ir.step_expressions(step)):
            return number
    return len(code.one.steps)


def _listed(name: str) -> str | None:
    """The name in `ONLY_ON` for an imported module or name: `nvidia.dali` for `nvidia.dali.plugin.pytorch`."""
    while name and name not in ONLY_ON:
        name = name.rpartition(".")[0]
    return name or None


def having(platforms: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `platforms` that have everything in `names`; all of them if none has: a project that is for such a
    platform only has found a way."""
    return tuple(one for one in platforms if all(one in platforms_of(name) for name in names)) or platforms
