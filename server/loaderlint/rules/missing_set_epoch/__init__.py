"""
# missing-set-epoch (LDR505)

## What it does
Finds a `DistributedSampler` that shuffles, in a training loop that never calls its `set_epoch`.

## Why is this bad?
The sampler makes its order from `seed + epoch`, and the epoch stays 0 until `set_epoch` says otherwise: every epoch
goes through the samples in the same order, in the same batches, with the same share for each process. Measured on
torch 2.13: the same indices in each of three epochs; three different orders with `set_epoch`.

## When it is not a bug
- `DistributedSampler(dataset, shuffle=False)`, and samplers of loaders that only evaluate.
- Lightning's `Trainer` and accelerate's `prepare` call `set_epoch` themselves.
- `train_loader.sampler.set_epoch(epoch)`, a call behind `hasattr(...)`, in a hook or on a wrapper: any call that may
  reach the sampler counts.

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
Safe: the call changes the order of the samples and nothing else. Where the loader may have another sampler (`if
distributed`), it stands behind a `hasattr`. There is no fix where the loop does not count its turns with `range`, or
where it does not see the loader.

## References
- [torch.utils.data.distributed.DistributedSampler](https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
- pytorch/pytorch#31771
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, InsertStatement, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Val
from loaderlint.project.reach.model import Loader, MainFunction, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.missing_set_epoch.forgotten_samplers import SAMPLER, forgotten_samplers, samplers_of, shuffles
from loaderlint.rules.shared.epoch_passes import Pass, has_loops, inside, may_loop, passes, turn_name
from loaderlint.rules.shared.judgement import Unsaid, weighed
from loaderlint.rules.shared.lazy_places import spot_of
from loaderlint.rules.shared.silence_reasons import silent


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a sampler, where it is made."""
    if not has_loops(function):
        return
    forgotten = model.once(forgotten_samplers)
    yield from model.once(_silences) if model.explains else ()  # an iterator: they are told once
    for frame in function.frames if forgotten else ():
        for one in passes(frame, model):
            for sampler in forgotten.get(one.loader, ()):
                yield from _judge(sampler, one, model)


def _silences(model: Model) -> Iterator[Silence]:
    """The samplers of which something calls `set_epoch`."""
    forgotten = model.once(forgotten_samplers)
    for loader in model.loaders:
        for sampler in samplers_of(loader, model) if loader not in forgotten else ():
            reason = "something calls `set_epoch`, on it as far as is known"
            yield from silent(RULE.name, spot_of(sampler.site), reason, model)


def _judge(sampler: LibObject, one: Pass, model: Model) -> Iterator[Finding | Silence]:
    here = spot_of(sampler.site)
    certainty: Certainty = "proven" if shuffles(sampler, model) == "yes" else "possible"
    verdict = weighed(RULE, certainty)
    if isinstance(verdict, Unsaid):
        yield from silent(RULE.name, here, verdict.reason, model)
        return
    if one.evaluates(model):
        reason = f"the pass in `{model.label(one.frame)}` is one of evaluation"
        yield from silent(RULE.name, here, reason, model)
        return
    fix = _fix(sampler, one, model)
    yield verdict.finding(
        f"every epoch goes through {one.loader.described} in the same order: nothing calls `set_epoch` of its "
        f"DistributedSampler in the loop over epochs in `{model.label(one.frame)}`; call "
        "`sampler.set_epoch(epoch)` before each pass",
        here.place(model),
        SAMPLER,
        (Evidence(model.step_place(one.frame, one.step), "each turn of the loop around this goes through the loader"),),
        (fix,) if fix else (),
    )


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fix(sampler: LibObject, one: Pass, model: Model) -> Fix | None:
    """Insert the call as the first thing that the loop does."""
    epoch = turn_name(one.loop, one.frame, model)
    loader = _written(one, model)
    first = _first_step(one, model)
    kept = one.loader.argument("sampler").atoms
    if epoch is None or loader is None or first is None or sampler not in kept:
        return None
    source = f"{loader}.sampler.set_epoch({epoch})"
    if len(kept) > 1:
        source = f'if hasattr({loader}.sampler, "set_epoch"):\n    {source}'
    place = model.step_place(one.frame, first)
    return Fix("Call `set_epoch` in each turn of the loop", "safe", (InsertStatement(place, source, "before"),))


def _first_step(one: Pass, model: Model) -> int | None:
    """The first statement of the loop's body, after its variable got its value."""
    contexts = model.def_of(one.frame).contexts
    for number, step in model.steps(one.frame):
        if not inside(step.context, one.loop, one.frame, model):
            continue
        variable = isinstance(step, ir.Bind) and model.ev.expr(one.frame, step.value) == ir.Element(
            contexts[one.loop].expr
        )
        if not variable:
            return number if step.context == one.loop else None
    return None


def _written(one: Pass, model: Model) -> str | None:
    """How the loop's def can name the loader."""
    names = {_name_of(number, one, model) for number in _holding(one.frame, one.loader, model)} - {None}
    if not names and one.through.receiver is not None and one.through.receiver == one.frame.receiver:
        held = [model.ev.expr(one.through, n) for n in _holding(one.through, one.loader, model)]
        mine = [e.name for e in held if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(one.through, e.base))]
        names = {f"{model.def_of(one.frame).params[0].name}.{name}" for name in mine}
    return min(names, key=lambda name: (len(str(name)), str(name))) if names else None


def _holding(frame: Frame, loader: Loader, model: Model) -> Iterator[int]:
    """The expressions of the frame's def that are the loader."""
    facts = model.facts(frame)
    for number, value in tuple(frame.memo.items()):
        if value is not None and 0 <= number < len(facts.ir.exprs) and _is_loader(value, loader):
            yield number


def _is_loader(value: Val, loader: Loader) -> bool:
    sites = {atom.site for atom in value.atoms if isinstance(atom, LibObject | Instance)}
    return len(value.atoms) == 1 and loader.site in sites


def _name_of(number: int, one: Pass, model: Model) -> str | None:
    """The source text of an expression of the loop's def: a name, or an attribute of self."""
    frame = one.frame
    match model.ev.expr(frame, number):
        case ir.Global(name):
            return name
        case ir.Param(index):
            return model.def_of(frame).params[index].name
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)) and isinstance(frame.receiver, Instance):
            return f"{model.def_of(frame).params[0].name}.{name}"
        case ir.Call() | ir.Unpack() | ir.Index():
            return _bound_to(number, one, model)
    return None


def _bound_to(number: int, one: Pass, model: Model) -> str | None:
    """The only name that an expression is bound to, before the loop and never again."""
    steps = [step for _, step in model.steps(one.frame) if isinstance(step, ir.Bind)]
    names = [step.name for step in steps if step.value == number]
    if len(names) != 1 or sum(step.name == names[0] for step in steps) != 1:
        return None
    return names[0]


RULE = Rule(
    code="LDR505",
    name="missing-set-epoch",
    severity=Severity.WARNING,
    needs="M",
    over="main function",
    find=find,
    fix="safe",
    page=page(__doc__),
    words=("poch",),
    looks=may_loop,
)
