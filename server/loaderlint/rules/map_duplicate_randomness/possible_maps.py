"""Whether a def may run something in several processes, judging by its text and by what is known about all its callers.

To find the callers of each def that has a method called `map` or `apply` would take long.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.process_pools import PARALLEL_MAPPERS, POOL_METHODS, POOLS, SHARDED_METHODS, THREAD_POOLS
from loaderlint.project.evaluation.callees import asks_self
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Method,
    Unknown,
    Val,
    of,
)
from loaderlint.project.reach.model import MainFunction, Model

#: How a file that uses `multiprocessing` names its pool of processes. `ThreadPool` is none.
_POOLS = (".Pool", " Pool", "(Pool", ",Pool")
#: What a file holds that uses a pool: `Pool(...)`, `pool.map(...)`, `executor.submit(...)`.
POOL_WORDS = ("Pool", "pool", "xecutor")
#: Expressions that are no pool, whatever they are made of.
_NO_POOLS = (ir.Const, ir.Text, ir.Seq, ir.Map, ir.Comp, ir.Compare, ir.Bin)
#: What a file holds that has a dataset mapped in processes.
SHARDS = "num_proc"
MAPPERS = frozenset(name.rpartition(".")[2] for name in PARALLEL_MAPPERS)


def may_map(function: MainFunction, model: Model) -> bool:
    """Whether a def may run something in several processes, for any caller."""
    names = map_names(function.path, model)
    return function.calls_one_of(names, _may_map) and _may_map_for_anyone(function, names, model)


def map_names(path: Path, model: Model) -> frozenset[str]:
    """How the calls of a file are called that may run something in processes, by the words that it holds: most of what
    has a method `apply` is no pool."""
    used = any(path in model.files.containing(word) for word in POOL_WORDS)
    pools = POOL_METHODS if used and model.once(_has_pools) else frozenset[str]()
    sharded = SHARDED_METHODS if path in model.files.containing(SHARDS) else frozenset[str]()
    return pools | sharded | MAPPERS


def _has_pools(model: Model) -> bool:
    """Whether a pool of processes may be made anywhere."""
    containing = model.files.containing
    if containing("ProcessPool"):
        return True
    multiprocessing = set(containing("multiprocess"))
    return any(not multiprocessing.isdisjoint(containing(word)) for word in _POOLS)


def _may_map(call: ir.Call, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a call, as it is written, may run something in processes: it says how many, or it passes a function to a
    method of what may be a pool."""
    func = exprs[call.func]
    if not isinstance(func, ir.Attr) or func.name in MAPPERS:
        return True
    kinds = {arg.kind for arg in call.args}
    if func.name in SHARDED_METHODS and ("starstar" in kinds or any(arg.name == "num_proc" for arg in call.args)):
        return True
    if func.name not in POOL_METHODS or not ("pos" in kinds or "star" in kinds):
        return False
    # `frame[column].apply(f)` is pandas; `executors[i].submit(f)` may be a pool
    is_column = func.name in ("map", "apply") and isinstance(exprs[func.base], ir.Index)
    return not is_column and not isinstance(exprs[func.base], _NO_POOLS)


def _may_map_for_anyone(function: MainFunction, names: frozenset[str], model: Model) -> bool:
    """Whether one of the calls may run something in processes where nothing is known about the def's callers, which
    take long to find."""
    frame = function.opened
    if frame is None:
        return True
    return any(
        _may_be_mapper(step, call, frame, function, model)
        for step, call in function.calls_named(names)
        if _may_map(call, function.exprs) and not model.ev.liveness.is_dead(step.context, frame)
    )


