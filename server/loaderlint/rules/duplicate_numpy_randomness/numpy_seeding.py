"""Whether something seeds the state of NumPy that workers draw from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall
from loaderlint.rules.shared.loader_traits import one_stream
from loaderlint.rules.shared.silence_reasons import started_by
from loaderlint.rules.shared.worker_seeding import seeds_numpy, seeds_on_the_way

FIXED_IN = "1.9"


class Draw(NamedTuple):
    """A call of a function that draws from NumPy's state."""

    call: WorkerCall
    function: str


def cure_of(call: WorkerCall, model: Model, loader: Loader) -> str:
    """Why the workers of a loader do not draw the same numbers; '' if they may."""
    if alone := one_stream(loader, model):
        return alone
    torch = model.environment(loader).torch
    if torch.before(FIXED_IN) == "no":
        return f"torch seeds NumPy in each worker since {FIXED_IN} (torch {torch.described})"
    if not loader.out_of_sight and "fork" not in model.start_methods.of(loader):
        return f"{started_by(loader, model)}, which import NumPy anew"
    seeds = seeds_numpy(loader, model)
    if seeds in ("yes", "maybe"):
        return (
            f"{_who_seeds(loader)} NumPy in each worker"
            if seeds == "yes"
            else "what its worker_init_fn does is not known"
        )
    return "NumPy is seeded before the draw" if seeds_on_the_way(call, loader, model) == "yes" else ""


def _who_seeds(loader: Loader) -> str:
    """'timm.data.create_loader seeds', 'its worker_init_fn seeds', 'Lightning seeds'."""
    if loader.kind.seeds_numpy:
        return f"{loader.kind.name} seeds"
    init = loader.argument("worker_init_fn").literal
    return "Lightning seeds" if init is not None and init.value is None else "its worker_init_fn seeds"


def are_seeded(draws: Sequence[Draw], exposure: Exposure, model: Model) -> bool:
    """Whether all loaders seed NumPy under a condition."""
    return all(_seeds_sometimes(loader, draws, model) for loader in exposure.loaders)


def _seeds_sometimes(loader: Loader, draws: Sequence[Draw], model: Model) -> bool:
    """Whether NumPy is seeded under a condition: by the worker_init_fn, or before the draws."""
    if seeds_numpy(loader, model) == "sometimes":
        return True
    ways = {seeds_on_the_way(one.call, loader, model) for one in draws if _is_run_by(loader, one.call, model)}
    return ways == {"sometimes"}


def _is_run_by(loader: Loader, call: WorkerCall, model: Model) -> bool:
    return bool(model.reached[call.frame].bits() >> loader.index & 1)
