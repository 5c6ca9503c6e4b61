"""Start methods that the constructor of a dataset sets, itself or in the constructor of an object that it makes: in the
main process, before a loader of the dataset is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance

if TYPE_CHECKING:
    from loaderlint.project.loaders.loaders import Loader
    from loaderlint.project.reach.model import Model

#: How many calls lead from the constructor of a dataset to one that sets the method.
_MAX_CALLS = 2


def is_made_by_datasets(site: CallSite, loader: Loader, model: Model) -> bool:
    """Whether the constructors of all datasets that a loader may hold make a call, with the arguments that these very
    datasets get. A `try` around it does not count as a doubt."""
    made = [dataset for dataset in loader.datasets if isinstance(dataset, Instance)]
    if not made or len(made) < len(loader.datasets):
        return False
    constructors = [model.ev.classes.init_frame(dataset) for dataset in made]
    return all(one is not None and _makes(site, one, model) for one in constructors)


def _makes(site: CallSite, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether a frame makes a call in any case, itself or in what it calls."""
    is_here = (site.path, site.piece, site.def_) == (frame.path, frame.piece, frame.def_)
    for _, step in model.steps_of(frame, ir.Perform):
        if not _is_sure(step.context, frame, model):
            continue
        if is_here and step.call == site.expr:
            return True
        targets = model.ev.targets(step.call, frame) if depth < _MAX_CALLS else ()
        if len(targets) == 1 and _makes(site, targets[0], model, depth + 1):
            return True
    return False


def _is_sure(context: int, frame: Frame, model: Model) -> bool:
    """Whether a branch of a frame is entered in any case, but for a `try` that something before may leave."""
    one = frame.code.one
    while one is not None and one.contexts[context].kind in ("try", "with"):
        context = one.contexts[context].parent
    return context == 0 or model.ev.liveness.always_runs(context, 0, frame)
