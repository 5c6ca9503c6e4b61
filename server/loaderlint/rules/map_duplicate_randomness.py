"""
# map-duplicate-randomness (LDR108)

## What it does
Finds random numbers of NumPy (or of a generator object that the main process made) in a function that is mapped over
data in several processes: `Dataset.map(f, num_proc=4)` and `filter` of Hugging Face's datasets, `Pool.map` and its kin,
`ProcessPoolExecutor`, and torchdata's `ParallelMapper` with `method="process"`.

## Why is this bad?
Nothing seeds these processes. Forked ones go on from a copy of NumPy's global state, and a generator object that the
function uses is copied into each of them: they all draw the same numbers. Measured with 4 processes on Python 3.11:
`Dataset.map` of datasets 5 gives each shard the same noise, `Pool.map` the same numbers to each process. A generator
that is bound to the function (`partial(f, rng=rng)`, a method's `self.rng`) is pickled with each task and starts anew
there too. (NumPy 2.4 loads `numpy.random` when it is first used: where nothing in the main process has used it, forked
processes load their own.) What the mapped data holds is usually kept: the repeated numbers are in the training set for
good.

## When it is not a bug
- The function seeds NumPy itself, or makes a generator from something of the item: `default_rng((seed, index))`.
- The pool's `initializer` seeds NumPy in each process.
- One process; threads (`ThreadPool`, `ParallelMapper` without `method="process"`).
- Python's own `random.random()` and its kin: CPython seeds them in each forked child.
- NumPy's global state where the processes do not start by fork.

## Example
```python
def add_noise(example):
    example["noisy"] = example["value"] + np.random.normal()
    return example

dataset = dataset.map(add_noise, num_proc=4)
```

## Fixed
```python
def add_noise(example, index):
    rng = np.random.default_rng((SEED, index))
    example["noisy"] = example["value"] + rng.normal()
    return example

dataset = dataset.map(add_noise, num_proc=4, with_indices=True)
```

## Fix safety
The quick fix draws from a generator that each process makes for itself, from the system's entropy. It is unsafe: the
function may run in the main process as well, where a seed determined its numbers. Numbers that can be repeated need
the form above.

## References
- [Parallel random number generation](https://numpy.org/doc/stable/reference/random/parallel.html)
- [datasets: multiprocessing](https://huggingface.co/docs/datasets/process#multiprocessing)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, Severity, Silence
from loaderlint.knowledge.process_pools import PARALLEL_MAPPERS, POOL_METHODS, POOLS, SHARDED_METHODS, THREAD_POOLS
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.callers import asks_self
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    Method,
    SeqOf,
    Unknown,
    Val,
    of,
    unknown,
)
from loaderlint.project.reach.model import MainFunction, Model, WorkerCall
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.inherited_randomness import Inherited, inherited, process_fix, seeds_numpy
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.silence_reasons import silent, too_unsure

_ITEM = Arguments((unknown("item"),))
_AS_MANY_AS_PROCESSORS = of(Literal_("int", 2))
#: How the arguments of the function are passed, by method; the others pass one item.
_SPREAD = frozenset({"submit"})
_PACKED = frozenset({"apply", "apply_async"})


#: What a file holds that makes a pool, beside its name.
_POOL_MODULES = ("multiprocess", "concurrent.futures")
#: What a file holds that uses a pool: `Pool(...)`, `pool.map(...)`, `executor.submit(...)`.
_POOL_WORDS = ("Pool", "pool", "xecutor")
#: Expressions that are no pool, whatever they are made of.
_NO_POOLS = (ir.Const, ir.Text, ir.Seq, ir.Map, ir.Comp, ir.Compare, ir.Bin)
#: What a file holds that has a dataset mapped in processes.
_SHARDS = "num_proc"
_MAPPERS = frozenset(name.rpartition(".")[2] for name in PARALLEL_MAPPERS)


class Mapping(NamedTuple):
    """A function that a call runs in several processes. `processes`: how many, as a value; `context`: what the call
    says of how they start; `first`: what each process runs before."""

    function: Val
    arguments: Arguments
    processes: Val
    context: Val | None
    first: Val | None


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a draw or generator, for every function that the main function has run in processes."""
    names = _names(function.path, model)
    if not function.calls_one_of(names, _may_map) or not _may_map_for_anyone(function, names, model):
        return
    for frame in function.frames:
        for call in model.calls_named(frame, names):
            for mapping in _mappings(call, model):
                certainty = _certainty(mapping.processes)
                if certainty is not None:
                    yield from _judge(mapping, call, certainty, model)


