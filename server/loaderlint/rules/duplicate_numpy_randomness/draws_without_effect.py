"""Draws that have no effect: `np.random.rand() < self.chance`, where the chance is 0 or 1 in this dataset, or whose
number nothing reads, or that are made only for an index that no sampler gives. And draws that only choose a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.operators import EXCHANGED, compare
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall

NEVER = "it is only compared with a chance of 0 or 1 here"
UNREAD = "nothing reads the number"
OUT_OF_RANGE = "it is drawn only for an index that is out of range"
#: Comparisons of an index that are false for all indexes, each with what they compare it with.
_OUTSIDE = {"not in": "builtins.range", ">=": "builtins.len"}


def has_no_effect(call: WorkerCall, model: Model) -> bool:
    """Whether a drawn number is only compared with 0, which it is never below, or with 1, which it always is below, in
    the frame of the call."""
    users = model.remembered(_users, call.frame).get(call.number, ())
    return bool(users) and all(_is_decided(user, call.number, call.frame, model) for user in users)


def is_unread(call: WorkerCall, model: Model) -> bool:
    """Whether the drawn number is only bound to local names, and these are bound again before anything reads them."""
    frame = call.frame
    if model.remembered(_users, frame).get(call.number):
        return False
    bound = [step for _, step in model.steps_of(frame, ir.Bind) if step.value == call.number]
    captured = {e.name for e in frame.code.exprs if isinstance(e, ir.Capture)}
    return bool(bound) and all(step.scope == "local" and step.name not in captured for step in bound)


def branch_chosen(call: WorkerCall, model: Model) -> int | None:
    """The branch that a drawn number only serves to choose: the body of `if np.random.rand() < chance:`. None if it is
    used for anything else."""
    frame = call.frame
    users = model.remembered(_users, frame).get(call.number, ())
    if len(users) != 1 or not isinstance(users[0], ir.Compare):
        return None
    for number, here in enumerate(model.def_of(frame).contexts):
        is_body = here.kind == "if" and not here.negated and here.expr != ir.NONE
        if is_body and model.ev.expr(frame, here.expr) is users[0]:
            return number
    return None


def is_out_of_range(call: WorkerCall, model: Model) -> bool:
    """Whether the draw is made only if the index of a sample is no index: `if index not in range(0, len(self))`."""
    one = model.def_of(call.frame)
    if one.name != "__getitem__":
        return False
    tests = [here for here in one.around(call.context) if here.kind == "if" and not here.negated]
    return any(_asks_whether_out_of_range(here.expr, call.frame, model) for here in tests)


def _asks_whether_out_of_range(test: int, frame: Frame, model: Model) -> bool:
    match model.ev.expr(frame, test):
        case ir.Compare(left, (op,), (right,)) if op in _OUTSIDE:
            index, bound = model.ev.expr(frame, left), model.ev.expr(frame, right)
            if not isinstance(index, ir.Param) or index.index != 1 or not isinstance(bound, ir.Call):
                return False
            return Lib(_OUTSIDE[op]) in model.ev.eval(bound.func, frame).atoms
    return False


def _users(frame: Frame, model: Model) -> Mapping[int, Sequence[ir.Expr | ir.Step]]:
    """What each expression of the frame is a part of. A step that binds or calls shows in the expressions after it."""
    users: dict[int, list[ir.Expr | ir.Step]] = {}
    for e in frame.code.exprs:
        for number in ir.operands(e):
            users.setdefault(number, []).append(e)
    for _, step in model.steps(frame):
        if not isinstance(step, ir.Bind | ir.Perform):
            for number in ir.step_expressions(step):
                users.setdefault(number, []).append(step)
    return users


def _is_decided(user: ir.Expr | ir.Step, number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression compares a drawn number, and the answer is always the same."""
    match user:
        case ir.Compare(left, (op,), (right,)) if number in (left, right) and op in EXCHANGED:
            return compare(op, model.ev.eval(left, frame), model.ev.eval(right, frame)) is not None
    return False
