"""Items that the same code creates before it edits them: `stacked[key] = {}`, then `stacked[key][name] = value`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.stored_objects import is_stored

#: Why an edit changes nothing that is stored.
CREATED = "the same code creates the item before it changes it"


def is_created_before(target: int, frame: Frame, model: Model) -> bool:
    """Whether `target` is an item that was stored just before, in the same turn of each loop, and was created there."""
    item, at = model.ev.expr(frame, target), frame.code.evaluated_by(target)
    if not isinstance(item, ir.Index) or at is None:
        return False
    one, exprs = model.def_of(frame), frame.code.exprs
    around = {0, *one.enclosing(one.steps[at].context)}
    stores = [(number, step) for number, step in model.steps_of(frame, ir.SetItem) if number < at]
    for _, step in reversed(stores):
        if not reads_same(step.base, item.base, exprs):
            continue
        if _keeps_stored(step.value, frame, model):
            return False
        if step.context in around and reads_same(step.index, item.index, exprs):
            return True
    return False


def _keeps_stored(number: int, frame: Frame, model: Model) -> bool:
    value = model.ev.eval(number, frame)
    return any(is_stored(origin, value, model) for origin in value.origins)
