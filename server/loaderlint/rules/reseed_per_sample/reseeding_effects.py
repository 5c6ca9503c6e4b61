"""What a seeding call for each sample does to the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from loaderlint.project.reach.model import Loader, Model, Part, WorkerCall
from loaderlint.rules.shared.common_seeds import is_common_seed
from loaderlint.rules.shared.intended_reseeding import is_intended
from loaderlint.rules.shared.sample_seeds import reseeding
from loaderlint.rules.shared.seeding_calls import on_the_way

#: What a seeding call before each sample does: all samples alike, or each by its index.
Effect = Literal["alike", "by index"]
PARTS: tuple[Part, ...] = ("sample", "collate")


def loaders_running(call: WorkerCall, model: Model) -> Iterator[Loader]:
    """The loaders whose workers perform the call."""
    return model.loaders_of(model.reached[call.frame].bits(PARTS))


def effect_of(call: WorkerCall, seed: int, loader: Loader, model: Model) -> Effect | None:
    """The effect of the call on the samples of a loader, if it cannot be intended."""
    effect = reseeding(call, seed, loader, model)
    if effect == "alike" and is_common_seed(call, seed, loader, model):
        return None  # common-seed-in-workers
    if effect is None or any(is_intended(*place, model) for place in on_the_way(call, loader, model)):
        return None
    return effect


def why_no_effect(call: WorkerCall, seed: int, loader: Loader, model: Model) -> str:
    """Why the call has no effect on the samples of a loader that cannot be intended."""
    if is_common_seed(call, seed, loader, model):
        return "it is the same seed in all workers: common-seed-in-workers"
    if reseeding(call, seed, loader, model) is None:
        return "the seed is not known to be the same before each sample"
    return "the state is restored, or the code runs only for evaluation, in one mode, or at one index"
