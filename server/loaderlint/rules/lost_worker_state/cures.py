"""What keeps state or a cache in workers from being lost."""

from __future__ import annotations

from loaderlint.project.reach.model import Loader
from loaderlint.rules.shared.loader_traits import is_for_evaluation
from loaderlint.rules.shared.silence_reasons import EVALUATION


def sets_up_workers(loader: Loader) -> str:
    """A cure: a worker_init_fn may give each worker a position or a share of its own."""
    given = loader.argument("worker_init_fn").literal
    none = given is not None and given.value is None
    return "" if none else "its worker_init_fn may give each worker its own share"


def needs_no_cache(loader: Loader) -> str:
    """A cure: a loader keeps its workers, or reads its samples for evaluation, usually once."""
    if loader.persistent:
        return "its workers persist, and so does the cache"
    return EVALUATION if is_for_evaluation(loader) else ""
