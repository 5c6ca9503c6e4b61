"""Calls that give all workers of a loader the same seed."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.knowledge.numpy_random import GENERATORS
from loaderlint.project.reach.model import Exposure, Model, WorkerCall
from loaderlint.rules.shared.common_seeds import Rhythm
from loaderlint.rules.shared.seeding_calls import Written
from loaderlint.rules.shared.stream_sources import orders

#: The method that seeds a `torch.Generator`.
GENERATOR_SEEDING = "torch.Generator.manual_seed"


class Seeding(NamedTuple):
    """A call that gives all workers of the loaders in `exposure` the same seed: what it calls, how often it runs, and
    where the seed is written. `moves`: it is another one in each epoch."""

    call: WorkerCall
    function: str
    rhythm: Rhythm
    place: Written
    moves: bool
    exposure: Exposure

    @property
    def is_of_generator(self) -> bool:
        """Whether it seeds a separate generator, and no global state."""
        return self.function in GENERATORS or self.function == GENERATOR_SEEDING


def sets_order(seeding: Seeding, model: Model) -> bool:
    """Whether the function that seeds also draws an order of items, which all workers have to agree on."""
    return any(orders(one) for one in model.frame_calls(seeding.call.frame))
