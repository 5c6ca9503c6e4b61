"""Where the result of a function goes: the calls of it, if all of them are in the project and in sight.

The calls are found by the function's name, and by the names that imports give it. They are certainly not all of it if
code names the function without calling it, or if code from outside, or a notebook, may call it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import DefKey, FunctionRef, Unknown, def_key
from loaderlint.project.loaders.unused_functions import is_installed, names_function, naming_files
from loaderlint.project.modules.tests_and_tutorials import in_tests
from loaderlint.syntax.notebook import SUFFIX

#: At most this many names of one function are followed: its own, and those that imports give it.
_MAX_NAMES = 4


class Calling(NamedTuple):
    """A call: expression `expr` of def `def_`."""

    path: Path
    piece: int
    def_: int
    expr: int


def calls_of(ev: Evaluator, function: DefKey) -> tuple[Calling, ...]:
    """All calls of a function at module level; () if there may be others, or none outside of tests, for a function that
    is not itself in a test: code that nobody sees calls it."""
    found = calls_in_sight(ev, function)
    if is_installed(ev.files, function[0]) or any(call.path.suffix == SUFFIX for call in found):
        return ()
    return () if found and _is_in_notebook(ev, function) else found


def calls_in_sight(ev: Evaluator, function: DefKey) -> tuple[Calling, ...]:
    """The calls of a function as `calls_of` finds them, where code that uses the project as a library, or somebody in a
    notebook, may call it in other ways."""
    path, piece, def_ = function
    facts = ev.facts(path, piece)
    if facts is None or not _is_plain(ev, function, facts.ir.defs[def_]):
        return ()
    found = _calls_by_name(ev, function, facts.ir.defs[def_].name)
    root = ev.files.root
    is_called = any(sure and (in_tests(path, root) or not in_tests(one.path, root)) for one, sure in found)
    return tuple(one for one, _ in found) if is_called else ()


def _is_in_notebook(ev: Evaluator, function: DefKey) -> bool:
    path, piece, def_ = function
    facts = ev.facts(path, piece)
    name = facts.ir.defs[def_].name if facts is not None else ""
    notebooks = (ev.file(one) for one in ev.files.containing(name) if one.suffix == SUFFIX)
    return any(True for file in notebooks if file is not None for _ in file.mentioning(name))


def _is_plain(ev: Evaluator, function: DefKey, one: ir.DefIR) -> bool:
    """Whether a def is a function at module level of a program, and its calls return what it returns."""
    path, piece, _ = function
    file = ev.file(path)
    if one.kind != "function" or one.parent != 0 or one.is_generator or one.decorators:
        return False
    if file is None or path.suffix == SUFFIX:
        return False
    return ev.names.class_around(file, piece) is None


def _calls_by_name(ev: Evaluator, function: DefKey, name: str) -> list[tuple[Calling, bool]]:
    """The calls of all that has the name of a function and may be it, each with whether it certainly is; [] if some
    code does anything else with the name."""
    names, found = [name], dict[Calling, bool]()
    for one in names:  # grows
        for path in naming_files(ev.files, one, function[0]):
            file = ev.file(path)
            for piece in file.mentioning(one) if file is not None else ():
                facts = ev.facts(path, piece)
                here = calls_in(facts, one) if facts is not None else None
                if facts is None or here is None:
                    return []
                names += [other for other in here.aliases if other not in names]
                for def_, expr in here.calls:
                    sure = _runs(ev, Calling(path, piece, def_, expr), facts, function)
                    if sure is not None:
                        found[Calling(path, piece, def_, expr)] = sure
        if len(names) > _MAX_NAMES:
            return []
    return list(found.items())


def _runs(ev: Evaluator, call: Calling, facts: PieceFacts, function: DefKey) -> bool | None:
    """Whether a call certainly runs a function; None if it certainly runs another one."""
    e = facts.ir.exprs[call.expr]
    callee = Unframed(ev, call.path, call.piece, call.def_, facts).value(e.func) if isinstance(e, ir.Call) else None
    if callee is None or not callee.atoms:
        return False
    if any(def_key(atom) == function for atom in callee.only(FunctionRef)):
        return True
    return False if callee.only(Unknown) else None


class _Found(NamedTuple):
    """The calls of a name in a piece, each as its def and its expression, and the names that imports give it."""

    calls: list[tuple[int, int]]
    aliases: list[str]


def calls_in(facts: PieceFacts, name: str) -> _Found | None:
    """The calls of a name in a piece; None if the piece does anything else with what it stands for."""
    exprs = facts.ir.exprs
    named = {number for number, e in enumerate(exprs) if _is_named(e, name)}
    if any(names_function(e, name) for e in exprs if type(e) is ir.Const):
        return None
    calls = {number for number, e in enumerate(exprs) if isinstance(e, ir.Call) and e.func in named}
    others = (e for number, e in enumerate(exprs) if number not in calls)
    passed = (arg.value for number in calls for arg in _arguments(exprs[number]))
    if not named.isdisjoint(passed) or any(not named.isdisjoint(ir.operands(e)) for e in others):
        return None
    found = _Found([], [])
    for def_, one in enumerate(facts.ir.defs):
        if not named.isdisjoint(_of_head(one)):
            return None
        for step in one.steps:
            if isinstance(step, ir.Bind) and step.value in named and isinstance(exprs[step.value], ir.Imported):
                found.aliases.append(step.name)
            elif not named.isdisjoint(ir.step_expressions(step)):
                return None
            elif isinstance(step, ir.Perform) and step.call in calls:
                found.calls.append((def_, step.call))
    return found if calls == {expr for _, expr in found.calls} else None


def _is_named(e: ir.Expr, name: str) -> bool:
    return isinstance(e, ir.Global | ir.Attr | ir.Capture | ir.Imported) and e.name == name


def _arguments(e: ir.Expr) -> tuple[ir.Arg, ...]:
    return e.args if isinstance(e, ir.Call) else ()


def _of_head(one: ir.DefIR) -> Iterator[int]:
    """The expressions of a def's head, and those around its steps."""
    yield from (context.expr for context in one.contexts)
    yield from (*one.decorators, *one.bases, *(value for _, value in one.keywords))
    yield from (param.default for param in one.params)
