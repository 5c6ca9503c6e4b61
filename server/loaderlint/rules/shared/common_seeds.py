"""Seeds in worker code that are the same in all workers of a loader, so that all workers draw the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from typing import Literal

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.numpy_random import SEEDERS, STATE_DRAWS, TENSOR_DRAWS
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibMember, LibObject, Unknown
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.project.reach.worker_dataset import WORKER_INFO
from loaderlint.rules.shared.global_draws import draws_from_numpy
from loaderlint.rules.shared.intended_reseeding import is_intended
from loaderlint.rules.shared.seed_sources import Source, seed_sources
from loaderlint.rules.shared.seeding_calls import often, on_the_way, seeds_of
from loaderlint.rules.shared.silence_reasons import few_workers
from loaderlint.rules.shared.stream_sources import orders

#: How often a worker seeds: once, for each epoch, batch or sample.
Rhythm = Literal["once", "epoch", "batch", "sample"]
_OFTEN: frozenset[Rhythm] = frozenset({"epoch", "batch"})
_ANY: frozenset[Rhythm] = _OFTEN | {"once", "sample"}
_COMMON: frozenset[Source] = frozenset({"fixed", "main", "moving"})
_WORKER_INFO = Lib(WORKER_INFO)
#: Why workers may draw the same numbers.
AGREED = "it sets an order or a stream from which each worker takes its part"
_SAMPLER = re.compile(r"Sampler$")
_NO_DRAW = re.compile(r"seed$|state$|\.(?:Random|RandomState|default_rng|Generator|fork_rng)$")


def is_common_seed(call: WorkerCall, seed: int, loader: Loader, model: Model) -> bool:
    """Whether workers of a loader draw the same numbers because of a seeding call (see `why_not_common`)."""
    return model.remembered(why_not_common, call, seed, loader) == ""


def why_not_common(call: WorkerCall, seed: int, loader: Loader, model: Model) -> str:
    """Why it is not a fault that all workers of a loader share the seed of a seeding call; '' if it is one."""
    return why_not_shared(call, seed, loader, _counted, model) or _why_harmless(call, loader, model)


def _counted(sources: Set[Source]) -> Set[Rhythm]:
    """How often a seed from these sources is set where this rule reports it: others report the rest."""
    return _ANY if "moving" in sources else _OFTEN


def why_not_shared(
    call: WorkerCall, seed: int, loader: Loader, counted: Callable[[Set[Source]], Set[Rhythm]], model: Model
) -> str:
    """Why the workers of a loader do not share a seed (expression `seed`), or are meant to; '' if they do. `counted`:
    how often a seed from some sources is set if it counts."""
    reached = model.reached.get(call.frame)
    if reached is None or not reached.bits(("sample", "collate")) >> loader.index & 1:
        return "no worker runs it for a sample or a batch"
    if loader.has_workers(2) == "no":
        return few_workers(loader)
    sources = frozenset(seed_sources(seed, call.frame, model))
    if not sources or not sources <= _COMMON or not moves_alike(seed, call.frame, model):
        return "the seed is not known to be the same in all workers"
    if rhythm(call, loader, model) not in counted(sources):
        return "the seed is set for each sample, or once: reseed-per-sample, constant-worker-seed"
    if any(is_intended(*place, model) for place in on_the_way(call, loader, model)):
        return "the state is restored, or the code runs only for evaluation, in one mode, or at one index"
    return ""


def rhythm(call: WorkerCall, loader: Loader, model: Model) -> Rhythm:
    """How often the workers of a loader run a call in sample or collate code."""
    found = often(call, loader, model)
    if found != "sample":
        return found
    root = model.chain(call.frame, loader)[0]
    collates = model.reached[root].loaders.get("collate", 0) >> loader.index & 1
    return "batch" if collates or model.def_of(root).name == "__getitems__" else "sample"


def moves_alike(number: int, frame: Frame, model: Model) -> bool:
    """Whether the attributes of a seed that are set later have the same value in all workers: set by the main process,
    or counted in the worker. The data that a worker iterates over may differ between workers."""
    exprs = model.facts(frame).ir.exprs
    for part in ir.made_of(exprs, (number,)):
        e = exprs[part]
        if isinstance(e, ir.Element | ir.Unpack):
            return False
        if not isinstance(e, ir.Attr):
            continue
        for owner in model.ev.eval(e.base, frame).only(Instance):
            stores = model.ev.classes.stores(owner, e.name)
            if not all(_stores_alike(store, e.name, model) for store in stores):
                return False
    return True


def _stores_alike(store: Store, name: str, model: Model) -> bool:
    if store.construction or not model.runs_in_worker(store.frame):
        return True
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    e = model.ev.expr(store.frame, step.value)
    parts = (e.target, e.value) if isinstance(e, ir.Augmented) else (e.left, e.right) if isinstance(e, ir.Bin) else ()
    values = [part for part in parts if not _is_attribute(part, name, store.frame, model)]
    if not parts or len(values) == len(parts):
        values = [step.value]
    return all(set(seed_sources(value, store.frame, model)) <= _COMMON for value in values)


def _is_attribute(number: int, name: str, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, number)
    return isinstance(e, ir.Attr) and e.name == name


def _why_harmless(call: WorkerCall, loader: Loader, model: Model) -> str:
    """Why the workers may draw the same numbers; '' if they must not, because they draw something that they need not
    agree on."""
    calls = [*model.calls_in(loader, "sample"), *model.calls_in(loader, "collate")]
    together = [name for one in model.frame_calls(call.frame) for name, _ in seeds_of(one)]
    libraries = {SEEDERS[name] for name in together}
    if not any(_draws(one, libraries, model) for one in calls):
        return "nothing is known to draw from this state"
    return AGREED if sets_agreed_order(call, loader, model) else ""


def sets_agreed_order(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether a seeding call may set an order, or a stream, that all workers have to agree on."""
    root = model.chain(call.frame, loader)[0]
    return model.def_of(root).name == "__iter__" and _may_agree(root, model)


