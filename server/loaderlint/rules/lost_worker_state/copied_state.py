"""Evidence: where state is created that is then copied into each worker."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Evidence
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.lost_worker_state.sample_caches import SampleCache, made_in_module


def creation_evidence(owner: Instance, name: str, model: Model) -> Iterator[Evidence]:
    """Where the constructor creates the attribute."""
    for store in model.ev.classes.stores(owner, name):
        if store.construction:
            place = model.step_place(store.frame, store.step)
            yield Evidence(place, f"{model.label(store.frame)} makes `{name}`, which each worker copies")


def cache_evidence(cache: SampleCache, model: Model) -> Iterator[Evidence]:
    """Where the cache is created of which each worker has a copy."""
    if cache.owner is not None:
        yield from creation_evidence(cache.owner, cache.name, model)
        return
    place = made_in_module(cache, model)
    if place is not None:
        yield Evidence(place, f"each worker has its own copy of the module, with its own `{cache.name}`")
