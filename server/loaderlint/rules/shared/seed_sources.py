"""Where a seed comes from: which parts of it are the same in each worker, and which in each epoch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    INDICES,
    Atom,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    SeqOf,
    Site,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.epoch_loops import loops_around, step_context
from loaderlint.rules.shared.seeding_calls import seeds_of
from loaderlint.rules.shared.setup_loops import enumerations, loop_of, sets_up

#: 'time': whole seconds; 'state': a word of NumPy's state; 'inherited': drawn in the worker from NumPy's state; 'main':
#: computed once by the main process; 'moving': another value in each iteration of a loop or after a call of a setter;
#: 'index': the number of the sample; 'optional': if this is None, nothing is seeded; 'fresh': torch's seed of the
#: worker, new in each epoch.
Source = Literal[
    "fixed", "worker id", "time", "state", "inherited", "main", "moving", "index", "optional", "fresh", "unknown"
]
#: Sources that are constant while a process lives.
_PER_PROCESS = re.compile(
    r"^os\.(?:environ|getenv)|get_(?:local_|global_)?rank$|get_world_size$|get_dist_info"
    r"|^horovod\.\w+\.(?:local_|cross_)?(?:rank|size)$"
)
#: The arguments and the environment of the program.
_OF_THE_CALL = {Lib("os.environ"), Lib("sys.argv")}
#: Why a value is not known that may be the same in each run.
FIXED_REASONS = frozenset({"parameter", "config", "configuration file", "kwargs", "required option"})
_TRUNCATING = ("builtins.int", "builtins.round")
_COMPUTED = frozenset(f"builtins.{name}" for name in ("operation", "int", "abs", "str", "sum", "float", "divmod"))

#: Sources that make a seed another one in each run of the program.
_NEW_IN_EACH_RUN = frozenset({"time", "main", "fresh"})


def is_same_in_each_run(number: int, frame: Frame, model: Model) -> bool:
    """Whether the seed that is expression `number` may be the same in each run of the program."""
    sources = set(seed_sources(number, frame, model))
    return "fixed" in sources and not sources & _NEW_IN_EACH_RUN


def seed_sources(number: int, frame: Frame, model: Model, depth: int = 0) -> Iterator[Source]:
    """Where the seed that is expression `number` comes from, through arithmetic and conversions."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Attr) and _changes_later(e, frame, model):
        yield "moving"
    elif isinstance(e, ir.Index) and _OF_THE_CALL & model.ev.eval(e.base, frame).atoms:
        yield "fixed"
    elif _is_looked_up(number, frame, model, depth):
        yield "unknown"
    elif loops := enumerations(number, frame, model):
        yield "fixed" if all(sets_up(loop, model) for loop in loops) else "moving"
    elif isinstance(e, ir.Bin | ir.Unary | ir.BoolOp) and depth < 8:
        for operand in _operands(e):
            yield from seed_sources(operand, frame, model, depth + 1)
    else:
        yield from _value_sources(model.ev.eval(number, frame), model, depth)


