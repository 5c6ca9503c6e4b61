"""What the workers of a loader pass to `__getitem__`: torch's samplers give indices, and others may give anything.

An index is a number: an int, or one of NumPy or a tensor with one item where `Subset` or `SubsetRandomSampler` got an
array. So it passes no test for a slice or a text."""

from __future__ import annotations

from loaderlint.knowledge.library_datasets import BATCH_SAMPLER, INDEX_SAMPLERS
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import INDEX, SAMPLED, Atom, LibObject, Unknown, Val, is_none, of
from loaderlint.project.loaders.loaders import Loader

#: The reasons for an argument of which it is not even known whether it is passed.
_PERHAPS = frozenset({"kwargs", "config", "configuration file", "loader out of sight"})


def index_for(ev: Evaluator, loader: Loader, method: str) -> Val:
    """The argument of a method that the workers of a loader call with an index, or with those of a batch."""
    if method != "__getitem__":
        return of(SAMPLED)
    samplers = (one for name in ("sampler", "batch_sampler") for one in loader.argument(name).atoms)
    return of(INDEX if all(_gives_indices(ev, one) for one in samplers) else SAMPLED)


def _gives_indices(ev: Evaluator, sampler: Atom) -> bool:
    if is_none(sampler):
        return True
    if isinstance(sampler, Unknown):
        return sampler.reason in _PERHAPS
    if not isinstance(sampler, LibObject):
        return False
    inner = ev.calls.site_arguments(sampler.site).get("sampler", 0) if sampler.name == BATCH_SAMPLER else None
    if inner is not None:
        return all(_gives_indices(ev, one) for one in inner.atoms)
    return sampler.name in INDEX_SAMPLERS
