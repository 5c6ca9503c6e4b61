"""Seeding in workers: who does it, and the function that does it right. Shared by the rules on randomness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from loaderlint.facts import ir
from loaderlint.findings import Fix, InsertFunction, Intent, SetArgument
from loaderlint.knowledge.numpy_random import SEEDERS, SEEDING_WORKER_INITS
from loaderlint.project.frames import Frame
from loaderlint.project.model import Loader, Model
from loaderlint.project.values import Lib, Literal_, PartialOf

#: The form of PyTorch's own notes on randomness. `torch.initial_seed()` is a new number in every worker and epoch.
SEED_WORKER = """\
def {seed_worker}(worker_id):
    worker_seed = {torch}.initial_seed() % 2**32
    {numpy}.random.seed(worker_seed)
    {random}.seed(worker_seed)"""


#: Loaders whose call takes torch's `worker_init_fn` under that name.
_TAKES_INIT = frozenset(
    {
        "torch.utils.data.DataLoader",
        "torchdata.stateful_dataloader.StatefulDataLoader",
        "torch_geometric.loader.DataLoader",
    }
)


def seeds_numpy(loader: Loader, model: Model) -> Literal["yes", "no", "maybe"]:
    """Whether each worker of the loader gets its own state of NumPy, on any torch."""
    if loader.kind.seeds_numpy:
        return "yes"
    passed = loader.argument("worker_init_fn")
    for atom in passed.atoms:
        if isinstance(atom, Lib) and atom.name in SEEDING_WORKER_INITS:
            return "yes"
        if isinstance(atom, PartialOf) and isinstance(atom.func, Lib) and atom.func.name in SEEDING_WORKER_INITS:
            return "yes"
    if _lightning_seeds(model):
        return "yes"
    for reached in model.reached.values():
        if reached.loaders.get("init", 0) >> loader.index & 1:
            for call in model.frame_calls(reached.frame):
                if any(isinstance(a, Lib) and SEEDERS.get(a.name) in ("numpy", "all") for a in call.callee.atoms):
                    return "yes"
    literal = passed.literal
    if isinstance(literal, Literal_) and literal.value is None:
        return "no"
    return "maybe" if passed.unknown and not loader.out_of_sight else "no"


def seeds_on_the_way(frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether a frame that leads to `frame`, or it itself, seeds NumPy: then the inherited state is not used."""
    return any(
        isinstance(atom, Lib) and SEEDERS.get(atom.name) in ("numpy", "all")
        for link in model.chain(frame, loader)
        for call in model.frame_calls(link)
        for atom in call.callee.atoms
    )


def _lightning_seeds(model: Model) -> bool:
    """Whether the project calls Lightning's `seed_everything(..., workers=True)`: the trainer then seeds the workers."""
    for site in model.callers.sites("seed_everything"):
        facts = model.ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        for arg in call.args if isinstance(call, ir.Call) and facts else ():
            value = facts.ir.exprs[arg.value] if facts else None
            if arg.name == "workers" and isinstance(value, ir.Const) and value.value is True:
                return True
    return False


def seed_worker_fix(loaders: Sequence[Loader], model: Model) -> Fix | None:
    """Give each of these loaders a `worker_init_fn` that seeds; None where one of them is out of sight or has one."""
    intents: list[Intent] = []
    for loader in loaders:
        literal = loader.argument("worker_init_fn").literal
        if loader.site is None or literal is None or literal.value is not None or loader.kind.name not in _TAKES_INIT:
            return None
        call = model.site_place(loader.site)
        intents.append(InsertFunction(call.path, "seed_worker", SEED_WORKER))
        intents.append(SetArgument(call, "worker_init_fn", "{seed_worker}"))
    if not intents:
        return None
    return Fix("Seed each worker: pass `worker_init_fn=seed_worker`", "safe", tuple(dict.fromkeys(intents)))
