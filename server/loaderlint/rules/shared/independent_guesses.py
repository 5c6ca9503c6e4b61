"""Guesses that have nothing to do with each other: which class holds some data, and which class works on it."""

from __future__ import annotations

from collections.abc import Set
from itertools import pairwise

from loaderlint.project.evaluation.dynamic_dispatch import CHOSEN
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Origin, Unknown
from loaderlint.project.reach.model import Exposure, Loader, Model


def are_independent(origin: Origin, frame: Frame, exposure: Exposure, model: Model) -> bool:
    """Whether the object that holds some data is found by a computed name, and the code that works on it by another
    one, in each loader of an exposure: `getattr(readers, config.reader)` and `getattr(steps, config.step)`. That just
    these two meet is a guess that rests on two others. The object's own methods come from the same guess as the
    object."""
    found = _found_by_name(origin, model)
    return bool(found) and all(_is_found_otherwise(frame, loader, found, model) for loader in exposure.loaders)


def _found_by_name(origin: Origin, model: Model) -> frozenset[Atom]:
    """The objects found by a computed name that the data may come from, and those in which these were created; none if
    it may also come from others."""
    owner = origin.owner
    if not isinstance(owner, Instance):
        return frozenset()
    line = _line_to_found(owner, model)
    if line:
        return line
    held = model.ev.classes.field(owner, origin.path[0]).atoms
    objects = frozenset(one for one in held if isinstance(one, Instance) and model.ev.calls.is_chosen(one))
    rest = held - objects
    return objects if all(isinstance(one, Unknown) and one.reason in CHOSEN for one in rest) else frozenset()


def _line_to_found(owner: Instance, model: Model) -> frozenset[Atom]:
    """An object, and those in which it was created, up to the one that was found by a computed name; none if no such
    name leads to it."""
    line: dict[Atom, None] = {}
    here: Atom | None = owner
    while isinstance(here, Instance) and here not in line:
        line[here] = None
        if model.ev.calls.is_chosen(here):
            return frozenset(line)
        here = here.site.frame.receiver if here.site is not None else None
    return frozenset()


def _is_found_otherwise(frame: Frame, loader: Loader, found: Set[Atom], model: Model) -> bool:
    """Whether the way from a loader to a frame leads through another computed name than the one of these objects."""
    calls, chain = model.ev.calls, model.chain(frame, loader)
    if calls.is_guessed(chain[0]) and chain[0].receiver not in found:
        return True
    return any(calls.is_guess(before, after) and after.receiver not in found for before, after in pairwise(chain))
