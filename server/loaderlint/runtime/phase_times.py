"""Measures how long the phases of a command take, on request only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_spent: dict[str, float] | None = None
_inside: list[str] = []
_since = 0.0


def measure() -> None:
    """Start measuring, from zero."""
    global _spent
    _spent = {}
    _inside.clear()


def spent() -> dict[str, float]:
    """The seconds of each phase since `measure`, in the order in which they began. The time of a nested phase is not
    added to the outer one, so that all of them add up."""
    return dict(_spent or {})


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Count what runs in the `with` block as a phase. Only the thread that runs the command may call this."""
    if _spent is None:
        yield
        return
    _switch()
    _spent.setdefault(name, 0.0)
    _inside.append(name)
    try:
        yield
    finally:
        _switch()
        _inside.pop()


def _switch() -> None:
    """Add the time since the last switch to the phase that it belongs to."""
    global _since
    now = time.perf_counter()
    if _inside and _spent is not None:
        _spent[_inside[-1]] += now - _since
    _since = now
