"""Arrays that stay reversed only under some settings: one setting reverses the array, and another replaces it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_flow import ArrayFlow, Found
from loaderlint.rules.shared.array_sinks import Sink

_OF_SETTINGS = (ir.Attr, ir.Index, ir.Const, ir.Param, ir.Unary, ir.BoolOp, ir.Compare, ir.Seq)


def doubts_by_settings(one: Found, sink: Sink, flow: ArrayFlow, model: Model) -> int:
    """The number of settings that must hold for the array to stay reversed: the one that reverses it, and the one that
    would replace it afterwards."""
    reversing = _settings(one.number, one.frame, model)
    if not reversing:
        return 0
    ends = [sink.number] if sink.frame is one.frame else _returned(one.frame, model)
    choices = [found for end in ends if one.number in (found := _choices(end, one.frame, model))]
    for choice in (choice for found in choices for choice in found):
        if _is_after(choice, one) and _settings(choice, one.frame, model) - reversing:
            if not flow.found(choice, one.frame, ()):
                return 2
    return 0


def _returned(frame: Frame, model: Model) -> list[int]:
    """The values that a function returns, and the items of those that are tuples or lists."""
    values = [step.value for _, step in model.steps_of(frame, ir.Return) if step.value != ir.NONE]
    items = [model.ev.expr(frame, value) for value in values]
    return [*values, *(item for e in items if isinstance(e, ir.Seq) for item in e.items)]


def _choices(number: int, frame: Frame, model: Model) -> list[int]:
    """A value, and the assignments that reach it."""
    found = [number]
    for one in found:
        e = model.ev.expr(frame, one)
        if isinstance(e, ir.Phi):
            found += [choice for choice in e.choices if choice not in found]
    return found


def _is_after(number: int, one: Found) -> bool:
    first, then = one.frame.code.evaluated_by(one.number), one.frame.code.evaluated_by(number)
    return first is not None and then is not None and first < then


def _settings(number: int, frame: Frame, model: Model) -> set[int]:
    """The tests of settings around an expression."""
    around = model.def_of(frame).around(frame.code.context_of(number))
    return {one.expr for one in around if one.kind == "if" and _is_setting(one.expr, frame, model)}


def _is_setting(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test reads only attributes of the object, and its result is not known."""
    exprs = frame.code.exprs
    parts = [exprs[part] for part in ir.made_of(exprs, [test])]
    of_object = all(isinstance(e, _OF_SETTINGS) for e in parts) and any(isinstance(e, ir.Attr) for e in parts)
    only_self = all(ir.is_self(e) for e in parts if isinstance(e, ir.Param))
    return of_object and only_self and model.ev.liveness.truth(test, frame) is None