def _may_be_mapper(step: ir.Perform, call: ir.Call, frame: Frame, function: MainFunction, model: Model) -> bool:
    """Whether a call may be of a mapper or a method of a pool, or of a dataset if it says how many, for some caller:
    also one with an object of a class that derives from that of the opened `frame`."""
    if _is_of_threads(call, function, model):
        return False
    shards = _says_how_many(call, function.exprs)
    callees = [model.ev.eval(call.func, frame)]
    path = _path_from_self(call.func, function.exprs)
    if isinstance(frame.receiver, Instance) and path:
        callees += _on_heirs(path, frame, frame.receiver, model)
    known = bool(path) or not asks_self(step.call, function.facts)
    return any(_may_map_for_some(atom, shards, known, frame, model) for callee in callees for atom in callee.atoms)


def _says_how_many(call: ir.Call, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a call may pass `num_proc` to a method of a dataset."""
    func = exprs[call.func]
    passed = any(arg.kind == "starstar" or arg.name == "num_proc" for arg in call.args)
    return passed and isinstance(func, ir.Attr) and func.name in SHARDED_METHODS


def _path_from_self(number: int, exprs: tuple[ir.Expr, ...]) -> tuple[str, ...]:
    """('pool', 'map') for `self.pool.map`; () for what is no attribute of the first parameter."""
    names: list[str] = []
    e = exprs[number]
    while isinstance(e, ir.Attr):
        names.append(e.name)
        e = exprs[e.base]
    return tuple(reversed(names)) if type(e) is ir.Param and e.index == 0 else ()


def _on_heirs(path: tuple[str, ...], frame: Frame, receiver: Instance, model: Model) -> Iterator[Val]:
    """What attributes of `self` are on objects of the classes that derive from its own."""
    for heir in model.callers.subclasses(receiver.cls):
        value = of(Instance(heir, None))
        for name in path:
            value = model.ev.attribute(value, name, frame, None)
        yield value


def _may_map_for_some(atom: Atom, shards: bool, known: bool, frame: Frame, model: Model) -> bool:
    """Whether a callee that is `atom` in an opened frame may be a mapper, or a method of a pool, for some caller; of a
    dataset, if the call `shards`. `known`: the callee is the same on all objects that the def may be run on."""
    match atom:
        case FunctionRef() | Method() | ClassRef():
            return False
        case Lib(name):
            return name in PARALLEL_MAPPERS
        case LibMember(LibObject(name, _), _):
            return shards or name in POOLS
        case Unknown(reason):
            return shards or not _is_unknown_to_all(reason, known, frame, model)
    return shards or not known


def _is_unknown_to_all(reason: str, known: bool, frame: Frame, model: Model) -> bool:
    """Whether what is not known in an opened frame is known to no caller either: what a decorator makes of a function,
    what a library's class has, what the object has not. A dataclass has what its callers pass."""
    if reason == "decorator" or not known:
        return reason == "decorator"
    if reason != "no such attribute" or not isinstance(frame.receiver, Instance):
        return reason in ("library attribute", "no such attribute")
    classes = [base for base in model.ev.classes.mro(frame.receiver.cls) if isinstance(base, ClassRef)]
    return not any(head.decorators for head in map(model.ev.classes.head, classes) if head is not None)


def _is_of_threads(call: ir.Call, function: MainFunction, model: Model) -> bool:
    """Whether a call is one of a parameter that is annotated as a pool of threads, or None."""
    func = function.exprs[call.func]
    base = function.exprs[func.base] if isinstance(func, ir.Attr) else None
    if type(base) is not ir.Param:
        return False
    annotation = function.written.params[base.index].annotation
    return annotation != NONE and all(one in THREAD_POOLS for one in _annotated(annotation, function, model))


def _annotated(annotation: int, function: MainFunction, model: Model) -> Iterator[str]:
    """The full names of the classes that an annotation names, '' for what is no library's: both of `A | B`."""
    match function.exprs[annotation]:
        case ir.Bin("|", left, right):
            yield from _annotated(left, function, model)
            yield from _annotated(right, function, model)
        case ir.Const(_, None):
            return
        case _:
            for atom in model.ev.eval(annotation, model.ev.body(function.path, function.piece)).atoms:
                yield atom.name if isinstance(atom, Lib) else ""
