"""Loaders whose workers are forked after the main process has used OpenCV."""

from __future__ import annotations

from loaderlint.facts.ir import DefIR
from loaderlint.project.evaluation.values import Instance, Site
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.held_handles import items_taken


def is_forked_after_use(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether the main process makes a call of cv2 before it forks the workers of a loader: before it creates the
    loader, it takes a sample of each dataset in any case, and the call is under no condition. Measured with OpenCV 5.0
    from PyPI: such workers start no threads."""
    site, function = loader.site, call.frame.code.one
    if function is None or _outside_loops(call.context, function) != 0:
        return False
    if site is None or not loader.datasets or model.start_methods.of(loader) != {"fork"}:
        return False
    return all(isinstance(one, Instance) and _is_sampled_before(one, site, model) for one in loader.datasets)


def _is_sampled_before(dataset: Instance, loader: Site, model: Model) -> bool:
    frame = loader.frame
    one = frame.code.one
    if one is None or dataset.site is None or dataset.site.frame is not frame:
        return False
    started = frame.code.evaluated_by(loader.expr)
    ways = {0, *one.enclosing(frame.code.context_of(loader.expr))}
    for number in items_taken(dataset, model):
        taken = frame.code.evaluated_by(number)
        if taken is not None and started is not None and taken < started:
            return _outside_loops(frame.code.context_of(number), one) in ways
    return False


def _outside_loops(context: int, one: DefIR) -> int:
    """The context around a loop over samples, which is not empty, or around a `with`."""
    while one.contexts[context].kind in ("loop", "with"):
        context = one.contexts[context].parent
    return context
