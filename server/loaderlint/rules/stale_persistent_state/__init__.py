"""
# stale-persistent-state (LDR405)

## What it does
Finds assignments to a dataset, or to a transform or collate object that a loader holds, and calls of their setters
(`dataset.set_epoch(epoch)`), in the epoch loop of a loader whose workers persist (`persistent_workers=True`, timm's
`MultiEpochsDataLoader`, ultralytics' `InfiniteDataLoader`), or between two passes over it. Items that the main process
stores in a list, a dict or an array of the dataset count, too.

It also finds what a sampler or batch sampler sets on the dataset of its loader while it is gone through, whether the
workers persist or not: `self.dataset.size = random.choice(sizes)` before each `yield`.

## Why is this bad?
The workers get their copy of the dataset once, when they start. Later changes in the main process never reach them.
Measured with `dataset.epoch = epoch` in each of three epochs, under every start method: normal workers see 0, 1, 2, and
persistent workers see 0, 0, 0. A curriculum never advances, a shuffle with the epoch as its seed is the same each time,
and an augmentation that should end continues, all without a warning.

A sampler runs in the main process, and the workers start before the loader asks it for the first index. Measured with a
batch sampler that sets `dataset.size` to 1, 2, 3, ... before each of four batches, under fork and spawn: the batches of
the first epoch all have the old size, those of the second epoch have size 4. Training at several scales has one scale.
What is set before the first `yield` reaches workers that start anew one epoch late (a warning), and persistent ones
never.

## When it is not a bug
- The loader's workers start anew in each epoch (no `persistent_workers`), or the loop creates the loader, and it is not
  the sampler that sets it.
- The turn of the loop that sets it also puts a new loader in the old one's place, before anything iterates over it:
  itself, or with a function that makes a new loader at each call.
- The epoch is in shared memory: `multiprocessing.Value`, or a tensor after `share_memory_()`. Items of tensors and
  mapped arrays may be shared, too.
- The call is a sampler's `set_epoch`: samplers run in the main process.
- The sampler yields the value with each index, as `(index, size)`, or sets it in its `__init__`.
- A batch sampler's `__iter__` without `yield` returns a list's iterator, and the workers do not persist: it runs before
  they start.
- The workers never read the value, or it is set before the loop, or to the same value each time.

## Example
```python
loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
for epoch in range(epochs):
    dataset.set_epoch(epoch)
    for batch in loader:
        ...
```

## Fixed
```python
loader = DataLoader(dataset, num_workers=4, persistent_workers=False)
for epoch in range(epochs):
    dataset.set_epoch(epoch)
    for batch in loader:
        ...
```

## Fix safety
Safe: the workers start anew in each epoch with the current state of the dataset. Starting them takes time.

To keep the workers, keep the state in shared memory:

```python
self.epoch = torch.zeros((), dtype=torch.long).share_memory_()

def set_epoch(self, epoch):
    self.epoch.fill_(epoch)
```

## References
- [persistent_workers](https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [The issue that describes it](https://github.com/pytorch/pytorch/issues/97326)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Fix, SetArgument, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.epoch_loops import loops_around
from loaderlint.rules.shared.judgement import Verdict, undoubted
from loaderlint.rules.shared.silence_reasons import few_workers, silent
from loaderlint.rules.shared.unresolved_places import spot_of
from loaderlint.rules.stale_persistent_state.dataset_changes import Change, Read, changes_in_main, read_in_workers
from loaderlint.rules.stale_persistent_state.loader_lifetime import (
    creation_of,
    is_between,
    is_constant,
    is_late,
    persists,
    starts_so,
)
from loaderlint.rules.stale_persistent_state.sampler_changes import SamplerChange, When, has_samplers, sampler_changes


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each place where something is set too late for the loader's workers."""
    exposure = model.exposed(1 << loader.index, None, RULE.workers)
    if loader.site is None:
        return
    if exposure is None:
        yield from silent(RULE.name, spot_of(loader.site), few_workers(loader), model)
        return
    read = read_in_workers(loader, model) if persists(loader, model) or has_samplers(loader, model) else {}
    sampled = sampler_changes(loader, read, model)
    yield from _of_samplers(sampled, read, loader, exposure, model)
    if not persists(loader, model):
        yield from silent(RULE.name, spot_of(loader.site), "its workers start anew in each epoch", model)
        return
    verdict = undoubted(RULE, exposure.certainty)
    told = {one.change.spot.key for one in sampled}
    changes = [one for one in changes_in_main(loader, read, model) if one.spot.key not in told]
    made_in = {loop.key for loop in loops_around(*creation_of(loader.site, model), model)}
    late = [change for change in changes if is_late(change, loader, made_in, model)]
    once = [change for change in changes if change not in late and is_between(change, loader, model)]
    for change in changes:
        if change not in late and change not in once:
            reason = f"it is not set repeatedly while {loader.described} exists"
            yield from silent(RULE.name, change.spot, reason, model)
    same = [one for one in late if is_constant(one, late, model)] + [one for one in once if starts_so(one, model)]
    for change in (*late, *once):
        if change in same:
            reason = "it is set to the same value each time, which the workers start with"
            yield from silent(RULE.name, change.spot, reason, model)
        else:
            yield _finding(change, read[change.owner][change.attribute], loader, verdict, exposure, model)


