"""The seeds that worker code passes to NumPy, and what keeps them small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.seeding_calls import seeds_of
from loaderlint.rules.worker_seed_overflow.seed_width import NUMPY_LIMIT, reach

_LEGACY = "numpy.random.RandomState"


class Overflow(NamedTuple):
    """A call that gives NumPy a seed which is too large: the expression `seed` of its frame."""

    call: WorkerCall
    function: str
    seed: int


def numpy_seeds(call: WorkerCall) -> Iterator[tuple[str, int]]:
    """What a call seeds of NumPy's old generators: the name of what takes the seed, and the seed's expression."""
    seed = next((a.value for a in call.call.args[:1] if a.kind in ("pos", "kw")), None)
    for atom in call.callee.atoms if seed is not None else ():
        assert seed is not None
        match atom:
            case Lib("numpy.random.seed" | "numpy.random.RandomState" as name):
                yield name, seed
            case LibMember(LibObject(name), "seed") if name == _LEGACY:
                yield f"{_LEGACY}.seed", seed


def is_watched(call: WorkerCall, model: Model) -> bool:
    """Whether the call is in a `try`, or under a test of how large the seed is."""
    around = model.def_of(call.frame).around(call.context)
    return any(here.kind == "try" or here.kind == "if" and _measures(here.expr, call, model) for here in around)


def _measures(test: int, call: WorkerCall, model: Model) -> bool:
    e = model.ev.expr(call.frame, test)
    operands = (e.left, *e.rights) if isinstance(e, ir.Compare) else ()
    return any(reach(operand, call.frame, model) is not None for operand in operands)


def seeds_torch(here: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether the worker gives torch another seed, which may be a small one: in its worker_init_fn, or in a frame that
    leads there."""
    links = model.chain(here.frame, loader)
    calls = [*model.calls_in(loader, "init"), *(call for link in links for call in model.frame_calls(link))]
    return any(
        SEEDERS.get(name) in ("torch", "all") and (reach(seed, call.frame, model) or 0) <= NUMPY_LIMIT
        for call in calls
        for name, seed in seeds_of(call)
    )
