"""Refactorings: changes of a loader that a user may want without any fault.

`seeded` makes a run repeatable, as PyTorch's notes on randomness say
(https://pytorch.org/docs/stable/notes/randomness.html#dataloader): the generator determines the order of the samples
and the base seed of the workers, and the worker init function passes the seed to NumPy and `random`.
"""

from __future__ import annotations

from loaderlint.findings.finding import Fix, InsertFunction, SetArgument
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.init_functions import passing
from loaderlint.rules.shared.unpacked_arguments import lack
from loaderlint.rules.shared.worker_seeding import SEED_WORKER, TAKES_INIT, may_be_passed


def seeded(loader: Loader, model: Model) -> Fix | None:
    """Give a loader a seeded generator and a worker init function. None if its call does not accept these arguments, or
    passes one of them."""
    if loader.site is None or loader.kind.name not in TAKES_INIT or "generator" in loader.arguments:
        return None
    if not may_be_passed(loader, model) or not lack(loader.site, "generator", model):
        return None
    call = model.site_place(loader.site)
    return Fix(
        "Seed workers reproducibly: pass `worker_init_fn=seed_worker` and a `generator`",
        "safe",
        (
            InsertFunction(call.path, "seed_worker", SEED_WORKER),
            passing(call, "{seed_worker}"),
            SetArgument(call, "generator", "{torch}.Generator().manual_seed(0)", beside_unpacked=True),
        ),
    )
