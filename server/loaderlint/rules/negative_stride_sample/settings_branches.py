"""Arrays that are reversed only under a setting that nobody knows, or stay so only under some: one setting reverses the
array, and another replaces it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_flow import ArrayFlow, Found
from loaderlint.rules.shared.array_sinks import Sink
from loaderlint.rules.shared.unknown_settings import is_reached_in_doubt, is_setting, rests_on_unknown


def depends_on_settings(one: Found, sink: Sink, flow: ArrayFlow, model: Model) -> bool:
    """Whether the array is reversed, converted, or still reversed there only under settings that may never hold, or in
    a function that may be another one."""
    if any(is_reached_in_doubt(frame, sink.exposure.lead, model) for frame in {one.frame, sink.frame}):
        return True
    if rests_on_unknown(one.frame.code.context_of(one.number), one.frame, model):
        return True
    if rests_on_unknown(sink.frame.code.context_of(_converted(sink)), sink.frame, model):
        return True
    return _is_replaced(one, sink, flow, model)


def _converted(sink: Sink) -> int:
    return sink.number if sink.call == ir.NONE else sink.call


def _is_replaced(one: Found, sink: Sink, flow: ArrayFlow, model: Model) -> bool:
    """Whether one setting reverses the array, and another would replace it afterwards."""
    reversing = _settings(one.number, one.frame, model)
    if not reversing:
        return False
    ends = [sink.number] if sink.frame is one.frame else _returned(one.frame, model)
    choices = [found for end in ends if one.number in (found := _choices(end, one.frame, model))]
    for choice in (choice for found in choices for choice in found):
        if _is_after(choice, one) and _settings(choice, one.frame, model) - reversing:
            if not flow.found(choice, one.frame, ()):
                return True
    return False


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
    return {one.expr for one in around if one.kind == "if" and is_setting(one.expr, frame, model)}
