"""Plays the ranks of a distributed program, one after the other, in copies of this process.

A loader asks torch.distributed, or the environment, for its rank, and gives that rank's share of the items. Forked
workers get the same answers as the process that forks them. Workers of other start methods only have the environment,
because they cannot inherit a process group.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from msgspec import Struct

#: The maximum number of a sampler's indices that are read: a sampler may be endless.
MOST_INDICES = 100_000


class Rank(Struct, frozen=True):
    """One process of a distributed program of `count` processes."""

    number: int
    count: int

    def take(self, loader: Any) -> None:
        """Turn this process into this rank, and create its loader's sampler again for the rank. For a copy of the
        process only: this cannot be undone."""
        os.environ.update(
            RANK=str(self.number),
            LOCAL_RANK=str(self.number),
            WORLD_SIZE=str(self.count),
            LOCAL_WORLD_SIZE=str(self.count),
        )
        _replace(
            {
                "is_available": lambda: True,
                "is_initialized": lambda: True,
                "get_rank": lambda group=None: self.number,
                "get_world_size": lambda group=None: self.count,
            }
        )
        self._make_sampler(loader)

    def _make_sampler(self, loader: Any) -> None:
        """Make a DistributedSampler as this rank would. Other samplers stay: it is not known what they remember of the
        rank that they were made for."""
        from torch.utils.data import DistributedSampler

        for sampler in (loader.sampler, getattr(loader.batch_sampler, "sampler", None)):
            if isinstance(sampler, DistributedSampler) and type(sampler).__init__ is DistributedSampler.__init__:
                epoch = sampler.epoch
                kept = {name: getattr(sampler, name) for name in ("shuffle", "seed", "drop_last")}
                DistributedSampler.__init__(sampler, sampler.dataset, self.count, self.number, **kept)
                sampler.epoch = epoch


def _replace(answers: Mapping[str, Callable[..., object]]) -> None:
    """Replace functions of torch.distributed in all modules that hold them: some were imported by name."""
    distributed = vars(sys.modules["torch.distributed"])
    replaced = {id(distributed[name]): answer for name, answer in answers.items() if name in distributed}
    for names in [vars(module) for module in sys.modules.values() if isinstance(module, ModuleType)]:
        names.update({name: replaced[id(value)] for name, value in names.items() if id(value) in replaced})
    distributed.update(answers)  # a build of PyTorch without distributed lacks some of them


def order(loader: Any) -> tuple[list[str], int, bool]:
    """What the sampler of a map-style loader gives in an epoch: the indices as texts, the number of batches, and
    whether it ended."""
    batches = loader.batch_sampler if loader.batch_sampler is not None else ([index] for index in loader.sampler)
    found: list[str] = []
    count = 0
    for batch in batches:
        if len(found) >= MOST_INDICES:
            return [], count, False
        found += map(repr, batch)
        count += 1
    return found, count, True
