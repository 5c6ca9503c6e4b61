"""Loops that never begin: `for epoch in range(1, epochs + 1)`, where the caller passes `epochs=0`."""

from __future__ import annotations

from collections.abc import Callable

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, Val

_RANGE = frozenset({Lib("builtins.range")})


def is_empty_range(number: int, frame: Frame, value_of: Callable[[int], Val]) -> bool:
    """Whether an expression is a call of `range` between two numbers of which the last is too small. `value_of`: what
    an expression of the frame may be. Numbers that a user may change, and other sums than of parameters and constants,
    are not looked at."""
    call = frame.code.exprs[number]
    if not isinstance(call, ir.Call) or frame.code.exprs[call.func] != ir.Global("range"):
        return False
    if len(call.args) not in (1, 2) or any(arg.kind != "pos" for arg in call.args):
        return False
    bounds = [_bound(arg.value, frame, value_of) for arg in call.args]
    start, stop = bounds if len(bounds) == 2 else (0, bounds[0])
    return start is not None and stop is not None and stop <= start and value_of(call.func).atoms == _RANGE


def _bound(number: int, frame: Frame, value_of: Callable[[int], Val]) -> int | None:
    """A number that is a constant in this frame; None for any other."""
    match frame.code.exprs[number]:
        case ir.Const("int", int(value)):
            return value
        case ir.Param():
            literal = value_of(number).literal
            is_fixed = literal is not None and literal.kind == "int" and not literal.configured
            return literal.value if literal is not None and is_fixed and isinstance(literal.value, int) else None
        case ir.Bin("+" | "-" as op, left, right):
            first, second = _bound(left, frame, value_of), _bound(right, frame, value_of)
            if first is None or second is None:
                return None
            return first + second if op == "+" else first - second
    return None