def _of_samplers(
    changes: Sequence[SamplerChange], read: Read, loader: Loader, exposure: Exposure, model: Model
) -> Iterator[Finding | Silence]:
    """One finding for each attribute that a sampler sets too late for the workers."""
    made = [one.change for one in changes]
    told: set[tuple[Instance, str]] = set()
    for change, when in changes:
        if (change.owner, change.attribute) in told:
            continue
        if is_constant(change, made, model):
            yield from silent(RULE.name, change.spot, "the sampler sets it to the same value each time", model)
        elif when == "in time" and not persists(loader, model):
            yield from silent(RULE.name, change.spot, "it is set before the workers of the next epoch start", model)
        else:
            told.add((change.owner, change.attribute))
            yield _of_sampler(change, when, read[change.owner][change.attribute], loader, exposure, model)


def _of_sampler(change: Change, when: When, reader: Frame, loader: Loader, exposure: Exposure, model: Model) -> Finding:
    lives_on = persists(loader, model)
    is_late = when == "late" and not lives_on
    seen = "never see it" if lives_on else "see it one epoch late" if is_late else "do not see it"
    since = f"they started ({_why_kept(loader)})" if lives_on else "the epoch began"
    name = model.ev.classes.name(change.owner.cls)
    reads = Evidence(model.def_place(reader), f"{model.label(reader)} reads {change.attribute}")
    return undoubted(RULE, exposure.certainty, Severity.WARNING if is_late else None).finding(
        f"the workers of {loader.described} {seen}: the sampler runs in the main process, where "
        f"{_what(change)} only its own `{name}`, and they keep the copy that they got when {since}; "
        "yield the value with each index",
        change.spot.place(model),
        f"{name}.{change.attribute}",
        (reads, *model.why(reader, exposure)),
    )


def _what(change: Change) -> str:
    return f"`{change.by}` changes" if change.by else "this changes"


def _finding(
    change: Change, reader: Frame, loader: Loader, verdict: Verdict, exposure: Exposure, model: Model
) -> Finding:
    name = model.ev.classes.name(change.owner.cls)
    reads = Evidence(model.def_place(reader), f"{model.label(reader)} reads {change.attribute}")
    return verdict.finding(
        f"the workers of {loader.described} never see it: {_what(change)} only the `{name}` of the main process, and "
        f"they keep the copy that they got when they started ({_why_kept(loader)}); {_remedy(loader)}",
        change.spot.place(model),
        f"{name}.{change.attribute}",
        (reads, *model.why(reader, exposure)),
        _fixes(loader, model),
    )


def _why_kept(loader: Loader) -> str:
    if loader.kind.persistent and loader.kind.name == "torch.utils.data.DataLoader":
        return "their loader creates one iterator for all epochs"
    return loader.kind.name.rpartition(".")[2] if loader.kind.persistent else "persistent_workers"


def _remedy(loader: Loader) -> str:
    shared = "keep it in a shared tensor or `multiprocessing.Value`"
    prefix = loader.kind.options.prefix if loader.kind.options else ""
    return shared if loader.kind.persistent else f"pass `{prefix}persistent_workers=False`, or {shared}"


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(loader: Loader, model: Model) -> tuple[Fix, ...]:
    call = model.ev.expr(loader.site.frame, loader.site.expr) if loader.site else None
    if loader.site is None or loader.kind.persistent or not isinstance(call, ir.Call):
        return ()
    if not any(arg.kind == "kw" and arg.name == "persistent_workers" for arg in call.args):
        return ()
    intent = SetArgument(model.site_place(loader.site), "persistent_workers", "False")
    return (Fix("Start the workers anew in each epoch: `persistent_workers=False`", "safe", (intent,)),)


RULE = Rule(
    code="LDR405",
    name="stale-persistent-state",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
