"""Functions inside of a def that change what the def holds in a local: `def collect(folder): files.append(...)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model


class Nested(NamedTuple):
    """A function that a def calls by the expressions `calls`, or that such a function calls, and the `names` by which
    it reads a value of the def."""

    frame: Frame
    names: frozenset[str]
    calls: tuple[int, ...]


def nested_readers(is_value: Callable[[int], bool], frame: Frame, model: Model) -> Iterator[Nested]:
    """The functions inside of a def that the def runs, and that may read a local of it. `is_value` tells which
    expressions of the def stand for the value."""
    captured = model.remembered(_captured, frame.path, frame.piece)
    if not captured:
        return
    bound = {step.name for _, step in frame.code.steps_of(ir.Bind) if step.scope == "local" and is_value(step.value)}
    names = frozenset(bound & captured)
    if not names:
        return
    calls: dict[Frame, list[int]] = {}
    for number, targets in model.ev.leads(frame).items():
        for target in targets:
            for one in model.run_by([target]) if target.scope is frame else ():
                if one.scope is frame:
                    calls.setdefault(one, []).append(number)
    yield from (Nested(one, names, tuple(numbers)) for one, numbers in calls.items())


def _captured(path: Path, piece: int, model: Model) -> frozenset[str]:
    """The names that functions of a piece read from the def directly around them."""
    facts = model.ev.facts(path, piece)
    return frozenset(e.name for e in (facts.ir.exprs if facts else ()) if isinstance(e, ir.Capture) and e.up == 1)
