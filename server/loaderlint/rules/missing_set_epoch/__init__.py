"""
# missing-set-epoch (LDR505)

## What it does
Finds a `DistributedSampler` that shuffles, in a training loop that never calls its `set_epoch`, or in a generator that
yields the batches again and again (`while True: yield from loader`).

## Why is this bad?
The sampler shuffles with `seed + epoch`, and the epoch stays 0 until `set_epoch` changes it. Every epoch then goes
through the samples in the same order, in the same batches, with the same share for each process. Measured on torch
2.13: the same indices in each of three epochs, and three different orders with `set_epoch`.

## When it is not a bug
- The sampler does not shuffle, `DistributedSampler(dataset, shuffle=False)`, or its loader only evaluates: its name or
  its function says so, or a function of its own runs the model without gradients and calls nothing that trains it.
- Lightning's `Trainer` or accelerate's `prepare` calls `set_epoch`.
- Any call may reach the sampler: `train_loader.sampler.set_epoch(epoch)`, a call behind `hasattr(...)`, in a hook or on
  a wrapper. Where all calls are under `if args.distributed`, which may be False, and the sampler is made in any case
  with the number of processes and a rank, as in the scripts of MAE: information.
- Some code stores the epoch itself: `train_loader.sampler.epoch += 1`.

## Example
```python
sampler = DistributedSampler(dataset)
train_loader = DataLoader(dataset, sampler=sampler)
for epoch in range(epochs):
    for batch in train_loader:
        step(batch)
```

## Fixed
```python
sampler = DistributedSampler(dataset)
train_loader = DataLoader(dataset, sampler=sampler)
for epoch in range(epochs):
    train_loader.sampler.set_epoch(epoch)
    for batch in train_loader:
        step(batch)
```

## Fix safety
Safe: the call changes the order of the samples and nothing else. If the loader may have another sampler
(`if distributed`, or another caller of the function passes it), the fix puts the call behind a `hasattr`. If several
loops train with loaders that the same code creates, all of them get the call. There is no call where the loop does not
count with `range`, or where the loader is not in scope or may not exist yet: it is made in a branch, or in the loop
itself. Unsafe if only some of the loops can get the call, or if something else than a DataLoader may take the place of
the loader.

## References
- [torch.utils.data.distributed.DistributedSampler](https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
- pytorch/pytorch#31771
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Certainty, Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.values import LibObject, Site
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.missing_set_epoch.distributed_samplers import (
    SAMPLER,
    calls_that_set,
    has_other_sampler,
    is_stored,
    sampled_passes,
    samplers_of,
    shuffles,
)
from loaderlint.rules.missing_set_epoch.fixes import set_epoch_fix
from loaderlint.rules.missing_set_epoch.single_process import unset_without
from loaderlint.rules.shared.epoch_passes import Pass
from loaderlint.rules.shared.judgement import undoubted, unset_at, unset_evidence, weighed_for
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import spot_of


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each sampler of the loader, where it is made."""
    for sampler in samplers_of(loader, model):
        calls = calls_that_set(sampler, loader, model)
        setting = unset_without(calls, sampler, model) if calls else ""
        if calls is None or (calls and not setting):
            yield from silent(RULE.name, spot_of(sampler.site), "something calls `set_epoch`, perhaps on it", model)
            continue
        made = model.once(sampled_passes).get(model.site_place(sampler.site), ())
        found = [one for kept, one in made if (kept, one.loader) == (sampler, loader)]
        if found and is_stored(sampler, loader, model):
            yield from silent(RULE.name, spot_of(sampler.site), "some code stores its `epoch` itself", model)
            continue
        for one in found:
            yield from _judge(sampler, one, setting, model)


def _judge(sampler: LibObject, one: Pass, setting: str, model: Model) -> Iterator[Finding | Silence]:
    """`setting`: without what nothing calls `set_epoch`; '' if nothing does in any case."""
    here = spot_of(sampler.site)
    certainty: Certainty = "proven" if shuffles(sampler, model) == "yes" else "possible"
    if one.evaluates(model):
        reason = f"the loop in `{model.label(one.frame)}` evaluates"
        yield from silent(RULE.name, here, reason, model)
        return
    option = unset_at(sampler.site, one.loader, model)
    severity = Severity.INFORMATION if setting else RULE.severity
    fix = None if setting else set_epoch_fix(sampler, model)
    yield weighed_for(one.loader, undoubted(RULE, certainty, severity)).finding(
        _without(setting, one) if setting else _never(one, option, model),
        here.place(model),
        SAMPLER,
        (
            Evidence(
                model.step_place(one.frame, one.step), "each iteration of the loop around this goes through the loader"
            ),
            *unset_evidence(option, model),
        ),
        (fix,) if fix else (),
    )


def _never(one: Pass, option: Site | None, model: Model) -> str:
    """The message. `option`: the test without which nothing creates the sampler."""
    when = "in a distributed run, " if option is not None or has_other_sampler(one.loader, model) else ""
    return (
        f"{when}every epoch goes through {one.loader.described} in the same order: nothing calls `set_epoch` of its "
        f"DistributedSampler in the loop over epochs in `{model.label(one.frame)}`; call "
        "`sampler.set_epoch(epoch)` before each pass"
    )


def _without(setting: str, one: Pass) -> str:
    return (
        f"without `{setting}`, every epoch goes through {one.loader.described} in the same order: the code calls "
        f"`set_epoch` only where `{setting}` is set, but uses the DistributedSampler in any case; call "
        "`sampler.set_epoch(epoch)` in any case"
    )


RULE = Rule(
    code="LDR505",
    name="missing-set-epoch",
    severity=Severity.WARNING,
    needs="M",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
