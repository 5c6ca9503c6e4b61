"""What a seeding call for each sample does to the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.common_seeds import is_common_seed
from loaderlint.rules.shared.global_draws import SAMPLE_PARTS, draw_from_own, drawn_by_samples
from loaderlint.rules.shared.intended_reseeding import is_intended
from loaderlint.rules.shared.sample_seeds import reseeding
from loaderlint.rules.shared.seeding_calls import on_the_way

#: What a seeding call before each sample does: all samples alike, or each by its index.
Effect = Literal["alike", "by index"]


class Seeding(NamedTuple):
    """A seeding call in sample code: which function it calls, and the expression of its seed. `functions`: what its def
    seeds with, this one and others beside it, which are one fault."""

    call: WorkerCall
    function: str
    seed: int
    functions: frozenset[str]


def loaders_running(seeding: Seeding, model: Model) -> Iterator[Loader]:
    """The loaders whose workers perform the call."""
    return model.loaders_of(model.reached[seeding.call.frame].bits(SAMPLE_PARTS))


def effect_of(seeding: Seeding, loader: Loader, model: Model) -> Effect | None:
    """The effect of the call on the samples of a loader, if there is one and it cannot be intended."""
    call, seed = seeding.call, seeding.seed
    effect = reseeding(call, seed, loader, model)
    if effect is None or is_unfelt(seeding, loader, model):
        return None
    if effect == "alike" and is_common_seed(call, seed, loader, model):
        return None  # common-seed-in-workers
    if any(is_intended(*place, model) for place in on_the_way(call, loader, model)):
        return None
    return effect


def is_unfelt(seeding: Seeding, loader: Loader, model: Model) -> bool:
    """Whether no sample draws from a state that is set there. Without workers, the main process does."""
    return loader.has_workers() != "no" and drawn_by_samples(seeding.functions, loader, model) == "no"


def is_in_doubt(seeding: Seeding, loader: Loader, model: Model) -> bool:
    """Whether samples draw from a generator, and only code that is not known may draw from a state that is set
    there."""
    return drawn_by_samples(seeding.functions, loader, model) == "maybe" and draw_from_own(loader, model)


def why_no_effect(seeding: Seeding, loader: Loader, model: Model) -> str:
    """Why the call has no effect on the samples of a loader that cannot be intended."""
    call, seed = seeding.call, seeding.seed
    if is_common_seed(call, seed, loader, model):
        return "it is the same seed in all workers: common-seed-in-workers"
    if reseeding(call, seed, loader, model) is None:
        return "the seed is not known to be the same before each sample"
    if is_unfelt(seeding, loader, model):
        return "the samples draw no numbers from the state that it sets"
    return "the state is restored, or the code runs only for evaluation, in one mode, or at one index"
