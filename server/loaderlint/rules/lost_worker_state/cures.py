"""Loaders for which a position or a cache is not a fault."""

from __future__ import annotations

from loaderlint.project.evaluation.values import LibObject, Literal_, Unknown, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.silence_reasons import EVALUATION

_REPEATS = "its sampler may take a sample several times in an epoch"
#: Samplers of torch that take each sample once in an epoch, if they are not told otherwise.
_ONCE = frozenset(
    f"torch.utils.data.{name}" for name in ("SequentialSampler", "RandomSampler", "SubsetRandomSampler")
) | {"torch.utils.data.DistributedSampler"}
_NOTHING = Literal_("NoneType", None)
_BATCHES = "torch.utils.data.BatchSampler"


def position_cure(loader: Loader) -> str:
    """Why a position is no fault in this loader: a worker_init_fn may set it in each worker. '' if it is one."""
    given = loader.argument("worker_init_fn").literal
    none = given is not None and given.value is None
    return "" if none else "its worker_init_fn may give each worker its own share"


def cache_cure(model: Model, loader: Loader) -> str:
    """Why a cache is no fault in this loader: its workers persist, its sampler may repeat samples, or it is for
    evaluation and usually reads each sample once. '' if it is one."""
    if loader.persistent:
        return "its workers persist, and so does the cache"
    if any(_may_repeat(loader.argument(name), model) for name in ("sampler", "batch_sampler")):
        return _REPEATS
    return EVALUATION if loader.is_for_evaluation else ""


def _may_repeat(sampler: Val, model: Model) -> bool:
    """Whether a sampler may take a sample twice in an epoch. Of an argument that is not known nothing is said."""
    known = (one for one in sampler.atoms if not isinstance(one, Unknown) and one != _NOTHING)
    return any(not (isinstance(one, LibObject) and _takes_each_once(one, model)) for one in known)


def _takes_each_once(sampler: LibObject, model: Model) -> bool:
    given = model.ev.calls.site_arguments(sampler.site)
    if sampler.name == _BATCHES:
        inner = given.get("sampler", 0)
        return inner is None or not _may_repeat(inner, model)
    return sampler.name in _ONCE and given.get("replacement", 1) is None
