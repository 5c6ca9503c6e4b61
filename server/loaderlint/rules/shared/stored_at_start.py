"""What a worker_init_fn gives the dataset of its worker."""

from __future__ import annotations

from collections.abc import Set

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Loader, Model


def stored_at_start(names: Set[str], loader: Loader, model: Model) -> bool:
    """Whether the worker_init_fn sets an attribute of one of these names on the dataset that the loader holds."""
    for reached in model.reached_by(loader):
        if not reached.loaders.get("init", 0) >> loader.index & 1:
            continue
        for _, step in model.steps_of(reached.frame, ir.SetAttr):
            if step.name in names and (not loader.wrapped or _goes_deeper(step.base, reached.frame, model)):
                return True
    return False


def _goes_deeper(base: int, frame: Frame, model: Model) -> bool:
    """Whether a store goes to `info.dataset.dataset`, inside a wrapper."""
    e = model.ev.expr(frame, base)
    return isinstance(e, ir.Attr) and e.name == "dataset" and isinstance(model.ev.expr(frame, e.base), ir.Attr)
