"""
# lost-worker-state (LDR404)

## What it does
Finds state that sample code keeps in its worker's copy of the dataset, and that is lost with the worker:

- a counter, a log or a list on `self` or in the module that the main process reads later (warning);
- a position on `self` that `__getitem__` advances and reads from, whatever the index (warning);
- a cache with one entry per sample, on `self` or in the module, that `__getitem__` fills, in a loader whose workers
  start anew in each epoch (information).

## Why is this bad?
Each worker has a copy of the dataset. Changes to the copy never reach the main process, and without
`persistent_workers` the copy is gone when the epoch ends. Measured with 8 samples, 2 workers and 3 epochs:
`self.seen += 1` leaves 0 in the main process, under every start method. A cache by index has 0, 0, 0 hits, so it costs
memory and time and has no benefit. Without workers it has 0, 8, 8. With `persistent_workers=True` it has 0, 8, 8 if the
samples come in the same order. With `shuffle=True` a sample may go to the worker that does not have it: the second
epoch had 2, 0 and 6 hits in three runs.

Each worker starts at the position that the main process had when the worker started. With 8 items and 2 workers, each
epoch yields only 4 different items, each twice. They are the same 4 in every epoch, unless the workers persist. Without
workers each item comes once.

## When it is not a bug
- The state is useful within one worker: a handle, a connection or a generator that each process creates once, a flag
  which says that something is done, the last item read.
- Several samples may share the cache's key (a file, a video): the cache helps within an epoch. `self.names[index]`
  counts as one key per sample if all names are different: the names in a folder, a set, constants.
- The main process fills the cache before the workers start, perhaps in a method that goes through all items, or the
  cache is shared (`Manager`, shared tensors).
- The loader's sampler may take a sample several times in an epoch, as `WeightedRandomSampler` does: the cache helps.
- Only one worker advances the position, the sample's index sets it, or a `worker_init_fn` may give each worker its own
  share.
- The loader has no workers.

## Example
```python
def __getitem__(self, index):
    self.seen += 1
    return self.samples[index]

...
print(dataset.seen)
```

## Fixed
```python
def __getitem__(self, index):
    return self.samples[index], 1

...
seen += ones.sum()
```

## Fix safety
For a cache, the fix passes `persistent_workers=True`, if every loader concerned is a `DataLoader` that surely has
workers. It is unsafe: the workers and their caches stay in memory between the epochs. There is no fix for state that
the main process reads: return it with the sample, or keep it in a `multiprocessing.Value` or a shared tensor.

## References
- [Multi-process data loading](https://pytorch.org/docs/stable/data.html#multi-process-data-loading)
- [An issue about such a cache](https://github.com/pytorch/pytorch/issues/35642)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.lost_worker_state.copied_state import cache_evidence, creation_evidence
from loaderlint.rules.lost_worker_state.cures import cache_cure, position_cure
from loaderlint.rules.lost_worker_state.cursor_attributes import Walk, walks
from loaderlint.rules.lost_worker_state.fixes import keeping_fixes
from loaderlint.rules.lost_worker_state.module_state import ModuleState, module_state
from loaderlint.rules.lost_worker_state.run_in_main_process import filled_before_workers, is_run_by_reader, runs_in_main
from loaderlint.rules.lost_worker_state.sample_caches import SampleCache, sample_caches
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.kept_state import Kept, kept_state, reader_in_main
from loaderlint.rules.shared.wording import in_workers_of, loaders_of

_MAIN_RUNS_IT = "the main process runs the same code on the same object"
_MADE_THERE = "workers make the object themselves"
_ANY_OBJECT = "only the class of the object is known, so the main process may hold another one"
_FILLED_FIRST = "a method of the class fills the cache before the workers start"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each place that changes state which the main process reads, advances a position, or fills a
    cache."""
    for lost in judged(RULE, _kept(function, model), model, parts=("sample", "collate"), weigh=partial(_weigh, model)):
        yield lost if isinstance(lost, Silence) else _lost(lost, model)
    in_module = _of_module(function, model)
    for of_module in judged(RULE, in_module, model, parts=("sample", "collate"), weigh=partial(_weigh_module, model)):
        yield of_module if isinstance(of_module, Silence) else _lost_in_module(of_module, model)
    for walked in judged(RULE, _walks(function, model), model, workers=2, parts=("sample",)):
        yield walked if isinstance(walked, Silence) else _walked(walked, model)
    filled = _caches(function, model)
    for cached in judged(RULE, filled, model, parts=("sample",), weigh=partial(_weigh_cache, model)):
        yield cached if isinstance(cached, Silence) else _cached(cached, model)


# --- what the main process reads --------------------------------------------------------------------------------------


def _kept(function: WorkerFunction, model: Model) -> Iterator[Candidate[Kept]]:
    for frame in function.frames:
        for kept in kept_state(frame, model):
            yield Candidate(kept, kept.frame, kept.spot, why_not=_why_not_copied(kept.owner, model))


def _why_not_copied(owner: Instance, model: Model) -> str:
    """Why the main process holds no original of an object that workers change; '' if it may hold one."""
    if owner.site is not None:
        return _MADE_THERE if owner.site.frame in model.reached else ""
    return "" if any(owner in loader.datasets for loader in model.loaders) else _ANY_OBJECT


def _weigh(model: Model, candidates: Sequence[Candidate[Kept]], exposure: Exposure) -> Severity | Unsaid:
    kept = candidates[0].about
    reader = reader_in_main(kept, exposure, model)
    if reader is None:
        return Unsaid(f"the main process never reads `{kept.name}` afterwards")
    return _unless_main_runs_it(reader[0], kept.frame, exposure, model)


