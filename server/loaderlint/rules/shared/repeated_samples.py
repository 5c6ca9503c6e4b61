"""Samplers that may take a sample several times in an epoch."""

from __future__ import annotations

from loaderlint.knowledge.library_datasets import BATCH_SAMPLER, INDEX_SAMPLERS
from loaderlint.project.evaluation.values import NONE_VALUE, LibObject, Unknown, Val
from loaderlint.project.reach.model import Loader, Model

#: Samplers of torch that take each sample once in an epoch, if they are not told otherwise.
_ONCE = INDEX_SAMPLERS - {"torch.utils.data.WeightedRandomSampler"}


def may_repeat_samples(loader: Loader, model: Model) -> bool:
    """Whether the samplers of a loader may take a sample twice in an epoch. Of an argument that is not known nothing is
    said."""
    return any(_may_repeat(loader.argument(name), model) for name in ("sampler", "batch_sampler"))


def _may_repeat(sampler: Val, model: Model) -> bool:
    """Whether a sampler may take a sample twice in an epoch. Of an argument that is not known nothing is said."""
    known = (one for one in sampler.atoms if not isinstance(one, Unknown) and one not in NONE_VALUE.atoms)
    return any(not (isinstance(one, LibObject) and _takes_each_once(one, model)) for one in known)


def _takes_each_once(sampler: LibObject, model: Model) -> bool:
    given = model.ev.calls.site_arguments(sampler.site)
    if sampler.name == BATCH_SAMPLER:
        inner = given.get("sampler", 0)
        return inner is None or not _may_repeat(inner, model)
    return sampler.name in _ONCE and given.get("replacement", 1) is None
