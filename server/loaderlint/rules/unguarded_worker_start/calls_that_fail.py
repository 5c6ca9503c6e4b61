"""Calls before a start of workers that no run gets past: the project's function or class does not accept the
arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.values import ClassRef, DefKey, FunctionRef, def_key
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import Start
from loaderlint.syntax.notebook import SUFFIX

#: How many calls lie between the statement of a script and the call that fails.
_MAX_DEPTH = 8
_CALLED_AS_IT_IS = ("plain", "static", "class")


class FailingCall(NamedTuple):
    """A call that always raises TypeError, and the name of what it calls."""

    place: Place
    name: str


def failing_call_before(start: Start, model: Model) -> FailingCall | None:
    """A call that always raises TypeError before a script starts workers: in a statement that always runs before, or in
    a function or constructor that such a statement always runs."""
    path, piece = start.place.path, start.place.piece
    for before in model.failing.pieces_before(path, piece):
        found = _failing_in((path, before, 0), {0}, None, model)
        if found is not None:
            return found
    one = model.ev.body(path, piece).code.one
    if one is None or path.suffix == SUFFIX:
        return None
    around = {0, *one.enclosing(one.steps[start.step].context)}
    return _failing_in((path, piece, 0), around, start.step, model)


def _failing_in(key: DefKey, contexts: set[int], end: int | None, model: Model, depth: int = 0) -> FailingCall | None:
    """The first call that always fails among the steps of a def in some contexts, before step `end`."""
    for number in _certain_calls(key, contexts, end, model):
        callee = model.failing.only_callee(number, key)
        found = _failing_by(number, key, callee, model, depth) if callee is not None else None
        if found is not None:
            return found
    return None


def _certain_calls(key: DefKey, contexts: set[int], end: int | None, model: Model) -> Iterator[ir.ExprId]:
    """The calls that a def makes in some contexts, before step `end` and before it may return."""
    facts = model.ev.facts(key[0], key[1])
    for step in facts.ir.defs[key[2]].steps[:end] if facts is not None else ():
        if isinstance(step, ir.Return):
            return
        if isinstance(step, ir.Perform) and step.context in contexts:
            yield step.call


def _failing_by(
    number: ir.ExprId, key: DefKey, callee: FunctionRef | ClassRef, model: Model, depth: int
) -> FailingCall | None:
    """The call that fails when call `number` of a def runs a function or the constructor of a class."""
    facts = model.ev.facts(key[0], key[1])
    call = facts.ir.exprs[number] if facts is not None else None
    if facts is None or not isinstance(call, ir.Call):
        return None
    if model.ev.calls.refuses(callee, call):
        return FailingCall(Place(key[0], key[1], facts.anchors.exprs[number]), _name(callee, model))
    function = _run_by(callee, model) if depth < _MAX_DEPTH else None
    return _failing_in(def_key(function), {0}, None, model, depth + 1) if function is not None else None


def _run_by(callee: FunctionRef | ClassRef, model: Model) -> FunctionRef | None:
    """The function whose body a call runs at once, and first; None if that is not certain."""
    function: FunctionRef | None = callee if isinstance(callee, FunctionRef) else None
    if isinstance(callee, ClassRef):
        init = model.ev.classes.member(callee, "__init__")
        is_alone = init is not None and model.ev.classes.leaves_arguments_to_init(callee)
        function = init.function if init is not None and is_alone else None
    if function is None or model.ev.functions.decoration(function) not in _CALLED_AS_IT_IS:
        return None
    facts = model.ev.facts(function.path, function.piece)
    one = facts.ir.defs[function.def_] if facts is not None else None
    return function if one is not None and one.kind == "function" and not one.is_generator else None


def _name(callee: FunctionRef | ClassRef, model: Model) -> str:
    if isinstance(callee, ClassRef):
        return model.ev.classes.name(callee)
    facts = model.ev.facts(callee.path, callee.piece)
    return facts.ir.defs[callee.def_].name if facts is not None else ""
