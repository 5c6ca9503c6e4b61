"""The ranks of a distributed program, one after the other: copies of this process that are told to be one of them.

A loader asks torch.distributed, or the environment, which rank it is of, and gives its share of the items. Workers that
are forked are told the same as the process that forks them. Those of other start methods only have the environment:
a process group is nothing that they could inherit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from msgspec import Struct

#: So many indices of a sampler are looked at. One without an end has no epoch.
MOST_INDICES = 100_000


class Rank(Struct, frozen=True):
    """One process of a distributed program of `count` processes."""

    number: int
    count: int

    def take(self, loader: Any) -> None:
        """Have this process be told that it is this rank, and the sampler of its loader made for it. For a copy of the
        process only: there is no way back."""
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
        """Make a DistributedSampler as this rank would. Others are left as they are: what they have kept of the rank
        that they were made for is not known."""
        from torch.utils.data import DistributedSampler

        for sampler in (loader.sampler, getattr(loader.batch_sampler, "sampler", None)):
            if isinstance(sampler, DistributedSampler) and type(sampler).__init__ is DistributedSampler.__init__:
                epoch = sampler.epoch
                kept = {name: getattr(sampler, name) for name in ("shuffle", "seed", "drop_last")}
                DistributedSampler.__init__(sampler, sampler.dataset, self.count, self.number, **kept)
                sampler.epoch = epoch


def _replace(answers: Mapping[str, Callable[..., object]]) -> None:
    """Replace functions of torch.distributed in all modules that have them: some were imported by name."""
    distributed = vars(sys.modules["torch.distributed"])
    replaced = {id(distributed[name]): answer for name, answer in answers.items() if name in distributed}
    for names in [vars(module) for module in sys.modules.values() if isinstance(module, ModuleType)]:
        names.update({name: replaced[id(value)] for name, value in names.items() if id(value) in replaced})
    distributed.update(answers)  # a build of PyTorch without it has not all


def order(loader: Any) -> tuple[list[str], int, bool]:
    """What the sampler of a map-style loader asks for in an epoch: the indices as texts, how many batches they make,
    and whether it comes to its end."""
    batches = loader.batch_sampler if loader.batch_sampler is not None else ([index] for index in loader.sampler)
    found: list[str] = []
    count = 0
    for batch in batches:
        if len(found) >= MOST_INDICES:
            return [], count, False
        found += map(repr, batch)
        count += 1
    return found, count, True
