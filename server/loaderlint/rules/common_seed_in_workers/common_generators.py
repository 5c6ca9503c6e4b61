"""Generators that each worker makes for an epoch or a batch, all from the same seed."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATORS
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject, Site
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.project.reach.worker_dataset import WORKER_INFO
from loaderlint.rules.common_seed_in_workers.common_seedings import GENERATOR_SEEDING
from loaderlint.rules.shared.common_seeds import AGREED, sets_agreed_order, why_not_shared
from loaderlint.rules.shared.generator_creation import library_of

_WORKER_INFO = Lib(WORKER_INFO)
_NO_DRAW = "nothing is known to draw from this generator"


def generators_of(call: WorkerCall) -> Iterator[tuple[str, int]]:
    """The generators that a call makes from a seed, or seeds, each as the function's name and the seed's expression."""
    seed = next((arg.value for arg in call.call.args[:1] if arg.kind in ("pos", "kw")), None)
    for atom in call.callee.only(Lib, LibMember) if seed is not None and len(call.call.args) == 1 else ():
        assert seed is not None
        if isinstance(atom, Lib):
            if atom.name in GENERATORS and atom.name != "torch.Generator":
                yield atom.name, seed
        elif atom.name == "manual_seed" and isinstance(atom.owner, LibObject) and library_of(atom.owner) == "torch":
            yield GENERATOR_SEEDING, seed


def why_generator_not_common(call: WorkerCall, seed: int, loader: Loader, model: Model) -> str:
    """Why it is no fault that a call makes a generator in the workers of a loader; '' if it is one: all draw the same
    numbers from it."""
    if reason := why_not_shared(call, seed, loader, model):
        return reason
    made = _made_by(call)
    calls = [*model.calls_in(loader, "sample"), *model.calls_in(loader, "collate")]
    draws = [one for one in calls if _draws_from(one, made, model)]
    if not draws:
        return _NO_DRAW
    if sets_agreed_order(call, loader, model):
        return AGREED
    if not _asks_for_worker(call, loader, model) or any(
        model.def_of(one.frame).is_in_loop(one.context) for one in draws
    ):
        return ""
    return AGREED  # one draw before the loop: the items or places that the workers then share out


def _made_by(call: WorkerCall) -> frozenset[LibObject]:
    """The generators that a call makes or seeds."""
    site = Site(call.frame, call.number)
    made = {LibObject(atom.name, site) for atom in call.callee.only(Lib)}
    seeded = {atom.owner for atom in call.callee.only(LibMember) if isinstance(atom.owner, LibObject)}
    return frozenset(made | seeded)


def _draws_from(call: WorkerCall, made: frozenset[LibObject], model: Model) -> bool:
    """Whether a call draws from one of these generators: `rng.normal()`, `torch.rand(3, generator=rng)`."""
    for atom in call.callee.only(LibMember):
        if atom.owner in made and atom.name in GENERATOR_DRAWS:
            return True
    passed = (arg.value for arg in call.call.args if arg.kind == "kw" and arg.name == "generator")
    return any(not made.isdisjoint(model.ev.eval(value, call.frame).atoms) for value in passed)


def _asks_for_worker(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether the code around asks which worker runs it, and so gives each a part."""
    root = model.chain(call.frame, loader)[0]
    return any(_WORKER_INFO in one.callee.atoms for frame in model.run_by((root,)) for one in model.frame_calls(frame))
