"""
# worker-info-in-main (LDR208)

## What it does
Finds iterable datasets that call `get_worker_info()` in `__init__` or at module level, and never in `__iter__`.

## Why is this bad?
The main process creates the dataset, and there `get_worker_info()` returns None. Each worker gets a copy of that
object, set up for 'no workers', so every worker yields every item, without a warning. Measured with torch 2.13 under
fork, forkserver and spawn: with 8 items and 2 workers, each item comes twice.

## When it is not a bug
- `__iter__`, or a function that it calls, asks too, or the `worker_init_fn` sets up the dataset in each worker.
- The worker creates the dataset.
- The stream is random, or comes from a library that may shard it.
- The loader has fewer than two workers.

## Example
```python
class Numbers(IterableDataset):
    def __init__(self, count):
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
    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        for number in range(start, self.count, step):
            yield number
```

## Fix safety
Unsafe: the quick fix wraps what the one loop of `__iter__` iterates over, so that each worker takes every n-th item. It
leaves the code in `__init__` that uses the worker info; you can delete that.

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
from loaderlint.rules.shared.sharding import iterations, questions, sharding_fixes
from loaderlint.rules.shared.silence_reasons import few_workers
from loaderlint.rules.shared.wording import in_workers_of


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding an iterable dataset of the loader, at the question that is asked too early."""
    for entry in iterations(loader, model):
        exposure = model.exposed(1 << loader.index, model.reached[entry].possible, RULE.workers)
        question = next(questions(entry, model), None)
        if question is None:
            continue
        reason = _why_not(entry, loader, model)
        if exposure is None or reason:
            yield Silence(RULE.name, question.place, f"{reason}: {loader.described}")
            continue
        assert isinstance(entry.receiver, Instance)
        name = model.ev.classes.name(entry.receiver.cls)
        yield undoubted(RULE, exposure.certainty).finding(
            f"every worker yields every item: `get_worker_info()` is None here, because {question.where} runs "
            f"in the main process, and `{name}.__iter__` yields all of them {in_workers_of(exposure)}; call it in "
            "`__iter__`",
            question.place,
            name,
            model.why(entry, exposure),
            () if Stream(entry, loader, model).is_random() else sharding_fixes(entry, model, "unsafe"),
        )


def _why_not(entry: Frame, loader: Loader, model: Model) -> str:
    """Why items do not come from each worker, as far as is known; '' if they do."""
    if loader.kind.shards:
        return f"{loader.kind.name} splits the stream between the workers"
    if loader.has_workers(2) == "no":
        return few_workers(loader)
    stream = Stream(entry, loader, model)
    if stream.asks_for_worker():
        return "something asks again in the worker"
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
