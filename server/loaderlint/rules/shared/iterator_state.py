"""Whether an iterator keeps state between items: a worker that takes every n-th item then gets other results."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model

_MUTATORS = frozenset(
    """
    add append appendleft clear discard extend extendleft insert pop popitem popleft push put put_nowait remove rotate
    setdefault sort update write
    """.split()
)


def carries_state(entry: Frame, model: Model) -> bool:
    """Whether what `__iter__` yields for one item may depend on the items before it."""
    for _, step in model.steps(entry):
        if isinstance(step, ir.YieldStep) and _is_carried(step.value, entry, model, 0):
            return True
        if isinstance(step, ir.Test) and _is_carried(step.expr, entry, model, 0):
            return True
        if isinstance(step, ir.Augment | ir.Delete):
            return True
    return any(
        isinstance(step, ir.SetAttr) or _mutates(step, frame, frame is entry, model)
        for frame in model.run_by((entry,))
        for _, step in model.steps(frame)
    )


def _mutates(step: ir.Step, frame: Frame, locals_too: bool, model: Model) -> bool:
    """Whether a step changes an object that existed before: through an attribute or a name from outside, and, with
    `locals_too`, through any local."""
    if isinstance(step, ir.SetItem):
        base, changes = step.base, True
    else:
        call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
        if not isinstance(func, ir.Attr):
            return False
        base, changes = func.base, func.name in _MUTATORS
    outer = isinstance(model.ev.expr(frame, base), ir.Attr | ir.Global | ir.Capture | ir.Param)
    return changes and (locals_too or outer)


def _is_carried(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether a value is accumulated over several iterations of a loop."""
    if number == NONE:
        return False
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Phi | ir.Augmented) or depth > 6:
        return True
    parts: tuple[int, ...] = ()
    match e:
        case ir.Seq(kind, items):
            if kind == "list" and not items:
                return True
            parts = items
        case ir.Call(_, args):
            parts = tuple(arg.value for arg in args)
        case ir.Map(_, values):
            parts = values
        case ir.Bin(_, left, right) | ir.BoolOp(_, left, right):
            parts = (left, right)
        case ir.Compare(left, _, rights):
            parts = (left, *rights)
        case ir.Unary(_, operand):
            parts = (operand,)
    return any(_is_carried(part, frame, model, depth + 1) for part in parts)
