"""Random numbers between limits that the code writes down, and how they compare with a constant: `random.random() <
self.chance`, `random.randint(0, 100) < 0`."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import INTEGER_DRAWS, UNIFORM_DRAWS, UNIT_DRAWS
from loaderlint.project.evaluation.values import LibObject, Val


class Limits(NamedTuple):
    """What numbers are drawn from: all integers from `low` to `high`, or (not `whole`) fractions between them."""

    low: float
    high: float
    whole: bool = False


def is_drawn(value: Val) -> bool:
    """Whether a value is such a number."""
    return bool(value.atoms) and all(type(one) is LibObject and limits_of(one) is not None for one in value.atoms)


def limits_of(drawn: LibObject) -> Limits | None:
    """The limits of a drawn number: `rand()`, `np.random.uniform()`, `random.uniform(0, 1)`, `random.randint(0, 9)`.
    None if it is not drawn, or if they are not written down."""
    if drawn.name in UNIT_DRAWS:
        return Limits(0, 1)
    if drawn.name not in UNIFORM_DRAWS and drawn.name not in INTEGER_DRAWS:
        return None
    given = _written_limits(drawn)
    if drawn.name in UNIFORM_DRAWS:
        low, high = given or (0, 1)
        return Limits(low, high) if given is not None and low < high else None
    if not given:
        return None
    (low, high), end = given, INTEGER_DRAWS[drawn.name]
    return Limits(low, high - end, whole=True) if low <= high - end else None


def _written_limits(drawn: LibObject) -> tuple[float, float] | tuple[()] | None:
    """The two limits that a call writes down, from 0 if it writes one; () if none, None if it passes anything else."""
    exprs = drawn.site.frame.code.exprs
    call = exprs[drawn.site.expr]
    args = call.args if isinstance(call, ir.Call) else ()
    given = [exprs[arg.value] for arg in args if arg.kind == "pos"]
    numbers = [one.value for one in given if isinstance(one, ir.Const) and isinstance(one.value, int | float)]
    if not isinstance(call, ir.Call) or len(numbers) != len(args) or len(numbers) > 2:
        return None
    return (numbers[-2] if len(numbers) == 2 else 0, numbers[-1]) if numbers else ()


def compared_with(op: str, drawn: Limits, constant: float) -> bool | None:
    """How such a number compares with a constant. That a fraction is a limit itself does not happen: of the numbers
    between 0 and 1, one of 2**24 of torch is 0, and of the others one of 2**53."""
    low, high, whole = drawn
    match op:
        case "<" | ">=":
            is_less = constant > high if whole else constant >= high
            is_more = constant <= low
        case "<=" | ">":
            is_less = constant >= high
            is_more = constant < low if whole else constant <= low
        case _:
            return None
    return (op in ("<", "<=")) is is_less if is_less or is_more else None
