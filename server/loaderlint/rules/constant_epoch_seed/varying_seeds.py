"""Seeds that move on from turn to turn."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.constant_epoch_seed.seeds_in_loops import SEEDER_NAMES, is_seed_fixed, torch_seeder
from loaderlint.rules.shared.epoch_passes import Pass


def is_reseeded(one: Pass, seeding: WorkerCall, model: Model) -> bool:
    """Whether each iteration of the loop sets a seed that changes between a constant one and the pass that follows it.
    What comes before the constant seed comes after it in the next turn."""
    frame, loop = seeding.frame, one.loop
    performed = {step.call: number for number, step in model.steps_of(frame, ir.Perform) if step.context == loop}
    calls = [call for call in model.calls_named(frame, SEEDER_NAMES) if call.number in performed]
    moving = [call for call in calls if torch_seeder(call) and call.call.args and not is_seed_fixed(call, loop, model)]
    places = [performed[call.number] for call in moving]
    at = next((number for number, step in model.steps_of(frame, ir.Perform) if step.call == seeding.number), one.step)
    if at < one.step:
        return any(at < place < one.step for place in places)
    return any(place > at or place < one.step for place in places)
