"""Positions that sample code walks on its object: `self.records[self.position]`, then `self.position += 1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import INDICES, Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import Kept, kept_state, own_attribute


class Walk(NamedTuple):
    """Sample code reads the item at position `kept` of `items`: expression `number` of `frame`."""

    kept: Kept
    items: str
    frame: Frame
    number: int


def walks(frame: Frame, model: Model) -> Iterator[Walk]:
    """The positions that `frame` advances in a map-style dataset, whatever the sample's index is."""
    owner = frame.receiver
    if not isinstance(owner, Instance) or model.dataset_kind(owner.cls) != "map":
        return
    advanced = {name for _, step in model.steps(frame) for name in _moved_on(step, frame, model)}
    for kept in kept_state(frame, model) if advanced else ():
        if kept.name not in advanced or kept.name in model.remembered(_set_otherwise, owner):
            continue
        taken = model.remembered(_takes, owner).get(kept.name)
        if taken is not None and not model.remembered(_is_indexed, owner):
            yield Walk(kept, *taken)


def _moved_on(step: ir.Step, frame: Frame, model: Model) -> Iterator[str]:
    """The attribute in `self.position += 1`."""
    if isinstance(step, ir.Augment) and step.stored == "attr" and step.op == "+":
        by = model.ev.eval(step.value, frame).literal
        if by is not None and isinstance(by.value, int):
            yield own_attribute(step.target, frame, model)


def _sample_frames(owner: Instance, model: Model) -> Iterator[Frame]:
    return (frame for frame in model.reached_on(owner) if model.reached[frame].bits(("sample",)))


def _set_otherwise(owner: Instance, model: Model) -> frozenset[str]:
    """The attributes that sample code also sets in other ways than by advancing them or, under a condition, resetting
    them to a constant. An attribute that is set for each sample, for example from its index, is no position."""
    found: set[str] = set()
    for frame in _sample_frames(owner, model):
        for _, step in model.steps_of(frame, ir.SetAttr):
            value = model.ev.expr(frame, step.value)
            again = isinstance(value, ir.Const) and step.context != 0
            if not again and not isinstance(value, ir.Augmented):
                found.add(step.name)
    return frozenset(found)


def _is_indexed(owner: Instance, model: Model) -> bool:
    """Whether the sample's index picks an item as well."""
    for frame in _sample_frames(owner, model):
        for number in sorted(model.ev.evaluated(frame)):
            e = model.ev.expr(frame, number)
            if isinstance(e, ir.Index) and not model.ev.eval(e.index, frame).atoms.isdisjoint(INDICES):
                return True
    return False


def _takes(owner: Instance, model: Model) -> Mapping[str, tuple[str, Frame, int]]:
    """Where sample code takes an item at a position, by the name of the position: the first place of each."""
    found: dict[str, tuple[str, Frame, int]] = {}
    for frame in _sample_frames(owner, model):
        for number in sorted(model.ev.evaluated(frame)):
            e = model.ev.expr(frame, number)
            name = own_attribute(e.index, frame, model) if isinstance(e, ir.Index) else ""
            if isinstance(e, ir.Index) and name and name not in found:
                items = own_attribute(e.base, frame, model)
                if items:
                    found[name] = (items, frame, number)
    return found