def _unless_main_runs_it(reader: Frame, frame: Frame, exposure: Exposure, model: Model) -> Severity | Unsaid:
    """How bad a change in `frame` is that the main process reads in `reader`. This is slow: it looks at all that the
    main process runs."""
    is_run = model.remembered(runs_in_main, frame) or model.remembered(is_run_by_reader, reader, frame)
    return Unsaid(_MAIN_RUNS_IT) if is_run else lowered(RULE.severity, exposure)


def _lost(verdict: WorkerVerdict[Kept], model: Model) -> Finding:
    kept = verdict.about
    reader = reader_in_main(kept, verdict.exposure, model)
    assert reader is not None
    frame, number = reader
    return verdict.finding(
        _never_seen(kept.name, "copy", model.label(frame), verdict.exposure),
        verdict.spot.place(model),
        f"{model.ev.classes.name(kept.owner.cls)}.{kept.name}",
        (
            Evidence(model.place(frame, number), f"{model.label(frame)} reads `{kept.name}`"),
            *creation_evidence(kept.owner, kept.name, model),
            *verdict.why(model),
        ),
    )


def _never_seen(name: str, copied: str, reader: str, exposure: Exposure) -> str:
    return (
        f"the main process never sees this change of `{name}`: it happens {in_workers_of(exposure)}, each with its own "
        f"{copied}, and `{reader}` reads the copy of the main process; return it with the sample, or keep it in a "
        "shared tensor or `multiprocessing.Value`"
    )


# --- what the main process reads in a module --------------------------------------------------------------------------


def _of_module(function: WorkerFunction, model: Model) -> Iterator[Candidate[ModuleState]]:
    for frame in function.frames:
        for one in module_state(frame, model):
            yield Candidate(one, one.frame, one.spot)


def _weigh_module(model: Model, candidates: Sequence[Candidate[ModuleState]], exposure: Exposure) -> Severity | Unsaid:
    changed = candidates[0].about
    return _unless_main_runs_it(changed.reader, changed.frame, exposure, model)


def _lost_in_module(verdict: WorkerVerdict[ModuleState], model: Model) -> Finding:
    changed = verdict.about
    reader = model.label(changed.reader)
    return verdict.finding(
        _never_seen(changed.name, "copy of the module", reader, verdict.exposure),
        verdict.spot.place(model),
        changed.name,
        (
            Evidence(model.place(changed.reader, changed.number), f"{reader} reads `{changed.name}`"),
            *verdict.why(model),
        ),
    )


# --- positions --------------------------------------------------------------------------------------------------------


def _walks(function: WorkerFunction, model: Model) -> Iterator[Candidate[Walk]]:
    for frame in function.frames:
        for walk in walks(frame, model):
            yield Candidate(walk, walk.kept.frame, walk.kept.spot, position_cure)


def _walked(verdict: WorkerVerdict[Walk], model: Model) -> Finding:
    walk, kept = verdict.about, verdict.about.kept
    return verdict.finding(
        f"several workers return the same items: each worker of {loaders_of(verdict.exposure)} advances its own copy "
        f"of `{kept.name}`, and iterates over all of `{walk.items}`; take the item at the sample's index",
        verdict.spot.place(model),
        f"{model.ev.classes.name(kept.owner.cls)}.{kept.name}",
        (
            Evidence(
                model.place(walk.frame, walk.number), f"{model.label(walk.frame)} reads the item at `{kept.name}`"
            ),
            *creation_evidence(kept.owner, kept.name, model),
            *verdict.why(model),
        ),
    )


# --- caches -----------------------------------------------------------------------------------------------------------


def _caches(function: WorkerFunction, model: Model) -> Iterator[Candidate[SampleCache]]:
    """The caches that a function fills. None if one of its frames fills no such cache: then samples share entries,
    and the cache helps."""
    caches = [list(sample_caches(frame, model)) for frame in function.frames]
    for cache in [one for found in caches for one in found] if all(caches) else ():
        yield Candidate(cache, cache.frame, cache.spot, partial(cache_cure, model), severity=Severity.INFORMATION)


def _weigh_cache(model: Model, caches: Sequence[Candidate[SampleCache]], exposure: Exposure) -> Severity | Unsaid:
    severity = lowered(Severity.INFORMATION, exposure, 1 if exposure.lead.persistent is None else 0)
    if not isinstance(severity, Unsaid) and model.remembered(runs_in_main, caches[0].frame):
        return Unsaid(_MAIN_RUNS_IT)
    if not isinstance(severity, Unsaid) and model.remembered(filled_before_workers, caches[0].frame):
        return Unsaid(_FILLED_FIRST)
    return severity


def _cached(verdict: WorkerVerdict[SampleCache], model: Model) -> Finding:
    cache = verdict.about
    return verdict.finding(
        f"the cache `{cache.name}` never helps: each worker of {loaders_of(verdict.exposure)} fills its own copy, "
        "which is lost at the end of the epoch; fill it before the workers start, or pass `persistent_workers=True`",
        verdict.spot.place(model),
        f"{model.ev.classes.name(cache.owner.cls)}.{cache.name}" if cache.owner else cache.name,
        (*cache_evidence(cache, model), *verdict.why(model)),
        keeping_fixes(verdict.exposure, model),
    )


RULE = Rule(
    code="LDR404",
    name="lost-worker-state",
    severity=Severity.WARNING,
    needs="W1",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    follows_data=True,
)
