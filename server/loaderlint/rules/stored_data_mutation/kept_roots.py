"""Whether a def keeps an object that it has edited, and not only what it computes with it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.stored_data_mutation.edited_roots import root_of
from loaderlint.rules.stored_data_mutation.replaced_numbers import applied

#: Functions and methods that give numbers, and not the array or a view of it.
_COMPUTES = frozenset("abs mean min max median sum std var ptp norm argmax argmin exp log log10 sqrt".split())
#: What tells nothing of the numbers in an array.
_OF_SHAPE = frozenset("shape dtype ndim size device".split())


def is_kept(root: int, frame: Frame, model: Model) -> bool:
    """Whether a def returns or stores an object, or passes it on: what gets it sees each later edit."""
    exprs = frame.code.exprs

    def is_object(number: int) -> bool:
        return number != ir.NONE and root_of(number, frame, model) == root

    for number in model.ev.evaluated(frame):
        e = exprs[number]
        if any(map(is_object, ir.operands(e))) and not isinstance(e, ir.Augmented | ir.Bin | ir.Compare):
            is_number = isinstance(e, ir.Attr) and e.name in _COMPUTES | _OF_SHAPE
            if not is_number and applied(number, frame, model)[0] not in _COMPUTES:
                return True
    bound = [step for _, step in model.steps_of(frame, ir.Bind) if is_object(step.value)]
    captured = {e.name for e in exprs if isinstance(e, ir.Capture)}
    if any(step.scope != "local" or step.name in captured for step in bound):
        return True
    steps = (step for _, step in model.steps(frame) if not isinstance(step, ir.Bind | ir.Augment | ir.Perform))
    return any(is_object(number) for step in steps for number in ir.step_expressions(step))
