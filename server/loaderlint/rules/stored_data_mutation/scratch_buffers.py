"""Buffers that each sample overwrites as a whole: `self.buffer.zero_()`, then `self.buffer[:count].copy_(signal)`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import OVERWRITES
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.stored_data_mutation.constant_ways import way_of, way_to
from loaderlint.rules.stored_data_mutation.edited_roots import root_of

#: Why an edit changes nothing that is stored.
WIPED = "the function overwrites all of it each time: a buffer"


def is_wiped(target: int, frame: Frame, model: Model) -> bool:
    """Whether a def that edits what `target` reads of a stored array always gives every element of it a new value,
    before or afterwards."""
    way = way_to(root_of(target, frame, model), frame, model)
    edited = frame.code.evaluated_by(target)
    one = frame.code.one
    if not way or edited is None or one is None:
        return False
    around = {0, *one.enclosing(one.steps[edited].context)}
    for _, step in frame.code.steps_of(ir.Perform):
        call = frame.code.exprs[step.call]
        func = frame.code.exprs[call.func] if isinstance(call, ir.Call) else None
        if step.context in around and isinstance(func, ir.Attr) and func.name in OVERWRITES:
            if way_of(func.base, frame, model) == way:
                return True
    return False
