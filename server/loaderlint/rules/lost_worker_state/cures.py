"""Loaders for which a position or a cache is not a fault."""

from __future__ import annotations

from loaderlint.project.reach.model import Loader
from loaderlint.rules.shared.silence_reasons import EVALUATION


def position_cure(loader: Loader) -> str:
    """Why a position is no fault in this loader: a worker_init_fn may set it in each worker. '' if it is one."""
    given = loader.argument("worker_init_fn").literal
    none = given is not None and given.value is None
    return "" if none else "its worker_init_fn may give each worker its own share"


def cache_cure(loader: Loader) -> str:
    """Why a cache is no fault in this loader: its workers persist, or it is for evaluation and usually reads each
    sample once. '' if it is one."""
    if loader.persistent:
        return "its workers persist, and so does the cache"
    return EVALUATION if loader.is_for_evaluation else ""