def _draws(call: WorkerCall, libraries: set[str], model: Model) -> bool:
    """Whether a call draws from the state of one of these libraries."""
    states = libraries if "all" not in libraries else set(STATE_DRAWS)
    if "numpy" in states and draws_from_numpy(call, model):
        return True
    return any(_may_draw(call, atom, states, model) for atom in call.callee.atoms)


def _may_draw(call: WorkerCall, atom: Atom, states: set[str], model: Model) -> bool:
    """Whether a call of `atom`, which is no function of `numpy.random`, draws from one of these states."""
    prefixes = tuple(prefix for state in sorted(states) for prefix in STATE_DRAWS.get(state, ()))
    match atom:
        case Lib(name) if name.startswith("numpy.random."):
            return False
        case Lib(name) | LibObject(name, _):
            return name.startswith(prefixes) and _NO_DRAW.search(name) is None
        case LibMember(_, name):
            return name in TENSOR_DRAWS and "torch" in states
        case Unknown():
            e = model.ev.expr(call.frame, call.call.func)
            return isinstance(e, ir.Attr) and e.name in TENSOR_DRAWS and "torch" in states
    return False


def _may_agree(root: Frame, model: Model) -> bool:
    """Whether an `__iter__` draws an order, takes items from a sampler, or takes its worker's part of what it drew."""
    calls = model.remembered(calls_below, root)
    if any(orders(call) or any(map(_picks_order, call.callee.atoms)) for call in calls):
        return True
    if not any(_WORKER_INFO in call.callee.atoms for call in calls):
        return False
    if any(Lib("itertools.islice") in call.callee.atoms for call in calls):
        return True
    tests = [(step.expr, frame) for frame in model.run_by((root,)) for _, step in model.steps_of(frame, ir.Test)]
    return any(_takes_turns(test, frame, model) for test, frame in tests)


def calls_below(root: Frame, model: Model) -> list[WorkerCall]:
    """The calls in a frame and in all that it runs."""
    return [call for frame in model.run_by((root,)) for call in model.frame_calls(frame)]


def _picks_order(atom: Atom) -> bool:
    name = atom.name if isinstance(atom, Lib) else ""
    return name in ("random.sample", "random.choices") or _SAMPLER.search(name) is not None


def _takes_turns(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test selects the items of one worker: `number % workers == worker`."""
    exprs = model.facts(frame).ir.exprs
    parts = [exprs[part] for part in ir.made_of(exprs, (test,))] if test != NONE else []
    return any(isinstance(e, ir.Bin) and e.op == "%" for e in parts)
