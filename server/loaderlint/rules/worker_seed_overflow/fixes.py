"""The fix: bring the seed below 2**32."""

from __future__ import annotations

from loaderlint.findings.finding import Fix, Intent, Replace, Wrap
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.seeding_calls import SEED_CALLS, bound_name, is_read_only_in, seeds_of, written
from loaderlint.rules.worker_seed_overflow.numpy_seeds import Overflow, numpy_seeds


def narrowing_fix(one: Overflow, loader: Loader, model: Model) -> Fix | None:
    """Bring the seed below 2**32 where it is written."""
    frame, at, number = written(one.call, one.seed, loader, model)
    if number == at:
        return None
    seed, call = model.place(frame, number), model.place(frame, at)
    name = bound_name(frame, number, model)
    intent: Intent
    if seed.anchor > call.anchor or _seeds_alone(name, number, one, model):
        intent = Wrap(seed, "", " % 2**32")
    elif name and frame is one.call.frame and one.function in SEED_CALLS:
        intent = Replace(call, f"{SEED_CALLS[one.function]}({name} % 2**32)")
    else:
        return None
    return Fix("Limit the seed to 32 bits", "safe", (intent,))


def _seeds_alone(name: str | None, number: int, one: Overflow, model: Model) -> bool:
    """Whether a bound seed is read by seeding calls alone."""
    frame = one.call.frame
    calls = {
        call.number
        for call in model.frame_calls(frame)
        for _, seed in (*numpy_seeds(call), *seeds_of(call))
        if seed == number
    }
    return name is not None and is_read_only_in(calls, frame, number, model)
