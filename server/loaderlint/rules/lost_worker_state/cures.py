"""Loaders for which a position or a cache is not a fault."""

from __future__ import annotations

from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.repeated_samples import may_repeat_samples
from loaderlint.rules.shared.silence_reasons import EVALUATION

_REPEATS = "its sampler may take a sample several times in an epoch"


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
    if may_repeat_samples(loader, model):
        return _REPEATS
    return EVALUATION if loader.is_for_evaluation else ""
