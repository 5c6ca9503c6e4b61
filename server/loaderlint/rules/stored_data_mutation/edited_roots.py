"""What the edits of a def change, under whatever name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model


class RootEdits(NamedTuple):
    """The steps that edit one object: `x op= value`, and assignments to items, with their numbers."""

    augments: list[tuple[int, ir.Augment]]
    items: list[tuple[int, ir.SetItem]]


def edits_of_root(root: int, frame: Frame, model: Model) -> RootEdits:
    """The steps of a frame that edit the object whose root is given."""
    return model.remembered(_by_root, frame).get(root, RootEdits([], []))


def _by_root(frame: Frame, model: Model) -> Mapping[int, RootEdits]:
    found: dict[int, RootEdits] = {}
    for number, step in model.steps_of(frame, ir.Augment):
        if step.stored == "name":
            found.setdefault(root_of(step.target, frame, model), RootEdits([], [])).augments.append((number, step))
    for number, item in model.steps_of(frame, ir.SetItem):
        found.setdefault(root_of(item.base, frame, model), RootEdits([], [])).items.append((number, item))
    return found


def root_of(target: int, frame: Frame, model: Model) -> int:
    """What a name was bound to before it was edited with `+=` and its like."""
    return model.once(_Roots).of(target, frame)


class _Roots:
    """The roots of the expressions of each piece: a name may be edited thousands of times."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[tuple[Path, int], dict[int, int]] = {}

    def of(self, target: int, frame: Frame) -> int:
        """The root of an expression."""
        known = self._known.setdefault((frame.path, frame.piece), {})
        line: dict[int, None] = {}
        while target not in known:
            e = self._model.ev.expr(frame, target)
            if target in line:
                # In a loop a name that nothing bound before is its own old value: `for x in xs: total += x`.
                passed = list(line)
                known.update((one, one) for one in passed[passed.index(target) :])
            elif isinstance(e, ir.Augmented):
                line[target] = None
                target = e.target
            else:
                known[target] = target
        root = known[target]
        for one in line:
            known.setdefault(one, root)
        return next((known[one] for one in line), root)
