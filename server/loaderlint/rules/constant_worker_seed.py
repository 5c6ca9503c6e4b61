"""
# constant-worker-seed (LDR103)

## What it does
Finds `worker_init_fn`s that seed from something which does not change from epoch to epoch, or not from worker to worker:
a constant, `worker_id` alone, the whole second of `time.time()`, or `np.random.get_state()[1][0]`.

## Why is this bad?
torch gives each worker a fresh seed in each epoch. Such a function throws it away. Measured on torch 1.8 and 2.13:
`np.random.seed(0)` makes all workers draw the same numbers in all epochs; `np.random.seed(worker_id)` repeats the numbers in
every epoch. `np.random.get_state()[1][0] + worker_id`, the idiom of a well-known article, is worse on torch 1.9 and later:
that word of the state is always 2147483648 there, so every epoch of every run of every project draws the same numbers.

## When it is not a bug
- The seed comes from `torch.initial_seed()` or `get_worker_info().seed`.
- `worker_id` alone with `persistent_workers=True`: the function runs once.
- Loaders for evaluation, where the same numbers each time are wanted: a hint at most.
- A loader without workers never calls the function.

## Example
```python
def init(worker_id):
    np.random.seed(42 + worker_id)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fixed
```python
def init(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fix safety
Safe: every seeding call of the function is changed at once. One that is left (`torch.manual_seed(42)`) would make
`torch.initial_seed()` a constant.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.findings import Evidence, Finding, Fix, Replace, Severity
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model, WorkerCall
from loaderlint.project.values import Atom, Lib, LibMember, LibObject, Literal_, SeqOf, Unknown, Val
from loaderlint.rules.base import Rule, in_workers_of, loudness, page

Source = Literal["fixed", "worker id", "time", "state", "fresh", "unknown"]
_FIXED_REASONS = frozenset({"parameter", "config", "kwargs", "required option"})
_COMPUTED = ("builtins.operation", "builtins.int", "builtins.abs", "builtins.str", "builtins.sum", "builtins.float")
_EVALUATION = re.compile(r"val|test|eval|infer|predict", re.IGNORECASE)
_REPLACEMENTS = {
    "numpy.random.seed": "{numpy}.random.seed({torch}.initial_seed() % 2**32)",
    "random.seed": "{random}.seed({torch}.initial_seed() % 2**32)",
    "torch.manual_seed": "{torch}.manual_seed({torch}.initial_seed())",
}


class Seeding(NamedTuple):
    """A seeding call in a worker_init_fn: which function, what it is given, and where that comes from."""

    call: WorkerCall
    function: str
    sources: frozenset[Source]


def find(loader: Loader, model: Model) -> Iterator[Finding]:
    """One finding a worker_init_fn, at its first bad seed (NumPy's before others)."""
    exposure = model.exposed(1 << loader.index, 0, 1)
    if exposure is None:
        return
    seedings = list(_seedings(loader, model))
    if any("fresh" in s.sources and s.function.startswith("torch.") for s in seedings):
        return  # torch's own state is set from something fresh first; what follows may be derived from it
    bad = [s for s in seedings if not s.sources & {"fresh", "unknown"}]
    if not bad:
        return
    first = min(bad, key=lambda s: not s.function.startswith("numpy"))
    severity = _severity(first, loader, exposure)
    if severity is None:
        return
    frame = first.call.frame
    also = [Evidence(model.place(s.call.frame, s.call.number), f"`{s.function}` too") for s in bad if s is not first]
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{_effect(first.sources)} {in_workers_of(exposure)}: {_cause(first.sources)}; "
        "seed from `torch.initial_seed() % 2**32`",
        model.place(frame, _seed_expression(first.call)),
        first.function,
        (*also, *model.why(frame, exposure)),
        _fixes(seedings, bad, model),
    )


def _seedings(loader: Loader, model: Model) -> Iterator[Seeding]:
    for reached in model.reached.values():
        if not reached.loaders.get("init", 0) >> loader.index & 1:
            continue
        for call in model.frame_calls(reached.frame):
            for atom in call.callee.only(Lib):
                if isinstance(atom, Lib) and SEEDERS.get(atom.name) in ("numpy", "python", "torch", "all"):
                    if call.call.args and not atom.name.endswith("set_state"):
                        seed = model.ev.eval(call.call.args[0].value, call.frame)
                        yield Seeding(call, atom.name, frozenset(_sources(seed, model, 0)))


def _sources(seed: Val, model: Model, depth: int) -> Iterator[Source]:
    for atom in seed.atoms:
        yield from _atom_sources(atom, model, depth)