def _is_looked_up(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether a value is looked up for the sample: `self.seeds[index]`, `self.samples[index]["seed"]`."""
    if depth >= 8:
        return False
    match model.ev.expr(frame, number):
        case ir.Index(base, index):
            looked_up = set(seed_sources(index, frame, model, depth + 1)) != {"fixed"}
            return looked_up or _is_looked_up(base, frame, model, depth + 1)
        case ir.Attr(base, _) | ir.Element(base) | ir.Unpack(base, _, _):
            return _is_looked_up(base, frame, model, depth + 1)
    return False


def _changes_later(e: ir.Attr, frame: Frame, model: Model) -> bool:
    """Whether the attribute is set again after its object was created, for example by `set_epoch`."""
    return any(
        not store.construction
        for owner in model.ev.eval(e.base, frame).only(Instance)
        for store in model.ev.classes.stores(owner, e.name)
    )


def _value_sources(seed: Val, model: Model, depth: int) -> Iterator[Source]:
    for atom in seed.atoms:
        yield from _atom_sources(atom, model, depth)


def _atom_sources(atom: Atom, model: Model, depth: int) -> Iterator[Source]:
    match atom:
        case Literal_(value=None):
            yield "optional" if depth else "unknown"  # seed(None) takes the system's entropy; nothing adds to None
        case Literal_():
            yield "fixed"
        case Unknown("worker id"):
            yield "worker id"
        case Unknown() if atom in INDICES:
            yield "index"
        case Unknown(reason):
            yield "fixed" if reason in FIXED_REASONS else "unknown"
        case SeqOf(_, items):
            for item in items:
                yield from _value_sources(item, model, depth + 1)
        case LibMember(LibObject("torch.utils.data.get_worker_info"), name):
            yield "worker id" if name == "id" else "fixed" if name == "num_workers" else "fresh"
        case LibObject(name, site) if name in _TRUNCATING and _is_of_time(atom, model):
            yield "time" if site.frame in model.reached else _of_main(site, model)
        case LibObject(name, site) if name in _COMPUTED and depth < 8:
            for operand in _operands(model.ev.expr(site.frame, site.expr)):
                yield from seed_sources(operand, site.frame, model, depth + 1)
        case LibObject(_, site) if isinstance(e := model.ev.expr(site.frame, site.expr), ir.Element | ir.Unpack):
            yield from _item_sources(e, site, model, depth)
        case LibObject(name, _) if _PER_PROCESS.search(name):
            yield "fixed"
        case LibObject(name, site) if site.frame not in model.reached:
            # created in the main process, before the workers: the same in all of them, whatever it is
            yield _of_main(site, model) if not name.startswith("torch.utils.data") else "unknown"
        case LibObject(name, _) if name.startswith("numpy.random.get_state"):
            yield "state"
        case LibObject(name, site) if name in NUMPY_GLOBAL_DRAWS:
            yield from _draw_sources(site, model, depth)
        case LibObject(name, _):
            yield "fresh" if "initial_seed" in name else "unknown"
        case _:
            yield "unknown"


def _item_sources(e: ir.Element | ir.Unpack, site: Site, model: Model, depth: int) -> Iterator[Source]:
    """The source of an item of something that is not known item by item. What a worker takes apart is as fresh as its
    whole: `low, high = sequence.generate_state(2)`."""
    if site.frame not in model.reached:
        loop = loop_of(site.expr, site.frame, model)
        yield "fixed" if loop is not None and sets_up(loop, model) else "moving"
        return
    if isinstance(e, ir.Element):
        yield "moving"
    if depth >= 8:
        yield "unknown"
        return
    whole = e.iterable if isinstance(e, ir.Element) else e.value
    yield from seed_sources(whole, site.frame, model, depth + 1)


def _draw_sources(drawn: Site, model: Model, depth: int) -> Iterator[Source]:
    """The source of a number that a worker draws from NumPy's state: the seed that the same def gave NumPy before,
    otherwise the state that the worker started with."""
    seeds = [
        seed
        for call in model.frame_calls(drawn.frame)
        if call.number < drawn.expr and Lib("numpy.random.seed") in call.callee.atoms
        for _, seed in seeds_of(call)
    ]
    if not seeds or depth >= 8:
        yield "inherited"
        return
    yield from seed_sources(seeds[-1], drawn.frame, model, depth + 1)


def _of_main(site: Site, model: Model) -> Source:
    """The source of what the main process computes at `site`: once, or in each iteration of a loop. The callers of a
    function that is named after the epoch may be unknown."""
    if "epoch" in model.def_of(site.frame).name.lower():
        return "moving"
    return "moving" if any(True for _ in loops_around(site.frame, step_context(site, model), model)) else "main"


def _is_of_time(truncated: LibObject, model: Model) -> bool:
    """Whether this is `int(time.time())`: its seconds are the same in all workers, its fractions are not."""
    frame = truncated.site.frame
    operands = _operands(model.ev.expr(frame, truncated.site.expr))
    atoms = model.ev.eval(operands[0], frame).atoms if operands else frozenset()
    return bool(atoms) and all(isinstance(a, LibObject) and a.name == "time.time" for a in atoms)


def _operands(e: ir.Expr | None) -> tuple[int, ...]:
    match e:
        case ir.Bin(_, left, right) | ir.BoolOp(_, left, right):
            return (left, right)
        case ir.Unary(_, operand):
            return (operand,)
        case ir.Call(_, args):
            return tuple(arg.value for arg in args)
        case ir.Augmented(_, target, value):
            return (target, value)
    return ()
