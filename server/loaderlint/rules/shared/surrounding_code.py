"""The code around a loader and its dataset: what creates the one or the other, and assigns attributes there."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation import type_tests
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Loader, Model


def main_frames(inst: Instance, loader: Loader) -> list[Frame]:
    """The code that creates the object and the code that creates the loader."""
    sites = [site for site in (inst.site, loader.site) if site is not None]
    return list(dict.fromkeys(site.frame for site in sites))


def assigned_in_main(inst: Instance, loader: Loader, model: Model) -> Iterator[tuple[Frame, int, ir.SetAttr]]:
    """The assignments to attributes of the object in the code that creates it, or the loader: `data.rows = rows`. Each
    with its frame and number."""
    for frame in main_frames(inst, loader):
        for number, step in model.steps_of(frame, ir.SetAttr):
            is_own = frame.receiver is not None and ir.is_self(model.ev.expr(frame, step.base))
            if step.value != ir.NONE and not is_own:
                if inst in type_tests.in_branch(model.ev, step.base, step.context, frame).atoms:
                    yield frame, number, step
