"""Calls before a start of workers that no run gets past: the project's function or class does not accept the
arguments, or the script unpacks what it returns, which is None."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.values import ClassRef, DefKey, FunctionRef, Method, def_key
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import Start
from loaderlint.syntax.notebook import SUFFIX

#: How many calls lie between the statement of a script and the call that fails.
_MAX_DEPTH = 8
_CALLED_AS_IT_IS = ("plain", "static", "class")


class FailingCall(NamedTuple):
    """A call after which a script always ends with a TypeError, the name of what it calls, and why."""

    place: Place
    name: str
    why: Literal["refused", "unpacked"] = "refused"

    @property
    def reason(self) -> str:
        """Why the script ends there."""
        does = "does not accept these arguments" if self.why == "refused" else "returns None, which is unpacked"
        return f"`{self.name}` {does}: the script ends here with a TypeError"


def failing_call_before(start: Start, model: Model) -> FailingCall | None:
    """A call that always raises TypeError before a script starts workers: in a statement that always runs before, or in
    a function or constructor that such a statement always runs."""
    path, piece = start.place.path, start.place.piece
    for before in model.failing.pieces_before(path, piece):
        found = _failing_in((path, before, 0), {0}, None, model) or _unpacked_none(path, before, {0}, None, model)
        if found is not None:
            return found
    one = model.ev.body(path, piece).code.one
    if one is None or path.suffix == SUFFIX:
        return None
    around = {0, *one.enclosing(one.steps[start.step].context)}
    found = _failing_in((path, piece, 0), around, start.step, model)
    return found or _unpacked_none(path, piece, around, start.step, model)


def _unpacked_none(path: Path, piece: int, contexts: set[int], end: int | None, model: Model) -> FailingCall | None:
    """The first call of which a script always unpacks the result, although it is None: `_, _, test = data.setup()`."""
    body = model.ev.body(path, piece)
    for step in body.code.one.steps[:end] if body.code.one is not None else ():
        e = body.code.exprs[step.value] if isinstance(step, ir.Bind) and step.value != NONE else None
        call = body.code.exprs[e.value] if isinstance(e, ir.Unpack) and step.context in contexts else None
        if isinstance(e, ir.Unpack) and isinstance(call, ir.Call):
            called = model.ev.eval(call.func, body).ordered()
            functions = [one.function if isinstance(one, Method) else one for one in called]
            useless = [one for one in functions if isinstance(one, FunctionRef) and _returns_nothing(one, model)]
            if useless and len(useless) == len(functions):
                return FailingCall(model.place(body, e.value), _name(useless[0], model), "unpacked")
    return None


def _returns_nothing(function: FunctionRef, model: Model) -> bool:
    """Whether a function of the project returns None in any case."""
    if model.ev.installed.holds(function.path):
        return False
    facts = model.ev.facts(function.path, function.piece)
    one = facts.ir.defs[function.def_] if facts is not None else None
    if facts is None or one is None or one.kind != "function" or one.is_generator:
        return False
    if model.ev.functions.decoration(function) not in _CALLED_AS_IT_IS:
        return False
    if model.files.containing(f".{one.name} ="):
        return False  # some code may set another function
    returned = (facts.ir.exprs[step.value] for step in one.steps if isinstance(step, ir.Return) and step.value != NONE)
    return all(isinstance(e, ir.Const) and e.kind == "NoneType" for e in returned)


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
