"""How a sample comes to the main process: collated, or as it is."""

from __future__ import annotations

from typing import Literal

from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, LibObject, SeqOf, Val, of
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.unpicklable_sample.unpicklable_results import UnpicklableResult, atoms_in

Way = Literal["collated", "passed", "unknown"]
_TORCH_COLLATE = ("torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader")


def way_of(loader: Loader, one: UnpicklableResult, collate: Val, model: Model) -> Way:
    """What happens to a sample: `default_collate` takes it ('collated'), it is sent as it is ('passed')."""
    is_alone = loader.argument("batch_size").is_none
    if collate.is_none:
        if loader.kind.name not in _TORCH_COLLATE or not loader.argument("batch_sampler").is_none:
            return "unknown"
        return "passed" if is_alone else "collated"
    if loader.site is None or collate.unknown is not None or not one.atom:
        return "unknown"
    batched = of(one.atom) if is_alone else of(SeqOf("list", (of(one.atom),)))
    result, _ = model.ev.calls.call(collate, Arguments((batched,)), loader.site.frame, loader.site.expr, {})
    return "passed" if one.atom in atoms_in(result, 0) else "unknown"


def is_made_in(one: UnpicklableResult, frame: Frame) -> bool:
    """Whether a collate function makes it itself: what comes with the samples is theirs."""
    match one.atom:
        case LibObject(_, site):
            return site.frame is frame
        case SeqOf(_, _, site) if site is not None:
            return site.frame is frame
        case FunctionRef(_, _, _, scope):
            return scope is frame
        case Instance(_, site) if site is not None:
            return site.frame is frame
    return False
