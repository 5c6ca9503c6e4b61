"""Writes docs/performance.md from the measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.goals import GOALS, Goal
from benchmarks.kept import Part
from benchmarks.measures import Measure

_HEAD = """\
<!-- Written by `python -m benchmarks` from docs/performance.json. -->
# Performance

This page shows what loaderlint costs with all its rules on, compared with other tools on the same files in the same \
run. Times are CPU seconds of a process and its children, because wall time varies on a busy machine; memory is the \
peak of all its processes together. Measurements are taken in turn, several times, and the numbers are medians. Tests \
limit what does not depend on the machine: pieces parsed, files linked, instructions (`tests/engine/test_counts.py`). \
No test asserts a time.

![CPU time of each linter on the same files, and growth with the size of a project](performance.svg)
"""

#: Hand-written text: where the time goes, and what was tried.
_REMAINS = Path(__file__).parent / "remains.md"

_REPEAT = """\
## How to repeat it

    make benchmarks                        # everything, an hour or two
    python -m benchmarks --quick           # a look, a few minutes
    python -m benchmarks loading growth    # some parts; the others keep their measures

The first run downloads the other linters, each into an environment of its own, and the packages that are checked, \
by name and version from PyPI, into `.benchmarks/`; they are read and never run. \
[benchmarks/README.md](../benchmarks/README.md) says what each part does. What was measured, round by round, is in \
[performance.json](performance.json).
"""

_TITLES = {
    "keystrokes": "A keystroke",
    "relinking": "A keystroke that changes findings in another file",
    "opening": "Opening a file",
    "starting": "Starting the server",
    "loading": "A cold check of code that loads data",
    "packages": "A cold check of many packages",
    "warm": "A check with a cache",
    "memory": "The server's memory",
    "growth": "Growth",
    "latency": "Typing in real time",
    "first": "The first minute of a new user, in wall time",
}


def render(parts: Mapping[str, Part]) -> str:
    """The page."""
    return "\n".join([_HEAD, *_goals(parts), *_remains(), _REPEAT, *_parts(parts)])


def _goals(parts: Mapping[str, Part]) -> Iterator[str]:
    measured = {name: part.measures for name, part in parts.items() if not part.quick}
    yield "## Goals\n"
    yield "| work | number | goal | measured | |"
    yield "|---|---|---|---|---|"
    before = ""
    for goal in GOALS:
        found = goal.value(measured)
        yield f"| {goal.work if goal.work != before else ''} | {goal.what} | {goal.limit()} | {_verdict(goal, found)} |"
        before = goal.work
    yield ""


def _verdict(goal: Goal, found: Measure | None) -> str:
    if found is None:
        return "not measured | "
    return f"{_number(found.median)} | {'met' if goal.met(found) else f'**not met**{_distance(goal, found)}'}"


def _distance(goal: Goal, found: Measure) -> str:
    """The factor between a number and its goal, as text; '' if there is none."""
    factor = goal.distance(found)
    return f", by a factor of {factor:.3g}" if factor else ""


def _remains() -> Iterator[str]:
    yield "## What remains\n"
    yield _REMAINS.read_text(encoding="utf-8")


def _parts(parts: Mapping[str, Part]) -> Iterator[str]:
    for name, part in parts.items():
        yield f"## {_TITLES.get(name, name)}\n"
        about = ", ".join(value for value in part.about.values() if value)
        yield f"`python -m benchmarks {name}{' --quick' if part.quick else ''}`. {about}.\n"
        yield "| | median | lowest | highest |"
        yield "|---|---|---|---|"
        for one in part.measures.values():
            numbers = " | ".join(_number(value) for value in (one.median, min(one.values), max(one.values)))
            yield f"| {one.name}{f', {one.unit}' if one.unit else ''} | {numbers} |"
        yield ""


def _number(value: float) -> str:
    """The number with three digits, or all digits of a large number."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
