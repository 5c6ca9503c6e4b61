"""Branches for arrays with fewer axes than the reversed one: `if array.ndim < 3: return torch.from_numpy(array)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_flow import Found
from loaderlint.rules.shared.array_sinks import Sink
from loaderlint.rules.shared.same_expressions import reads_same

#: Comparisons of a number of axes with a constant, each with what it asks of the lowest number that there may be for
#: the comparison to be false for all.
_NEVER: Mapping[str, Callable[[int, int], bool]] = {"==": operator.gt, "<": operator.ge, "<=": operator.gt}
_ALWAYS: Mapping[str, Callable[[int, int], bool]] = {"!=": operator.gt, ">=": operator.ge, ">": operator.gt}


def is_for_fewer_axes(one: Found, sink: Sink, model: Model) -> bool:
    """Whether the tensor is only made of arrays that have fewer axes than the reversed one."""
    least = _least_axes(one, model)
    if least == 0:
        return False
    converted = sink.number if sink.call == NONE else sink.call
    around = model.def_of(sink.frame).around(sink.frame.code.context_of(converted))
    exprs = sink.frame.code.exprs
    names = {n for n in ir.made_of(exprs, (sink.number,)) if isinstance(exprs[n], ir.Param | ir.Phi)}
    tests = [here for here in around if here.kind == "if" and here.expr != NONE]
    return any(_holds(here.expr, least, names, sink.frame, model) is here.negated for here in tests)


def _least_axes(one: Found, model: Model) -> int:
    """The axes that an index names: an array has as many at least. 0: not known."""
    written = model.ev.expr(one.frame, one.number)
    if not isinstance(written, ir.Index):
        return 0
    index = model.ev.expr(one.frame, written.index)
    parts = index.items if isinstance(index, ir.Seq) and index.kind == "tuple" else (written.index,)
    return sum(not isinstance(model.ev.expr(one.frame, part), ir.Const) for part in parts)


def _holds(test: int, least: int, names: set[int], frame: Frame, model: Model) -> bool | None:
    """Whether a test holds for all (True) or none (False) of the arrays with at least `least` axes."""
    match model.ev.expr(frame, test):
        case ir.Unary("not", operand):
            inner = _holds(operand, least, names, frame, model)
            return None if inner is None else not inner
        case ir.BoolOp(op, left, right):
            sides = [_holds(side, least, names, frame, model) for side in (left, right)]
            decisive = op == "or"
            return decisive if decisive in sides else None if None in sides else not decisive
        case ir.Compare(left, (op,), (right,)) if _counts_axes(left, names, frame, model):
            numbers = _numbers(right, frame, model)
            if op == "in" and numbers:
                return False if least > max(numbers) else None
            if len(numbers) == 1:
                if (never := _NEVER.get(op)) and never(least, numbers[0]):
                    return False
                if (always := _ALWAYS.get(op)) and always(least, numbers[0]):
                    return True
    return None


def _counts_axes(number: int, names: set[int], frame: Frame, model: Model) -> bool:
    """Whether an expression is the number of axes of one of these locals: `x.ndim`, `len(x.shape)`."""
    match model.ev.expr(frame, number):
        case ir.Attr(base, "ndim"):
            counted = base
        case ir.Call(func, (argument,)) if Lib("builtins.len") in model.ev.eval(func, frame).atoms:
            shape = model.ev.expr(frame, argument.value)
            counted = shape.base if isinstance(shape, ir.Attr) and shape.name == "shape" else NONE
        case _:
            return False
    return any(reads_same(counted, name, frame.code.exprs) for name in names)


def _numbers(number: int, frame: Frame, model: Model) -> list[int]:
    """The constants that an axis count is compared with; empty if one is not known."""
    written = model.ev.expr(frame, number)
    items = written.items if isinstance(written, ir.Seq) else (number,)
    literals = [model.ev.eval(item, frame).literal for item in items]
    found = [one.value for one in literals if one is not None and isinstance(one.value, int)]
    return found if len(found) == len(items) else []
