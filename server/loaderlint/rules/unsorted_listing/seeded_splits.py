"""Datasets that the project splits by positions that a seed or their place decides about, which are the same files only
where the listing has the same order: `random_split(dataset, sizes, generator=...)`, `Subset(dataset, positions)`, or a
sampler of positions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import CallSite, called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.chosen_positions import Choice, chosen_positions
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.seeded_draws import follows_seed, is_generator
from loaderlint.rules.unsorted_listing.counted_positions import is_part_by_count

#: At most this many callers of a function are looked at.
_MAX_FRAMES = 8
_SPLIT = Lib("torch.utils.data.random_split")
_SUBSET = Lib("torch.utils.data.Subset")
_SAMPLER = "torch.utils.data.SubsetRandomSampler"
_LIBRARIES = frozenset({"torch", "all"})
_PERMUTING = frozenset({"permutation", "randperm"})
_SAME_POSITIONS = frozenset({"tolist", "numpy"})


def split_of(dataset: Instance, model: Model) -> Choice:
    """How the project splits a dataset by positions: those that a generator with a seed draws, or folds of it; '' if
    neither is known."""
    return model.once(_split_datasets).get(dataset, "")


def _split_datasets(model: Model) -> dict[Instance, Choice]:
    found: dict[Instance, Choice] = {}
    for frame, call in _calls("random_split", _SPLIT, model):
        generator = model.ev.calls.arguments(call, frame).get("generator", 2)
        if is_generator(generator) if generator is not None else follows_seed(call, frame, "torch", model):
            found |= dict.fromkeys(_held(call, frame, model), "seed")
    counted: dict[Instance, set[tuple[Path, int, ir.Call]]] = {}
    for frame, call in _calls("Subset", _SUBSET, model):
        positions = ir.written_argument(call, "indices", 1)
        if _is_whole(positions, ir.written_argument(call, "dataset", 0), frame):
            continue
        if choice := chosen_positions(positions, frame, model):
            found |= dict.fromkeys(_held(call, frame, model), choice)
        elif positions != ir.NONE and is_part_by_count(positions, frame, model):
            for dataset in _held(call, frame, model):
                counted.setdefault(dataset, set()).add((frame.path, frame.piece, call))
    parts = {dataset for dataset, calls in counted.items() if len(calls) > 1}  # one alone may be for a short run
    found |= dict.fromkeys(parts - found.keys(), "place")
    for loader in model.loaders:
        if choice := _sampled_by(loader, model):
            found |= dict.fromkeys(loader.argument("dataset").only(Instance), choice)
    return found


def _is_whole(positions: int, dataset: int, frame: Frame) -> bool:
    """Whether positions are all those of a dataset in another order, which is no split: `permutation(len(dataset))`."""
    exprs = frame.code.exprs
    call = exprs[positions] if positions != ir.NONE else None
    if isinstance(call, ir.Call) and not call.args:
        func = exprs[call.func]  # `randperm(len(dataset)).tolist()`
        call = exprs[func.base] if isinstance(func, ir.Attr) and func.name in _SAME_POSITIONS else None
    if not isinstance(call, ir.Call) or called_name(exprs, call.func) not in _PERMUTING or not call.args:
        return False
    length = exprs[call.args[0].value]
    counted = length.args if isinstance(length, ir.Call) and exprs[length.func] == ir.Global("len") else ()
    return len(counted) == 1 and dataset != ir.NONE and reads_same(counted[0].value, dataset, exprs)


def _sampled_by(loader: Loader, model: Model) -> Choice:
    """How the positions are chosen that a sampler gives a loader: `SubsetRandomSampler(positions)`."""
    for sampler in loader.argument("sampler").only(LibObject):
        call = model.ev.expr(sampler.site.frame, sampler.site.expr)
        if sampler.name == _SAMPLER and isinstance(call, ir.Call):
            return chosen_positions(ir.written_argument(call, "indices", 0), sampler.site.frame, model)
    return ""


def _calls(name: str, callee: Lib, model: Model) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of a function of torch in the project, in each of their frames."""
    for site in model.callers.sites(name):
        for frame in _frames(site, model):
            call = model.ev.expr(frame, site.expr)
            if isinstance(call, ir.Call) and callee in model.ev.eval(call.func, frame).atoms:
                yield frame, call


def _frames(site: CallSite, model: Model) -> tuple[Frame, ...]:
    return model.callers.frames(site.path, site.piece, site.def_)[:_MAX_FRAMES]


def _held(call: ir.Call, frame: Frame, model: Model) -> set[Instance]:
    dataset = model.ev.calls.arguments(call, frame).get("dataset", 0)
    return set(dataset.only(Instance)) if dataset is not None else set()
