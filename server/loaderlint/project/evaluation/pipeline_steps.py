"""The steps that code adds to a library's pipeline after it is made: `transform.transforms.append(Cutout(16))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.higher_order import STEPS
from loaderlint.project.evaluation.containers import added_items
from loaderlint.project.evaluation.later_attributes import reads_on, set_on
from loaderlint.project.evaluation.values import LibObject, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


class Added(NamedTuple):
    """What code adds to a list of steps: `before` the others, and `after` them."""

    before: tuple[Val, ...]
    after: tuple[Val, ...]


def added_steps(ev: Evaluator, pipeline: LibObject) -> Added:
    """The steps that code adds to a pipeline later, and those of lists that replace its own."""
    before: list[Val] = []
    after = list(set_on(ev, pipeline, STEPS))
    for frame, steps, _ in reads_on(ev, pipeline, STEPS):
        for _, step, call, name in frame.code.method_calls(steps):
            if not ev.liveness.is_dead(step.context, frame):
                (before if name == "insert" else after).extend(added_items(ev, name, call, frame))
        for _, stored in frame.code.steps_of(ir.SetItem):
            if frame.code.may_be(stored.base, steps) and not ev.liveness.is_dead(stored.context, frame):
                after.append(ev.eval(stored.value, frame))
    return Added(tuple(before), tuple(after))
