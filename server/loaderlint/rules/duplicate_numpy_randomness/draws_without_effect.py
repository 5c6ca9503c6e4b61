"""Draws that have no effect: `np.random.rand() < self.chance`, where the chance is 0 in this dataset."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame, step_expressions
from loaderlint.project.reach.model import Model, WorkerCall

NEVER = "it is compared with a chance of 0 here, and with nothing else"


def has_no_effect(call: WorkerCall, model: Model) -> bool:
    """Whether a drawn number is only compared with 0, which it is never below, in the frame of the call."""
    frame, number = call.frame, call.number
    users = [e for e in frame.code.exprs if number in ir.operands(e)]
    if not users or not all(_asks_below_zero(e, number, frame, model) for e in users):
        return False
    kept = (step for _, step in model.steps(frame) if not isinstance(step, ir.Bind | ir.Perform))
    return not any(number in step_expressions(step) for step in kept)


def _asks_below_zero(e: ir.Expr, number: int, frame: Frame, model: Model) -> bool:
    match e:
        case ir.Compare(left, ("<",), (right,)) if left == number:
            return _is_zero(right, frame, model)
        case ir.Compare(left, (">",), (right,)) if right == number:
            return _is_zero(left, frame, model)
    return False


def _is_zero(number: int, frame: Frame, model: Model) -> bool:
    literal = model.ev.eval(number, frame).literal
    if literal is None or literal.configured or isinstance(literal.value, bool):
        return False
    return isinstance(literal.value, int | float) and literal.value == 0
