"""Functions that a call runs in several processes: by a pool, a dataset that is mapped, a ParallelMapper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty
from loaderlint.knowledge.process_pools import PARALLEL_MAPPERS, POOL_METHODS, POOLS, SHARDED_METHODS
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    FunctionRef,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    Method,
    SeqOf,
    Val,
    join,
    of,
    unknown,
)
from loaderlint.project.reach.model import Model, WorkerCall

_ITEM = Arguments((unknown("item"),))
_AS_MANY_AS_PROCESSORS = of(Literal_("int", 2))
#: How the arguments of the function are passed, by method; the others pass one item.
_SPREAD = frozenset({"submit"})
_PACKED = frozenset({"apply", "apply_async"})


class Mapping(NamedTuple):
    """A function that a call runs in several processes. `library`: what starts them; `processes`: how many, as a value;
    `context`: what the call says of how they start; `first`: what each process runs before."""

    library: str

    function: Val
    arguments: Arguments
    processes: Val
    context: Val | None
    first: Val | None


def mappings(call: WorkerCall, model: Model) -> Iterator[Mapping]:
    """The functions that a call runs in several processes."""
    arguments = model.ev.calls.arguments(call.call, call.frame)
    for function in call.callee.only(Lib):
        if function.name in PARALLEL_MAPPERS:
            yield from _parallel_mapper(arguments)
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr):
        return
    if func.name in SHARDED_METHODS and not call.callee.only(FunctionRef, Method):
        yield from _sharded(arguments)
    if func.name in POOL_METHODS:
        for method in call.callee.only(LibMember):
            if isinstance(method.owner, LibObject) and method.owner.name in POOLS:
                yield from _pooled(method.owner, func.name, arguments, model)


def _parallel_mapper(arguments: Arguments) -> Iterator[Mapping]:
    function, count = arguments.get("map_fn", 1), arguments.get("num_workers", 2)
    method = arguments.get("method", 4)
    if function is not None and count is not None and method is not None and method.literal is not None:
        if method.literal.value == "process":
            yield Mapping("torchdata", function, _ITEM, count, arguments.get("multiprocessing_context", 5), None)


def _sharded(arguments: Arguments) -> Iterator[Mapping]:
    """`dataset.map(f, num_proc=4)`: a keyword that nothing else has."""
    function = arguments.get("function", 0)
    count = next((value for name, value in arguments.keywords if name == "num_proc"), None)
    if function is not None and count is not None:
        yield Mapping("datasets", function, _ITEM, count, None, None)


def _pooled(pool: LibObject, method: str, arguments: Arguments, model: Model) -> Iterator[Mapping]:
    if not arguments.positional:
        return
    kind, made = POOLS[pool.name], model.ev.calls.site_arguments(pool.site)
    function, rest = arguments.positional[0], arguments.positional[1:]
    if method in _SPREAD:
        passed = Arguments(rest, arguments.keywords, arguments.more_positional, arguments.more_keywords)
    elif method in _PACKED:
        packed = arguments.get("args", 1)
        sequences = packed.only(SeqOf) if packed is not None else []
        items = sequences[0].items if len(sequences) == 1 else ()
        passed = Arguments(items, more_positional=not items, more_keywords=True)
    elif method.startswith("starmap"):
        passed = _unpacked(_item(rest))
    else:
        passed = Arguments((_item(rest),))
    context = made.get(*kind.context)
    if pool.name.endswith(".get_context.Pool"):
        context = _context_of(pool, model)
    count = made.get(*kind.processes)
    if count is None or count.is_none:
        count = _AS_MANY_AS_PROCESSORS
    yield Mapping("multiprocessing", function, passed, count, context, made.get(*kind.initializer))


def _item(iterables: tuple[Val, ...]) -> Val:
    """One of the items that `pool.map(f, items)` passes on."""
    lists = [atom for atom in iterables[0].atoms if isinstance(atom, SeqOf) and atom.items] if iterables else []
    is_known = bool(lists) and len(lists) == len(iterables[0].atoms)
    return join(item for one in lists for item in one.items) if is_known else unknown("item")


def _unpacked(item: Val) -> Arguments:
    """The arguments that `pool.starmap` makes of an item."""
    tuples = [atom for atom in item.atoms if isinstance(atom, SeqOf)]
    if len(tuples) != 1 or len(item.atoms) != 1:
        return Arguments(more_positional=True)
    return Arguments(tuples[0].items)


def _context_of(pool: LibObject, model: Model) -> Val | None:
    """What `get_context("fork").Pool(4)` is made from."""
    call = model.ev.expr(pool.site.frame, pool.site.expr)
    func = model.ev.expr(pool.site.frame, call.func) if isinstance(call, ir.Call) else None
    return model.ev.eval(func.base, pool.site.frame) if isinstance(func, ir.Attr) else None


def several_processes(processes: Val) -> Certainty | None:
    """Whether there are two processes or more: proven, possible, or None if there are not."""
    answers = {
        atom.value > 1 if isinstance(atom, Literal_) and isinstance(atom.value, int | float) else None
        for atom in processes.atoms
        if not (isinstance(atom, Literal_) and atom.value is None)
    }
    if answers == {True}:
        return "proven"
    return "possible" if True in answers or None in answers else None


def run_by_call(function: Val, arguments: Arguments, call: WorkerCall, model: Model) -> tuple[Frame, ...]:
    """The frames that a function runs in, as it is called for `call`."""
    return model.ev.calls.call(function, arguments, call.frame, call.number, {})[1]


def runner(call: WorkerCall, model: Model) -> str:
    """'Pool.map', 'ProcessPoolExecutor.map', 'Dataset.map' or 'ParallelMapper', as far as it can be said."""
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr):
        return "ParallelMapper"
    owners = [atom.owner.name for atom in call.callee.only(LibMember) if isinstance(atom.owner, LibObject)]
    pools = [name for name in owners if name in POOLS]
    kind = pools[0].rpartition(".")[2] if pools else "Dataset"
    return f"{kind}.{func.name}"
