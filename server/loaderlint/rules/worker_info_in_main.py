"""
# worker-info-in-main (LDR208)

## What it does
Finds iterable datasets that call `get_worker_info()` in `__init__` or at module level, and never in `__iter__`.

## Why is this bad?
The main process creates the dataset, and there `get_worker_info()` returns None. Each worker gets a copy of that
object, set up as if there were no workers, so every worker yields every item, without a warning. Measured with
torch 2.13 under fork, forkserver and spawn: with 8 items and 2 workers, each item comes twice.

## When it is not a bug
- `__iter__`, or a function that it calls, also calls `get_worker_info()`, or the `worker_init_fn` sets up the dataset
  in each worker.
- The dataset is created in the worker.
- The items are drawn at random, so each worker has its own. (A stream that yields all items in a random order is
  reported.)
- The items come from a library that may shard them.
- The loader has fewer than two workers.

## Example
```python
class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count
        info = get_worker_info()
        self.start = 0 if info is None else info.id
        self.step = 1 if info is None else info.num_workers

    def __iter__(self):
        for number in range(self.start, self.count, self.step):
            yield number
```

## Fixed
```python
class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        for number in range(start, self.count, step):
            yield number
```

## Fix safety
Unsafe: the quick fix wraps the iterable of the only loop in `__iter__`, so that each worker takes every n-th item. The
code in `__init__` that uses the worker info stays; you can delete it. There is no fix for a stream in random order.

## References
- [get_worker_info](https://pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info)
- [Iterable-style datasets](https://pytorch.org/docs/stable/data.html#iterable-style-datasets)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.iterable_streams import Stream
from loaderlint.rules.shared.judgement import undoubted
from loaderlint.rules.shared.sharding import early_worker_info_calls, iter_frames, sharding_fixes
from loaderlint.rules.shared.silence_reasons import few_workers
from loaderlint.rules.shared.wording import in_workers_of


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each iterable dataset of the loader, at the call of `get_worker_info()` that comes
    too early."""
    for entry in iter_frames(loader, model):
        exposure = model.exposed(1 << loader.index, model.reached[entry], RULE.workers)
        early = next(early_worker_info_calls(entry, model), None)
        if early is None:
            continue
        reason = _why_not(entry, loader, model)
        if exposure is None or reason:
            yield Silence(RULE.name, early.place, f"{reason}: {loader.described}")
            continue
        assert isinstance(entry.receiver, Instance)
        name = model.ev.classes.name(entry.receiver.cls)
        yield undoubted(RULE, exposure.certainty).finding(
            f"every worker yields every item: `get_worker_info()` is None here, because {early.where} runs in the "
            f"main process, and `{name}.__iter__` yields all items {in_workers_of(exposure)}; call "
            "`get_worker_info()` in `__iter__`",
            early.place,
            name,
            model.why(entry, exposure),
            () if Stream(entry, loader, model).is_random() else sharding_fixes(entry, model, "unsafe"),
        )


def _why_not(entry: Frame, loader: Loader, model: Model) -> str:
    """Why the workers do not all yield the same items; '' if they do."""
    if loader.kind.shards:
        return f"{loader.kind.name} splits the stream between the workers"
    if loader.has_workers(2) == "no":
        return few_workers(loader)
    stream = Stream(entry, loader, model)
    if stream.asks_for_worker():
        return "something calls `get_worker_info()` again in the worker"
    return stream.why_not_alike()


RULE = Rule(
    code="LDR208",
    name="worker-info-in-main",
    severity=Severity.ERROR,
    needs="W2",
    over="loader",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
