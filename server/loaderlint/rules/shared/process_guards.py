"""Code that first checks whether it may start a process."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model, WorkerCall

_WORDS = frozenset({"daemon", "_config", "current_process", "parent_process", "get_worker_info"})
_CATCHING = frozenset({"AssertionError", "Exception", "BaseException"})


def tests_around(frame: Frame, context: int, model: Model) -> Iterator[ir.Context]:
    """The branches around a context, innermost first."""
    return (one for one in model.def_of(frame).around(context) if one.kind == "if")


def is_guarded(frame: Frame, context: int, model: Model) -> bool:
    """Whether a context is entered only after a check of the process, or inside a `try` that catches the error."""
    if any(asks(test.expr, frame, model, _WORDS) for test in tests_around(frame, context, model)):
        return True
    around = {one.parent for one in model.def_of(frame).around(context) if one.kind == "try"}
    return any(one.parent in around and _catches(one, frame, model) for one in model.def_of(frame).contexts)


def is_once(frame: Frame, context: int, model: Model) -> bool:
    """Whether a context depends on the object's state, `if self.index is None`: the main process may have run it
    before."""
    tests = (test.expr for test in tests_around(frame, context, model))
    return any(_is_own(number, frame, model) for test in tests for number in _parts(test, frame, model))


def allows_children(model: Model) -> bool:
    """Whether worker code clears the daemon flag: `current_process()._config["daemon"] = False`."""
    return any(
        isinstance(step, ir.SetItem) and model.ev.expr(frame, step.index) == ir.Const("str", "daemon")
        for frame in model.reached
        for _, step in model.steps(frame)
    )


def asks(test: int, frame: Frame, model: Model, words: frozenset[str]) -> bool:
    """Whether an expression reads one of these names or attributes."""
    for number in _parts(test, frame, model):
        e = model.ev.expr(frame, number)
        if isinstance(e, ir.Attr | ir.Global) and e.name in words:
            return True
    return False


def callers_of(call: WorkerCall, model: Model) -> Iterator[tuple[Frame, int]]:
    """The frame of a call and the frames that lead to it in workers, each with the context of the next call."""
    yield call.frame, call.context
    reached = model.reached.get(call.frame)
    for parent in dict.fromkeys(reached.parents.values() if reached else ()):
        for _, step in model.steps(parent) if parent is not None else ():
            if parent and isinstance(step, ir.Perform) and call.frame in model.ev.targets(step.call, parent):
                yield parent, step.context


def _is_own(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is an attribute of self, or checks whether it exists."""
    match model.ev.expr(frame, number):
        case ir.Attr(base, _):
            return ir.is_self(model.ev.expr(frame, base)) and frame.owner is not None
        case ir.Global("hasattr"):
            return True
    return False


def _catches(context: ir.Context, frame: Frame, model: Model) -> bool:
    if context.kind != "except":
        return False
    return context.expr == NONE or asks(context.expr, frame, model, _CATCHING)


def _parts(number: int, frame: Frame, model: Model) -> Iterator[int]:
    """An expression and its parts, as far as tests need them."""
    if number == NONE:
        return
    yield number
    match model.ev.expr(frame, number):
        case ir.Attr(base, _):
            inner: tuple[int, ...] = (base,)
        case ir.Unary(_, operand):
            inner = (operand,)
        case ir.BoolOp(_, left, right) | ir.Bin(_, left, right):
            inner = (left, right)
        case ir.Compare(left, _, rights):
            inner = (left, *rights)
        case ir.Call(func, args):
            inner = (func, *(arg.value for arg in args))
        case ir.Index(base, _):
            inner = (base,)
        case ir.Seq(_, items):
            inner = items
        case _:
            inner = ()
    for part in inner:
        yield from _parts(part, frame, model)