def _names(path: Path, model: Model) -> frozenset[str]:
    """How the calls of a file are called that may run something in processes, by the words that it holds: most of what
    has a method `apply` is no pool."""
    used = any(path in model.files.containing(word) for word in _POOL_WORDS)
    pools = POOL_METHODS if used and model.once(_has_pools) else frozenset[str]()
    sharded = SHARDED_METHODS if path in model.files.containing(_SHARDS) else frozenset[str]()
    return pools | sharded | _MAPPERS


def _has_pools(model: Model) -> bool:
    """Whether a pool may be made anywhere."""
    made = {path for word in _POOL_MODULES for path in model.files.containing(word)}
    return not made.isdisjoint(model.files.containing("Pool"))


def _may_map(call: ir.Call, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a call, as it is written, may run something in processes: it says how many, or it passes a function to a
    method of what may be a pool."""
    func = exprs[call.func]
    if not isinstance(func, ir.Attr) or func.name in _MAPPERS:
        return True
    kinds = {arg.kind for arg in call.args}
    if func.name in SHARDED_METHODS and ("starstar" in kinds or any(arg.name == "num_proc" for arg in call.args)):
        return True
    if func.name not in POOL_METHODS or not ("pos" in kinds or "star" in kinds):
        return False
    # `frame[column].apply(f)` is pandas; `executors[i].submit(f)` may well be a pool
    is_column = func.name in ("map", "apply") and isinstance(exprs[func.base], ir.Index)
    return not is_column and not isinstance(exprs[func.base], _NO_POOLS)


def _may_map_for_anyone(function: MainFunction, names: frozenset[str], model: Model) -> bool:
    """Whether one of the calls may run something in processes where nothing is known of the def's callers, which are
    far to seek."""
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


def _judge(mapping: Mapping, call: WorkerCall, certainty: Certainty, model: Model) -> Iterator[Finding | Silence]:
    named = model.named_start_methods(mapping.context) if mapping.context is not None else frozenset[str]()
    frames = model.run_by(_run(mapping.function, mapping.arguments, call, model))
    if not frames:
        return
    here = Spot(call.frame, call.number)
    before = model.run_by(_run(mapping.first, Arguments(more_positional=True), call, model)) if mapping.first else ()
    if mapping.first is not None and not _is_none(mapping.first) and (not before or _any_seeds(before, model)):
        reason = "its initializer seeds, or nobody knows what it does"
        yield from silent(RULE.name, here, reason, model)
        return
    severity = loudness(Severity.WARNING, certainty)
    if severity is None:
        yield from silent(RULE.name, here, too_unsure(certainty), model)
        return
    found = list(inherited((*before, *frames), lambda: named or model.process_start_methods(call.frame.path), model))
    if not found:
        reason = "nothing that its processes run draws from a state that they all start from, as far as is known"
        yield from silent(RULE.name, here, reason, model)
    for one in found:
        yield _finding(one, call, certainty, severity, frames, model)


def _finding(
    one: Inherited, call: WorkerCall, certainty: Certainty, severity: Severity, frames: tuple[Frame, ...], model: Model
) -> Finding:
    runner = _runner(call, model)
    intents = process_fix(one, frames, model)
    start = Evidence(model.place(call.frame, call.number), f"{model.label(frames[0])} runs in the processes of this")
    return Finding(
        RULE.name,
        severity,
        certainty,
        f"every process draws the same numbers: {one.cause(model)}, and each process of `{runner}` in "
        f"{call.frame.path.name} starts from a copy of it; draw from `np.random.default_rng((seed, index))`, with "
        "something of the item as `index`",
        one.place(model),
        one.name,
        (start, *one.evidence(model)),
        (Fix("Draw from a generator of the process", "unsafe", intents),) if intents else (),
    )


# --- what runs in processes -------------------------------------------------------------------------------------------


def _mappings(call: WorkerCall, model: Model) -> Iterator[Mapping]:
    arguments = model.ev.calls.arguments(call.call, call.frame)
    for atom in call.callee.only(Lib):
        if isinstance(atom, Lib) and atom.name in PARALLEL_MAPPERS:
            yield from _parallel_mapper(arguments)
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr):
        return
    if func.name in SHARDED_METHODS and not call.callee.only(FunctionRef, Method):
        yield from _sharded(arguments)
    if func.name in POOL_METHODS:
        for atom in call.callee.only(LibMember):
            if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject) and atom.owner.name in POOLS:
                yield from _pooled(atom.owner, func.name, arguments, model)


def _parallel_mapper(arguments: Arguments) -> Iterator[Mapping]:
    function, count = arguments.get("map_fn", 1), arguments.get("num_workers", 2)
    method = arguments.get("method", 4)
    if function is not None and count is not None and method is not None and method.literal is not None:
        if method.literal.value == "process":
            yield Mapping(function, _ITEM, count, arguments.get("multiprocessing_context", 5), None)


def _sharded(arguments: Arguments) -> Iterator[Mapping]:
    """`dataset.map(f, num_proc=4)`: a keyword that nothing else has."""
    function = arguments.get("function", 0)
    count = next((value for name, value in arguments.keywords if name == "num_proc"), None)
    if function is not None and count is not None:
        yield Mapping(function, _ITEM, count, None, None)


def _pooled(pool: LibObject, method: str, arguments: Arguments, model: Model) -> Iterator[Mapping]:
    if not arguments.positional:
        return
    kind, made = POOLS[pool.name], model.ev.calls.site_arguments(pool.site)
    function, rest = arguments.positional[0], arguments.positional[1:]
    passed = _ITEM
    if method in _SPREAD:
        passed = Arguments(rest, arguments.keywords, arguments.more_positional, arguments.more_keywords)
    elif method in _PACKED:
        packed = arguments.get("args", 1)
        sequences = packed.only(SeqOf) if packed is not None else []
        items = sequences[0].items if len(sequences) == 1 and isinstance(sequences[0], SeqOf) else ()
        passed = Arguments(items, more_positional=not items, more_keywords=True)
    elif method.startswith("starmap"):
        passed = Arguments(more_positional=True)
    context = made.get(*kind.context)
    if pool.name.endswith(".get_context.Pool"):
        context = _context_of(pool, model)
    count = made.get(*kind.processes)
    if count is None or _is_none(count):
        count = _AS_MANY_AS_PROCESSORS
    yield Mapping(function, passed, count, context, made.get(*kind.initializer))


def _context_of(pool: LibObject, model: Model) -> Val | None:
    """What `get_context("fork").Pool(4)` is made from."""
    call = model.ev.expr(pool.site.frame, pool.site.expr)
    func = model.ev.expr(pool.site.frame, call.func) if isinstance(call, ir.Call) else None
    return model.ev.eval(func.base, pool.site.frame) if isinstance(func, ir.Attr) else None


def _certainty(processes: Val) -> Certainty | None:
    """Whether there are two processes or more: proven, possible, or None if there are not."""
    answers = {
        atom.value > 1 if isinstance(atom, Literal_) and isinstance(atom.value, int | float) else None
        for atom in processes.atoms
        if not (isinstance(atom, Literal_) and atom.value is None)
    }
    if answers == {True}:
        return "proven"
    return "possible" if True in answers or None in answers else None


def _is_none(value: Val) -> bool:
    return value.literal is not None and value.literal.value is None


def _run(function: Val, arguments: Arguments, call: WorkerCall, model: Model) -> tuple[Frame, ...]:
    return model.ev.calls.call(function, arguments, call.frame, call.number, {})[1]


def _any_seeds(frames: tuple[Frame, ...], model: Model) -> bool:
    return any(seeds_numpy(call) for frame in frames for call in model.frame_calls(frame))


def _runner(call: WorkerCall, model: Model) -> str:
    """'pool.map', 'dataset.map', 'ParallelMapper', as far as it can be said."""
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr):
        kinds = [a for a in call.callee.only(LibMember) if isinstance(a, LibMember) and isinstance(a.owner, LibObject)]
        pooled = any(isinstance(a.owner, LibObject) and a.owner.name in POOLS for a in kinds)
        return f"{'Pool' if pooled and func.name != 'submit' else 'Dataset' if not pooled else 'Executor'}.{func.name}"
    return "ParallelMapper"


RULE = Rule(
    code="LDR108",
    name="map-duplicate-randomness",
    severity=Severity.WARNING,
    needs="M",
    over="main function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    words=(
        ".map(",
        ".filter(",
        ".imap",
        "map_async(",
        ".starmap",
        ".apply(",
        ".apply_async(",
        ".submit(",
        "ParallelMapper(",
    ),
    beside=(*_POOL_WORDS, _SHARDS, *sorted(_MAPPERS)),
)
