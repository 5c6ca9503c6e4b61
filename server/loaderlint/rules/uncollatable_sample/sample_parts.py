"""The parts of a sample that cannot be batched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.uncollatable_sample.uncollatable_values import Kind, Uncollatable


class Part(NamedTuple):
    """Something in what step `step` of `frame` gives cannot be batched: expression `number`."""

    frame: Frame
    step: int
    number: int
    kind: Kind


def uncollatable_parts(frame: Frame, model: Model) -> Iterator[Part]:
    """What cannot be batched in what a def returns or yields. What `__iter__` returns is no sample."""
    one = model.def_of(frame)
    if one.is_generator:
        given = [(number, step.value) for number, step in model.steps_of(frame, ir.YieldStep) if not step.is_from]
    elif one.name == "__iter__":
        return
    else:
        given = [(number, step.value) for number, step in model.steps_of(frame, ir.Return)]
    for number, value in given:
        if not model.ev.liveness.is_dead(one.steps[number].context, frame):
            yield from _inside(value, number, frame, model)


def _inside(number: int, step: int, frame: Frame, model: Model) -> Iterator[Part]:
    if number == NONE:
        return
    match model.ev.expr(frame, number):
        case ir.Seq(kind, items) if kind != "set":
            for item in items:
                yield from _inside(item, step, frame, model)
        case ir.Map(_, values):
            for value in values:
                yield from _inside(value, step, frame, model)
        case _:
            found = model.once(Uncollatable).of(number, frame)
            if found is not None:
                yield Part(frame, step, number, found)
