"""
# map-duplicate-randomness (LDR108)

## What it does
Finds random numbers from NumPy (or from a generator object of the main process) in a function that several processes
map over data: `Dataset.map(f, num_proc=4)` and `filter` of Hugging Face's datasets, `Pool.map` and similar methods,
`ProcessPoolExecutor`, and torchdata's `ParallelMapper` with `method="process"`.

## Why is this bad?
Nothing seeds these processes. Forked processes continue from a copy of NumPy's global state, and each process gets a
copy of a generator object that the function uses, so all of them draw the same numbers. Measured with 4 processes on
Python 3.11: `Dataset.map` of datasets 5 gives each shard the same noise, and `Pool.map` gives each process the same
numbers. A generator that is bound to the function (`partial(f, rng=rng)`, a method's `self.rng`) is pickled with each
task and starts from the same state each time. The mapped data is usually saved, and then the repeated numbers stay in
the training set.

NumPy 2 loads `numpy.random` at its first use. If nothing in the main process has used it, each forked process creates
its own state. So where no code of the main process names `numpy.random`, and it imports no library that loads it (such
as pandas, scikit-learn or torchvision), the message says "before NumPy 2", and the finding is only possible.

## When it is not a bug
- The function seeds NumPy itself, or creates a generator from the item: `default_rng((seed, index))`.
- The function passes a seed of the item to code that cannot be resolved, which may seed NumPy.
- The pool's `initializer` seeds NumPy in each process.
- NumPy 2 is declared, and no code or library loads `numpy.random` in the main process.
- There is one process, or threads do the work (`ThreadPool`, `ParallelMapper` without `method="process"`).
- The numbers come from Python's own `random.random()` and similar functions: CPython seeds them in each forked child.
- The numbers come from NumPy's global state, and the processes do not start by fork.

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
The quick fix draws from a generator that each process creates for itself, from the system's entropy. It is unsafe: the
function may run in the main process too, where a seed determined its numbers. If you need reproducible numbers, use the
form above.

## References
- [Parallel random number generation](https://numpy.org/doc/stable/reference/random/parallel.html)
- [datasets: multiprocessing](https://huggingface.co/docs/datasets/process#multiprocessing)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, Severity, Silence
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Site, def_key
from loaderlint.project.reach.model import MainFunction, Model, WorkerCall
from loaderlint.rules.base import Rule, page
from loaderlint.rules.map_duplicate_randomness.loaded_state import LOADING, is_copied
from loaderlint.rules.map_duplicate_randomness.possible_maps import map_names, may_map
from loaderlint.rules.map_duplicate_randomness.process_maps import (
    Mapping,
    mappings,
    run_by_call,
    runner,
    several_processes,
)
from loaderlint.rules.shared.inherited_randomness import (
    Inherited,
    inherited,
    may_be_seeded,
    process_fix,
    seeds_numpy,
)
from loaderlint.rules.shared.judgement import undoubted
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot

_NOTHING_DRAWS = "nothing that its processes run is known to draw from a state that they share at the start"
_FAILS = "what its processes run always fails"
_LOADED_LATER = "NumPy 2 loads numpy.random only in its processes, and each creates its own state"
_MAY_BE_SEEDED = "what its processes run passes a seed to code that is not known, which may seed NumPy"


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each draw or generator, for every function that the main function has run in processes."""
    if not may_map(function, model):
        return
    for frame in function.frames:
        for call in model.calls_named(frame, map_names(function.path, model)):
            for mapping in mappings(call, model):
                certainty = several_processes(mapping.processes)
                if certainty is not None:
                    yield from _judge(mapping, call, certainty, model)


def _judge(mapping: Mapping, call: WorkerCall, certainty: Certainty, model: Model) -> Iterator[Finding | Silence]:
    entries = tuple(run_by_call(mapping.function, mapping.arguments, call, model))
    frames = model.run_by(entries)
    if not frames:
        return
    here = Spot(call.frame, call.number)
    if all(model.failing.never_returns(def_key(one)) for one in entries):
        yield from silent(RULE.name, here, _FAILS, model)
        return
    before = _run_before(mapping, call, model)
    if before is None:
        yield from silent(RULE.name, here, "its initializer seeds, or what it does is not known", model)
        return
    named = model.start_methods.named(mapping.context) if mapping.context is not None else frozenset[str]()
    methods = partial(model.start_methods.of_processes, call.frame.path, Site(call.frame, call.number))
    found = list(inherited((*before, *frames), lambda: named or methods(), model))
    if not found and model.explains:
        yield from silent(RULE.name, here, _MAY_BE_SEEDED if may_be_seeded(frames, model) else _NOTHING_DRAWS, model)
    for one in found:
        is_there = one.made is not None or mapping.library in LOADING
        answer = "yes" if is_there else is_copied(call.frame.path, (*before, *frames), model)
        if answer == "no":
            yield from silent(RULE.name, here, _LOADED_LATER, model)
        elif answer == "unknown":
            yield _finding(one, call, frames, "possible", model, "before NumPy 2, ")
        else:
            yield _finding(one, call, frames, certainty, model)


def _run_before(mapping: Mapping, call: WorkerCall, model: Model) -> tuple[Frame, ...] | None:
    """What each process runs first; None if that seeds, or it is not known what it does."""
    if mapping.first is None or mapping.first.is_none:
        return ()
    frames = model.run_by(run_by_call(mapping.first, Arguments(more_positional=True), call, model))
    seeds = any(seeds_numpy(one) for frame in frames for one in model.frame_calls(frame))
    return None if seeds or not frames else frames


def _finding(
    one: Inherited, call: WorkerCall, frames: tuple[Frame, ...], certainty: Certainty, model: Model, when: str = ""
) -> Finding:
    intents = process_fix(one, frames, model)
    start = Evidence(model.place(call.frame, call.number), f"{model.label(frames[0])} runs in the processes of this")
    return undoubted(RULE, certainty).finding(
        f"{when}every process draws the same numbers: {one.cause(model)}, and each process of `{runner(call, model)}` "
        f"in {call.frame.path.name} starts from a copy of it; draw from `np.random.default_rng((seed, index))`, with "
        "a number from the item as `index`",
        one.place(model),
        one.name,
        (start, *one.evidence(model)),
        (Fix("Draw from a generator of the process", "unsafe", intents),) if intents else (),
    )


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
)
