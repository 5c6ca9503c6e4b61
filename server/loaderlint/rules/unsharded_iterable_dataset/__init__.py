"""
# unsharded-iterable-dataset (LDR502)

## What it does
Finds iterable datasets whose `__iter__` gives every worker the whole stream: nothing in it takes a share by the number
of the worker.

## Why is this bad?
Each worker has its own copy of the dataset and runs `__iter__` from the start. With N workers, every item comes N times
per epoch, without a warning. Measured with 8 items, 2 workers and batches of 4: [0..3], [0..3], [4..7], [4..7].

Under DistributedDataParallel, the ranks read the same stream too: shard by rank and by worker.

## When it is not a bug
- The stream is sharded with `get_worker_info()`: in `__iter__`, in a helper, in a base class, in the `worker_init_fn`,
  or by a wrapper (webdataset, streaming, litdata, Hugging Face datasets). To print the worker's number, or to seed
  with it, shards nothing.
- The pipe goes through `.sharding_filter()` wherever there are workers: `if num_workers > 0: files =
  files.sharding_filter()`. Where it is a guess that a loader holds the pipe, any such call on pipes of its kind counts.
- The stream is random: each worker makes up its items, or draws them with replacement. Shuffling alone does not count,
  because every worker still yields the whole stream. An endless stream does, if each worker shuffles it anew in an
  order of its own. A generator that the constructor makes draws the same in each worker.
- The stream comes from another dataset or a library whose code is not available: it may shard itself.
- The loader has fewer than two workers.

## Example
```python
class Lines(IterableDataset):
    def __iter__(self):
        with open(self.path) as file:
            for line in file:
                yield parse(line)
```

## Fixed
```python
def shard_by_worker(stream):
    worker = torch.utils.data.get_worker_info()
    if worker is None:
        return stream
    return itertools.islice(stream, worker.id, None, worker.num_workers)

class Lines(IterableDataset):
    def __iter__(self):
        with open(self.path) as file:
            for line in shard_by_worker(file):
                yield parse(line)
```

## Fix safety
Safe where a single loop yields and each iteration depends only on its own item, or where a single `yield from` gives
all items: each item is still read once, and each worker keeps the order. A loop over files may `yield from` each of
them: the workers then share the files. There is no fix where a loop delegates to something else than its item, where a
buffer or counter carries over from one iteration to the next, where an iteration reads ahead (`next(file)`), or where
the loop draws random numbers: the workers would split different orders.

Unsafe where it is a guess that the loader holds the dataset, or where other code shards such a stream
(`stream.sharding_filter()`): a stream that is sharded twice loses items.

## References
- [Iterable-style datasets](https://pytorch.org/docs/stable/data.html#iterable-style-datasets)
- [get_worker_info](https://pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Safety, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.modules.tests_and_tutorials import in_tests
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.iterable_streams import Stream
from loaderlint.rules.shared.judgement import Unsaid, Verdict, weighed_in
from loaderlint.rules.shared.sharding import early_worker_info_calls, iter_frames, sharding_fixes
from loaderlint.rules.shared.silence_reasons import few_workers, silent
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of
from loaderlint.rules.unsharded_iterable_dataset.filtered_pipes import FILTERED, is_filtered, is_filtered_somewhere


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each iterable dataset of the loader, at its `__iter__`."""
    for entry in iter_frames(loader, model):
        exposure = model.exposed(1 << loader.index, model.reached[entry], RULE.workers)
        verdict = _verdict(entry, exposure, model) if exposure else None
        stream = Stream(entry, loader, model)
        reason = _why_not(stream, entry, loader, verdict, model)
        if exposure is None or not isinstance(verdict, Verdict) or reason:
            yield from silent(RULE.name, Spot(entry, 0, "def"), f"{reason}: {loader.described}", model)
            continue
        assert isinstance(entry.receiver, Instance)
        name = model.ev.classes.name(entry.receiver.cls)
        yield verdict.finding(
            f"every worker yields every item: `{name}.__iter__` yields all of them {in_workers_of(exposure)}, and "
            f"nothing shards the stream; {_advice(stream)}",
            model.def_place(entry),
            name,
            model.why(entry, exposure),
            () if stream.is_random() else sharding_fixes(entry, model, _safety(entry, loader, model)),
        )


def _advice(stream: Stream) -> str:
    """What to do. Workers that shuffle for themselves would take parts of different orders."""
    shard = "shard it by `get_worker_info()` (and by rank under DDP)"
    return f"{shard}, before it is shuffled" if stream.has_own_order() else shard


def _why_not(stream: Stream, entry: Frame, loader: Loader, verdict: Verdict | Unsaid | None, model: Model) -> str:
    """Why items do not come more than once, as far as is known; '' if they do."""
    if loader.kind.shards:
        return f"{loader.kind.name} splits the stream between the workers"
    if loader.has_workers(2) == "no":
        return few_workers(loader)
    if isinstance(verdict, Unsaid):
        return verdict.reason
    if model.def_of(entry).is_generator and not any(model.steps_of(entry, ir.YieldStep)):
        return "it yields nothing"
    if reason := stream.why_not_whole():
        return reason
    if is_filtered(entry, loader, _is_guess(entry, loader, model), model):
        return FILTERED
    # that it asks too early is said by another rule
    return (
        "it asks for the worker too early: see worker-info-in-main"
        if any(early_worker_info_calls(entry, model))
        else ""
    )


def _verdict(entry: Frame, exposure: Exposure, model: Model) -> Verdict | Unsaid:
    """Two things are unknown where it is a guess that a loader holds the dataset, and its number of workers too."""
    assert isinstance(entry.receiver, Instance)
    loader = exposure.lead
    sites = model.callers.sites(model.ev.classes.name(entry.receiver.cls)) if loader.out_of_sight else ()
    if not all(in_tests(site.path, model.files.root) for site in sites):
        return Unsaid("its objects are created in the project, and no loader gets them")
    guessed = _is_guess(entry, loader, model)
    return weighed_in(RULE, exposure, 1 if guessed and loader.has_workers(2) != "yes" else 0)


def _safety(entry: Frame, loader: Loader, model: Model) -> Safety:
    """A stream that is sharded twice loses items."""
    in_doubt = _is_guess(entry, loader, model) or is_filtered_somewhere(entry, model)
    return "unsafe" if in_doubt else "safe"


def _is_guess(entry: Frame, loader: Loader, model: Model) -> bool:
    """Whether it is a guess that the loader holds the dataset."""
    return loader.out_of_sight or bool(model.reached[entry].possible >> loader.index & 1)


RULE = Rule(
    code="LDR502",
    name="unsharded-iterable-dataset",
    severity=Severity.ERROR,
    needs="W2",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
    follows_data=True,
)
