"""The order of ancestors is Python's own, at a cost that grows with what is written."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from loaderlint.project.evaluation.classes import _merge
from loaderlint.project.evaluation.values import Unknown

_Bases = list[list[int]]


@st.composite
def _hierarchies(draw: st.DrawFn) -> _Bases:
    """The bases of some classes: numbers of classes before it."""
    numbers = range(draw(st.integers(1, 12)))
    return [draw(st.lists(st.integers(0, n - 1), unique=True, max_size=5)) if n else [] for n in numbers]


@given(_hierarchies())
def test_order_is_that_of_python(hierarchy: _Bases) -> None:
    made: list[type] = []
    with suppress(TypeError):  # no order
        for number, bases in enumerate(hierarchy):
            made.append(type(str(number), tuple(made[base] for base in bases), {}))
    orders: list[list[Unknown]] = []
    for number, bases in enumerate(hierarchy[: len(made)]):
        direct = [Unknown(str(base)) for base in bases]
        orders.append([Unknown(str(number)), *_merge([*(list(orders[base]) for base in bases), direct])])
        assert [one.reason for one in orders[-1]] == [cls.__name__ for cls in made[number].__mro__[:-1]]


def test_many_bases_are_compared_a_few_times_each() -> None:
    compared = 0

    class Counted(Unknown):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return isinstance(other, Unknown) and self.reason == other.reason

        def __hash__(self) -> int:
            return hash(self.reason)

    lines = [[Counted(str(number)) for number in range(first, 31)] for first in range(30)]
    order = _merge(lines)
    assert [one.reason for one in order if isinstance(one, Unknown)] == [str(number) for number in range(31)]
    assert compared <= 2 * sum(map(len, lines))