def _atom_sources(atom: Atom, model: Model, depth: int) -> Iterator[Source]:
    """Where a seed comes from, through arithmetic and conversions."""
    match atom:
        case Literal_():
            yield "fixed"
        case Unknown("worker id"):
            yield "worker id"
        case Unknown(reason):
            yield "fixed" if reason in _FIXED_REASONS else "unknown"
        case SeqOf(_, items):
            for item in items:
                yield from _sources(item, model, depth + 1)
        case LibMember(LibObject("torch.utils.data.get_worker_info"), name):
            yield "worker id" if name == "id" else "fixed" if name == "num_workers" else "fresh"
        case LibObject(name, site) if not _in_init(site.frame, model):
            # made in the main process, before the workers: the same in all of them, whatever it is
            yield "fixed" if not name.startswith("torch.utils.data") else "unknown"
        case LibObject(name, site) if name.startswith("numpy.random.get_state"):
            yield "state"
        case LibObject("time.time" | "time.time_ns", _):
            yield "time"
        case LibObject(name, site) if name in _COMPUTED and depth < 8:
            yield from _operand_sources(site.frame, site.expr, model, depth)
        case LibObject(name, _):
            yield "fresh" if "initial_seed" in name else "unknown"
        case _:
            yield "unknown"


def _in_init(frame: Frame, model: Model) -> bool:
    reached = model.reached.get(frame)
    return reached is not None and bool(reached.loaders.get("init", 0))


def _operand_sources(frame: Frame, number: int, model: Model, depth: int) -> Iterator[Source]:
    e = model.ev.expr(frame, number)
    operands: tuple[int, ...] = ()
    if isinstance(e, ir.Bin):
        operands = (e.left, e.right)
    elif isinstance(e, ir.Unary):
        operands = (e.operand,)
    elif isinstance(e, ir.Call):
        operands = tuple(arg.value for arg in e.args)
    elif isinstance(e, ir.Augmented):
        operands = (e.target, e.value)
    if not operands:
        yield "unknown"
    for operand in operands:
        yield from _sources(model.ev.eval(operand, frame), model, depth + 1)


def _severity(seeding: Seeding, loader: Loader, exposure: Exposure) -> Severity | None:
    """Error where workers or runs agree; worker_id alone is a warning, if the function runs in each epoch."""
    alone = "worker id" in seeding.sources and "state" not in seeding.sources
    if "time" in seeding.sources and "worker id" in seeding.sources:
        return None
    if not alone:
        severity: Severity | None = loudness(Severity.ERROR, exposure.certainty)
    elif loader.persistent:
        return None
    else:
        severity = loudness(Severity.WARNING, exposure.certainty, 1 if loader.persistent is None else 0)
    return Severity.HINT if severity is not None and _is_evaluation(loader) else severity


def _is_evaluation(loader: Loader) -> bool:
    shuffle = loader.argument("shuffle").literal
    ordered = shuffle is not None and not shuffle.value and loader.argument("sampler").literal is not None
    return ordered and bool(_EVALUATION.search(loader.name))


def _effect(sources: frozenset[Source]) -> str:
    if "state" in sources:
        return "every epoch of every run draws the same numbers"
    if "worker id" in sources:
        return "every epoch draws the same numbers"
    return "every worker draws the same numbers"


def _cause(sources: frozenset[Source]) -> str:
    if "state" in sources:
        return "this word of NumPy's state is a constant on torch 1.9 and later"
    if "worker id" in sources:
        return "this seed is the same each time a worker starts"
    if "time" in sources:
        return "this seed is the same for all workers that start within a second"
    return "this seed is the same in all of them"


def _seed_expression(call: WorkerCall) -> int:
    return call.call.args[0].value


def _fixes(seedings: list[Seeding], bad: list[Seeding], model: Model) -> tuple[Fix, ...]:
    """Change every bad seeding call, if all of them stand in the worker_init_fn itself."""
    for one in bad:
        if one.function not in _REPLACEMENTS or model.def_of(one.call.frame).kind == "lambda":
            return ()
        reached = model.reached[one.call.frame]
        if any(parent is not None for parent in reached.parents.values()):
            return ()
    intents = tuple(Replace(model.place(s.call.frame, s.call.number), _REPLACEMENTS[s.function]) for s in bad)
    if len(seedings) != len(bad):
        return ()
    return (Fix("Seed from `torch.initial_seed() % 2**32`", "safe", intents),)


RULE = Rule(
    code="LDR103",
    name="constant-worker-seed",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
