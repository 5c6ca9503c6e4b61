"""The calls by which each worker of a loader seeds once, and where their seeds come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, def_key
from loaderlint.project.reach.model import Loader, MainFunction, Model, WorkerCall
from loaderlint.rules.shared.common_seeds import is_common_seed, moves_alike
from loaderlint.rules.shared.seed_sources import Source, seed_sources
from loaderlint.rules.shared.seeding_calls import Written, often, seeds_of, written

#: The torch that seeds NumPy in each worker.
FIXED_IN = "1.9"
_DRAW_NAMES = frozenset(name.rpartition(".")[2] for name in NUMPY_GLOBAL_DRAWS)


class WorkerSeeding(NamedTuple):
    """A seeding call that a worker makes once: which function, where the seed comes from, and where it is written.
    `each_epoch`: a persistent worker runs it again, at the start of an `__iter__`. `rank`: how the seed names the rank
    of the process, '' if it does not."""

    call: WorkerCall
    function: str
    sources: frozenset[Source]
    place: Written
    each_epoch: bool
    rank: str


def worker_seedings(loader: Loader, model: Model) -> Iterator[WorkerSeeding]:
    """The seeding calls that a worker of the loader makes once, when it starts, reads its first sample, or begins an
    epoch."""
    for reached in model.reached_by(loader):
        init = reached.loaders.get("init", 0) >> loader.index & 1
        for call in model.frame_calls(reached.frame):
            for name, seed in seeds_of(call):
                rhythm = "once" if init else often(call, loader, model)
                if rhythm != "sample" and (init or not is_common_seed(call, seed, loader, model)):
                    sources = _as_of(_sources(seed, call.frame, model), loader, model)
                    place = written(call, seed, loader, model)
                    rank = _rank(place.number, place.frame, model)
                    yield WorkerSeeding(call, name, sources, place, rhythm == "epoch", rank)


def each_sample_seeds(seeder: str, loader: Loader, model: Model) -> bool:
    """Whether each sample calls `seeder` itself: `np.random.seed()`. Only what is drawn before the first of these calls
    comes from another seed."""
    return any(
        Lib(seeder) in call.callee.atoms and call.context == 0
        for reached in model.reached_by(loader)
        if reached.bits(("sample",)) >> loader.index & 1
        for call in model.frame_calls(reached.frame)
        if often(call, loader, model) == "sample"
    )


def _sources(seed: int, frame: Frame, model: Model) -> frozenset[Source]:
    """The sources of a seed. What a worker sets itself, to something that is not known, may differ between workers."""
    found = frozenset(seed_sources(seed, frame, model))
    return found | {"unknown"} if "moving" in found and not moves_alike(seed, frame, model) else found


def _as_of(sources: frozenset[Source], loader: Loader, model: Model) -> frozenset[Source]:
    """The sources with this loader's torch: before 1.9 workers have the state of NumPy that the main process has."""
    if not sources & {"state", "inherited"}:
        return sources
    if model.environment(loader).torch.before(FIXED_IN) != "yes":
        return sources - {"inherited"} | {"unknown"} if "inherited" in sources else sources
    moves = _main_seeds_anew(model) or ("inherited" in sources and _main_draws(model))
    moved: Source = "moving" if moves else "fixed"
    return sources - {"state", "inherited"} | {moved}


def _main_draws(model: Model) -> bool:
    """Whether the main process draws from NumPy's state, which workers that start later then find moved on."""
    return any(
        isinstance(atom, Lib) and atom.name in NUMPY_GLOBAL_DRAWS
        for function in _main_only(("np.random", "numpy.random"), model)
        for call in (model.calls(function) if function.calls_one_of(_DRAW_NAMES) else ())
        for atom in call.callee.atoms
    )


def _main_only(words: tuple[str, ...], model: Model) -> Iterator[MainFunction]:
    """The functions of the main process that no worker runs."""
    in_workers = {def_key(frame) for frame in model.reached}
    for function in model.main_functions(words):
        if def_key(function) not in in_workers:
            yield function


def _main_seeds_anew(model: Model) -> bool:
    """Whether the main process seeds NumPy as it goes on: `np.random.seed()` or `np.random.seed(epoch)` in a loop or in
    a function."""
    for function in _main_only(("random.seed",), model):
        for call in model.calls(function):
            if Lib("numpy.random.seed") not in call.callee.atoms:
                continue
            looped = any(here.kind == "loop" for here in model.def_of(call.frame).around(call.context))
            seeds = {source for _, seed in seeds_of(call) for source in seed_sources(seed, call.frame, model)}
            if (looped or function.def_ > 0) and seeds != {"fixed"}:
                return True
    return False


def _rank(number: int, frame: Frame, model: Model, depth: int = 0) -> str:
    """The part of an expression that is called after the rank of the process, as source; '' if there is none."""
    e = model.ev.expr(frame, number)
    parts: tuple[int, ...] = ()
    if isinstance(e, ir.Bin):
        parts = (e.left, e.right)
    elif isinstance(e, ir.Call) and e.args:
        parts = tuple(arg.value for arg in e.args)
    elif "rank" in (text := _name(number, frame, model)).rpartition(".")[2].lower():
        return text
    return next((text for part in parts if depth < 8 and (text := _rank(part, frame, model, depth + 1))), "")


def _name(number: int, frame: Frame, model: Model) -> str:
    """The source of a name, an attribute or a call without arguments; '' for anything else."""
    match model.ev.expr(frame, number):
        case ir.Param(index):
            return model.def_of(frame).params[index].name
        case ir.Global(name) | ir.Capture(_, name):
            return name
        case ir.Attr(base, name):
            return f"{owner}.{name}" if (owner := _name(base, frame, model)) else ""
        case ir.Call(func, ()):
            return f"{called}()" if (called := _name(func, frame, model)) else ""
    return ""
