"""Loops of the main process around a line, including those of its callers, and whether one iterates over a loader."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Site, def_key
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.reach.model import Model

_MAX_CALLERS = 3
_MAX_CALLED = 3
_MAX_SITES = 20


class Loop(NamedTuple):
    """A `for` or `while` loop: context `context` of the def that `frame` runs."""

    frame: Frame
    context: int

    @property
    def key(self) -> tuple[Path, int, int, int]:
        """A key that is the same for one loop in every frame."""
        return (self.frame.path, self.frame.piece, self.frame.def_, self.context)


def step_context(site: Site, model: Model) -> int:
    """The context of the call at `site`."""
    one = model.def_of(site.frame)
    return next((s.context for s in one.steps if isinstance(s, ir.Perform) and s.call == site.expr), 0)


def loops_around(frame: Frame, context: int, model: Model, depth: int = 0) -> Iterator[Loop]:
    """The loops around a context, innermost first, then those around the calls of its def."""
    one = model.def_of(frame)
    while context > 0:
        if one.contexts[context].kind in ("loop", "while"):
            yield Loop(frame, context)
        context = one.contexts[context].parent
    if depth >= _MAX_CALLERS or frame.def_ == 0 or not one.name:
        return
    for site in islice(model.callers.sites_running(one.name, def_key(frame)), _MAX_SITES):
        for caller in model.callers.frames(site.path, site.piece, site.def_):
            if not model.ev.liveness.is_dead(site.context, caller) and _leads_to(caller, site.expr, frame, model):
                yield from loops_around(caller, site.context, model, depth + 1)


def _leads_to(caller: Frame, number: int, frame: Frame, model: Model) -> bool:
    place = def_key(frame)
    return any(def_key(t) == place for t in model.ev.targets(number, caller))


def is_loader(number: int, frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether an expression may be the loader. If its frame differs, it is the only loader of that place."""
    for atom in model.ev.eval(number, frame).atoms:
        site = atom.site if isinstance(atom, LibObject | Instance) else None
        if site is None:
            continue
        if site == loader.site or list(model.made_at(site.frame.path, site.frame.piece, site.expr)) == [loader]:
            return True
    return False


def goes_through(loop: Loop, loader: Loader, model: Model) -> bool:
    """Whether the loop iterates over the loader, in its body or in a function that the body calls."""
    return _goes_through(loop.frame, loop.context, loader, model, 0)


def _goes_through(frame: Frame, context: int, loader: Loader, model: Model, depth: int) -> bool:
    one = model.def_of(frame)
    inside = (step for _, step in model.steps(frame) if one.is_within(step.context, context))
    return any(step_goes_through(step, frame, loader, model, depth) for step in inside)


def step_goes_through(step: ir.Step, frame: Frame, loader: Loader, model: Model, depth: int = 0) -> bool:
    """Whether a step of the def that `frame` runs iterates over the loader, itself or in a function that it calls.
    `depth`: how many calls led to the frame."""
    if isinstance(step, ir.Iterate):
        return is_loader(step.iterable, frame, loader, model)
    call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    if not isinstance(step, ir.Perform) or not isinstance(call, ir.Call):
        return False
    if Lib("builtins.len") in model.ev.eval(call.func, frame).atoms:
        return False
    if any(is_loader(arg.value, frame, loader, model) for arg in call.args):
        return True
    called = model.ev.targets(step.call, frame) if depth < _MAX_CALLED else ()
    return any(_goes_through(target, 0, loader, model, depth + 1) for target in called)
