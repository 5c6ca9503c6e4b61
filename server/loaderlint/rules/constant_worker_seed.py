"""
# constant-worker-seed (LDR103)

## What it does
Finds `worker_init_fn`s that seed from something which does not change from epoch to epoch, or not from worker to
worker: a constant, `worker_id` alone, the whole second of `time.time()`, or `np.random.get_state()[1][0]`.

## Why is this bad?
torch gives each worker a fresh seed in each epoch. Such a function throws it away. Measured on torch 1.8 and 2.13:
`np.random.seed(0)` makes all workers draw the same numbers in all epochs; `np.random.seed(worker_id)` repeats the
numbers in every epoch. `np.random.get_state()[1][0] + worker_id`, the idiom of a well-known article, is worse on torch
1.9 and later: that word of the state is always 2147483648 there, so every epoch of every run of every project draws the
same numbers.

## When it is not a bug
- The seed comes from `torch.initial_seed()` or `get_worker_info().seed`.
- `worker_id` alone with `persistent_workers=True`: the function runs once.
- The epoch enters the seed: an attribute that is set anew before each epoch, or a loader made in the loop over epochs.
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
from typing import NamedTuple, TypeGuard

from loaderlint.facts import ir
from loaderlint.findings import Evidence, Finding, Fix, Place, Replace, Severity
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model, WorkerCall
from loaderlint.project.values import Lib
from loaderlint.rules.base import Rule, in_workers_of, loudness, page
from loaderlint.rules.seed_sources import Source, seed_sources

_EVALUATION = re.compile(r"val|test|eval|infer|predict", re.IGNORECASE)
_LIBRARIES = ("numpy", "python", "torch", "all")
_FRESH = "{torch}.initial_seed() % 2**32"
_CALLS = {
    "numpy.random.seed": "{numpy}.random.seed",
    "random.seed": "{random}.seed",
    "torch.manual_seed": "{torch}.manual_seed",
}


class Seeding(NamedTuple):
    """A seeding call in a worker_init_fn: which function, where the seed comes from, and where it is written:
    expression `number` of `frame`, passed in the call `at` there (both are the call where the seed is a parameter)."""

    call: WorkerCall
    function: str
    sources: frozenset[Source]
    frame: Frame
    at: int
    number: int


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
    if "optional" in first.sources:
        exposure = Exposure(exposure.loaders, "possible")
    severity = _severity(first, loader, exposure)
    if severity is None:
        return
    place = model.place(first.frame, first.number)
    others = {model.place(s.frame, s.number): s.function for s in bad}
    also = [Evidence(other, f"`{function}` too") for other, function in others.items() if other != place]
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{_effect(first.sources)} {in_workers_of(exposure)}: {_cause(first.sources)}; "
        "seed from `torch.initial_seed() % 2**32`",
        place,
        first.function,
        (*also, *model.why(first.call.frame, exposure)),
        _fixes(seedings, bad, model),
    )


def _seedings(loader: Loader, model: Model) -> Iterator[Seeding]:
    for reached in model.reached.values():
        if not reached.loaders.get("init", 0) >> loader.index & 1:
            continue
        for call in model.frame_calls(reached.frame):
            seed = next((a.value for a in call.call.args[:1] if a.kind in ("pos", "kw")), None)
            for name in [a.name for a in call.callee.only(Lib) if isinstance(a, Lib)] if seed is not None else ():
                if SEEDERS.get(name) in _LIBRARIES and not name.endswith("set_state"):
                    sources = frozenset(seed_sources(call.call.args[0].value, call.frame, model))
                    yield Seeding(call, name, sources, *_written(call, loader, model))


def _written(call: WorkerCall, loader: Loader, model: Model) -> tuple[Frame, int, int]:
    """Frame, call and expression where a seed is written: through the parameters of helpers up to the call that passes
    it; the call twice where it comes from out of worker code."""
    frame, number, seed = call.frame, call.number, call.call.args[0].value
    for _ in range(8):
        if not isinstance(model.ev.expr(frame, seed), ir.Param):
            return frame, number, seed
        reached = model.reached.get(frame)
        parent = reached.parents.get(loader.index) if reached else None
        passed = _passed(parent, frame, seed, model) if parent else None
        if parent is None or passed is None:
            break
        frame, (number, seed) = parent, passed
    return frame, number, number


def _passed(caller: Frame, callee: Frame, param: int, model: Model) -> tuple[int, int] | None:
    """The call in `caller` that leads to `callee`, and the argument that it passes for the parameter `param`."""
    e = model.ev.expr(callee, param)
    number = next((n for n, targets in caller.targets.items() if callee in targets), None)
    call = model.ev.expr(caller, number) if number is not None else None
    if number is None or not isinstance(e, ir.Param) or not isinstance(call, ir.Call):
        return None
    name = model.def_of(callee).params[e.index].name
    position = e.index - (callee.receiver is not None)
    for index, arg in enumerate(call.args):
        if arg.kind in ("star", "starstar"):
            return None
        if arg.name == name or (arg.kind == "pos" and index == position):
            return number, arg.value
    return None


def _severity(seeding: Seeding, loader: Loader, exposure: Exposure) -> Severity | None:
    """Error where workers or runs agree; worker_id alone is a warning, if the function runs in each epoch."""
    sources = seeding.sources
    by_worker = "worker id" in sources and "state" not in sources
    if by_worker and sources & {"time", "moving", "main"}:
        return None
    if not by_worker:
        severity = loudness(Severity.ERROR, exposure.certainty)
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


def _fixes(seedings: list[Seeding], bad: list[Seeding], model: Model) -> tuple[Fix, ...]:
    """Change every seed at once, if all are bad and are written in the worker_init_fn itself that only workers call."""
    if len(seedings) != len(bad):
        return ()
    texts: dict[Place, str] = {}
    for one in bad:
        change = _change(one, bad, model) if _only_init(one.frame, model) else None
        if change is None:
            return ()
        if _FRESH not in texts.get(change[0], ""):  # NumPy's narrower seed does for all of them
            texts[change[0]] = change[1]
    intents = tuple(Replace(place, text) for place, text in texts.items())
    return (Fix("Seed from `torch.initial_seed() % 2**32`", "safe", intents),)


def _only_init(frame: Frame, model: Model) -> bool:
    """Whether a frame is a worker_init_fn that is called by workers alone."""
    reached = model.reached.get(frame)
    if reached is None or any(parent is not None for parent in reached.parents.values()):
        return False
    name = model.def_of(frame).name
    return not name or name == "__call__" or not model.callers.sites(name)


def _change(seeding: Seeding, bad: list[Seeding], model: Model) -> tuple[Place, str] | None:
    """What to write where for one seed."""
    frame, number = seeding.frame, seeding.number
    seed = "{torch}.initial_seed()" if SEEDERS[seeding.function] == "torch" else _FRESH
    place, call = model.place(frame, number), model.place(frame, seeding.at)
    if number != seeding.at and (place.anchor > call.anchor or _is_only_seed(seeding, bad, model)):
        return place, seed
    if frame is not seeding.call.frame or seeding.function not in _CALLS:
        return None
    return call, f"{_CALLS[seeding.function]}({seed})"


def _is_only_seed(seeding: Seeding, bad: list[Seeding], model: Model) -> bool:
    """Whether a seed that is bound to a name before is read by bad seeding calls alone."""
    name = next((s.name for s in model.def_of(seeding.frame).steps if _binds(s, seeding.number)), None)
    file = model.files.file(seeding.frame.path)
    if name is None or file is None:
        return False
    reads = {(s.frame, s.at) for s in bad if (s.frame, s.number) == (seeding.frame, seeding.number)}
    return file.pieces[seeding.frame.piece].ask(_occurrences, name) == len(reads) + 1


def _occurrences(text: str, name: str) -> int:
    return len(re.findall(rf"(?<![.\w]){re.escape(name)}\b", text))


def _binds(step: ir.Step, number: int) -> TypeGuard[ir.Bind]:
    return isinstance(step, ir.Bind) and step.value == number


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
