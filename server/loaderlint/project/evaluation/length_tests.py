"""Tests of whether a container holds anything: `len(x) != 0` says what `x` itself does as a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.operators import EXCHANGED
from loaderlint.project.evaluation.values import Lib

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_LEN = frozenset({Lib("builtins.len")})
#: Comparisons of a length with a number, each with whether it holds for all containers but empty ones, or for these
#: alone.
_COMPARISONS: dict[tuple[str, object], bool] = {
    ("!=", 0): True,
    (">", 0): True,
    (">=", 1): True,
    ("==", 0): False,
    ("<=", 0): False,
    ("<", 1): False,
}


class LengthTest(NamedTuple):
    """A test of the length of expression `container`. `is_filled`: whether it holds where the container holds anything,
    and not where it is empty; False for the reverse."""

    container: int
    is_filled: bool


def length_test(ev: Evaluator, test: int, frame: Frame) -> LengthTest | None:
    """How a test asks whether a container is empty: `len(x)`, `len(x) > 0`, `0 == len(x)`; None for other tests."""
    match ev.expr(frame, test):
        case ir.Call():
            return _of_length(ev, test, frame, True)
        case ir.Compare(left, (op,), (right,)) if op in EXCHANGED:
            by, number = (right, left) if isinstance(ev.expr(frame, right), ir.Const) else (left, right)
            constant = ev.expr(frame, by)
            if not isinstance(constant, ir.Const) or constant.kind != "int":
                return None
            is_filled = _COMPARISONS.get((op if by == right else EXCHANGED[op], constant.value))
            return None if is_filled is None else _of_length(ev, number, frame, is_filled)
    return None


def _of_length(ev: Evaluator, number: int, frame: Frame, is_filled: bool) -> LengthTest | None:
    """The test that the length `number` is not zero, or that it is; None if the expression is no length."""
    e = ev.expr(frame, number)
    if not isinstance(e, ir.Call) or ev.expr(frame, e.func) != ir.Global("len"):
        return None
    if len(e.args) != 1 or e.args[0].kind != "pos" or ev.eval(e.func, frame).atoms != _LEN:
        return None
    return LengthTest(e.args[0].value, is_filled)
