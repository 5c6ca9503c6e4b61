"""Seeds that are set again for each sample."""

from __future__ import annotations

from typing import Literal

from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.seed_sources import Source, seed_sources
from loaderlint.rules.shared.seeding_calls import often

#: The sources that stay the same in a worker for a whole epoch.
_SHARED: frozenset[Source] = frozenset({"fixed", "main", "worker id", "fresh", "time"})
_PER_ITEM: frozenset[Source] = frozenset({"index", "fixed", "main"})


def reseeding(call: WorkerCall, seed: int, loader: Loader, model: Model) -> Literal["alike", "by index"] | None:
    """The effect of a seed in sample code on the samples of a loader. 'alike': all samples get the same random numbers;
    'by index': each sample gets the same numbers in every epoch; None: neither, or not known."""
    reached = model.reached.get(call.frame)
    if reached is None or not reached.bits(("sample", "collate")) >> loader.index & 1:
        return None
    sources = frozenset(seed_sources(seed, call.frame, model))
    if "index" in sources:
        found: Literal["alike", "by index"] | None = "by index" if sources <= _PER_ITEM else None
    else:
        found = "alike" if sources and sources <= _SHARED else None
    return found if found and often(call, loader, model) == "sample" else None
