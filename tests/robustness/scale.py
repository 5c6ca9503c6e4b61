"""How long the campaigns of this folder run: `LOADERLINT_FUZZ=20` makes twenty times as many random cases."""

from __future__ import annotations

import os

import pytest

VARIABLE = "LOADERLINT_FUZZ"


def factor() -> int:
    """The multiplier of the environment, 1 if it is not set. Raises ValueError if it is no whole number from 1."""
    text = os.environ.get(VARIABLE, "1")
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{VARIABLE} is '{text}'; expected a whole number from 1")
    return int(text)


def scaled(n: int) -> int:
    """`n` cases of the default run as the number of cases to run now."""
    return n * factor()


def cases(n: int, *, quick: int) -> list[object]:
    """The numbers of `scaled(n)` cases, of which all but the first `quick` are marked as slow."""
    return [pytest.param(one, marks=pytest.mark.slow if one >= quick else ()) for one in range(scaled(n))]


def is_long() -> bool:
    """Whether this is the long form, which leaves nothing out."""
    return factor() > 1
