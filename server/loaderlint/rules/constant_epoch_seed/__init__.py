"""
# constant-epoch-seed (LDR508)

## What it does
Finds `torch.manual_seed(42)`, `seed_everything(42)` and their kin inside the loop over epochs, with a seed that is the
same in each turn.

## Why is this bad?
torch draws the order of the samples and the seed of the workers from its own state at the begin of each epoch. A
constant seed in the loop makes every epoch the same: the same order, the same augmentations, the same dropout. Measured
on torch 2.13 with 2 workers, shuffling: each of three epochs draws the same numbers for the same samples in the same
order. With the seed before the loop they all differ.

## When it is not a bug
- The seed is set before the loop, or the epoch enters it: `torch.manual_seed(seed + epoch)`.
- It is set for the validation, and the training is seeded with the epoch after it.
- Each turn is a run of its own: it makes its loaders, its model or its optimizer (folds, trials).
- The loop only evaluates, or its loader neither shuffles nor has workers.
- The state is put back: `with torch.random.fork_rng()`, `torch.set_rng_state(...)`.
- A seed for NumPy or Python alone: the workers do not take theirs from there.

## Example
```python
for epoch in range(epochs):
    torch.manual_seed(42)
    for batch in train_loader:
        step(batch)
```

## Fixed
```python
for epoch in range(epochs):
    torch.manual_seed(42 + epoch)
    for batch in train_loader:
        step(batch)
```

## Fix safety
Unsafe: whether the epochs should differ by `seed + epoch`, or the seed belongs before the loop, is a guess.

## References
- [Reproducibility: DataLoader](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, Severity, Silence, Wrap
from loaderlint.project.reach.model import MainFunction, Model, WorkerCall
from loaderlint.rules.base import Rule, page
from loaderlint.rules.constant_epoch_seed.seeds_in_loops import (
    SEEDER_NAMES,
    Seeding,
    is_seed_fixed,
    may_be_fixed,
    seeding_in_loop,
    seeding_names,
    torch_seeder,
)
from loaderlint.rules.constant_epoch_seed.training_passes import is_a_run, is_random, repeats, trains
from loaderlint.rules.shared.epoch_passes import Pass, has_loops, may_loop, passes, turn_name
from loaderlint.rules.shared.judgement import Unsaid, Verdict, weighed
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.silence_reasons import silent

_WORDS = ("seed", "SEED", "Seed")
_NO_PASS = "its loop goes through no loader for training whose order or workers draw random numbers"


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a seeding call."""
    for seeding in _seedings(function, model) if has_loops(function) else ():
        yield from _judge(seeding, model)


def _seedings(function: MainFunction, model: Model) -> Iterator[Seeding]:
    """The calls of a def that seed alike in each turn of a loop, and those that call the def, if it seeds."""
    names = model.once(seeding_names)
    if function.calls_one_of(names, may_be_fixed, in_loop=True):
        for frame in function.frames:
            found = [seeding_in_loop(call, model) for call in model.calls_named(frame, names)]
            yield from (seeding for seeding in found if seeding is not None)
    if function.written.name and function.calls_one_of(SEEDER_NAMES):
        yield from _called_in_loops(function, model)


def _called_in_loops(function: MainFunction, model: Model) -> Iterator[Seeding]:
    """The calls of a def that seeds, in loops of pieces that do not speak of seeds and are not asked about: those of
    `train_one_epoch`."""
    name = function.written.name
    places = {
        (site.path, site.piece, site.def_)
        for site in model.callers.sites(name)
        if site.context > 0 and not _speaks_of_seeds(site.path, site.piece, model)
    }
    frames = [frame for place in sorted(places) for frame in model.callers.frames(*place)]
    for frame in frames:
        for call in model.calls_named(frame, {name}) if frame not in model.reached else ():
            seeding = seeding_in_loop(call, model)
            # Whether it trains is asked last: for that all calls in the loops of the caller are followed.
            if seeding and any(trains(target, frame, model) for target in model.ev.targets(call.number, frame)):
                yield seeding


def _speaks_of_seeds(path: Path, piece: int, model: Model) -> bool:
    file = model.files.file(path)
    return file is not None and any(file.pieces[piece].holds(word) for word in _WORDS)


def _judge(seeding: Seeding, model: Model) -> Iterator[Finding | Silence]:
    frame, loop = seeding.call.frame, seeding.loop
    here = Spot(frame, seeding.call.number)
    trained = [one for one in passes(frame, model) if one.loop == loop and repeats(one, model)]
    through = [one for one in trained if not _is_reseeded(one, seeding.call, model)]
    reason = _why_not(seeding, trained, through, model)
    sure = [one for one in through if is_random(one.loader) == "yes"]
    certainty: Certainty = "proven" if sure else "possible"
    verdict = weighed(RULE, certainty, seeding.unknowns)
    if reason:
        yield from silent(RULE.name, here, reason, model)
        return
    if isinstance(verdict, Unsaid):
        yield from silent(RULE.name, here, verdict.reason, model)
        return
    yield _finding(seeding, (sure or through)[0], verdict, model)


def _why_not(seeding: Seeding, trained: list[Pass], through: list[Pass], model: Model) -> str:
    """Why the epochs are not the same; '' if they are."""
    if not trained:
        return _NO_PASS
    if not through:
        return "the training that follows it is seeded with another seed in each epoch"
    if is_a_run(seeding.call.frame, seeding.loop, model):
        return "each turn of its loop is a training of its own, or puts torch's state back"
    return ""


def _finding(seeding: Seeding, lead: Pass, verdict: Verdict, model: Model) -> Finding:
    name = seeding.name.replace("lightning.pytorch.", "")
    fix = _fix(seeding, model)
    return verdict.finding(
        f"every epoch is the same: `{name}` sets the same seed in each turn of the loop that goes through "
        f"{lead.loader.described}, and the order of the samples and the workers' random numbers come from it; seed "
        "before the loop, or with `seed + epoch`",
        model.place(seeding.call.frame, seeding.call.number),
        name,
        (Evidence(model.step_place(lead.frame, lead.step), "each turn goes through the loader here"),),
        (fix,) if fix else (),
    )


def _is_reseeded(one: Pass, seeding: WorkerCall, model: Model) -> bool:
    """Whether each turn of the loop sets a seed that moves on between a constant one and the pass that follows it. What
    comes before the constant seed comes after it in the next turn."""
    frame, loop = seeding.frame, one.loop
    performed = {step.call: number for number, step in model.steps_of(frame, ir.Perform) if step.context == loop}
    calls = [call for call in model.calls_named(frame, SEEDER_NAMES) if call.number in performed]
    moving = [call for call in calls if torch_seeder(call) and call.call.args and not is_seed_fixed(call, loop, model)]
    places = [performed[call.number] for call in moving]
    at = next((number for number, step in model.steps_of(frame, ir.Perform) if step.call == seeding.number), one.step)
    if at < one.step:
        return any(at < place < one.step for place in places)
    return any(place > at or place < one.step for place in places)


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fix(seeding: Seeding, model: Model) -> Fix | None:
    """Add the epoch to a seed that is written in the call itself."""
    frame, number = seeding.call.frame, seeding.seed
    epoch = turn_name(seeding.loop, frame, model)
    if epoch is None or number is None:
        return None
    e = model.ev.expr(frame, number)
    place = model.place(frame, number)
    literals = [getattr(atom, "kind", "int") for atom in model.ev.eval(number, frame).atoms]
    simple = isinstance(e, ir.Const | ir.Attr | ir.Global)
    if not simple or place.anchor < model.place(frame, seeding.call.number).anchor or set(literals) != {"int"}:
        return None
    return Fix("Add the epoch to the seed", "unsafe", (Wrap(place, "", f" + {epoch}"),))


RULE = Rule(
    code="LDR508",
    name="constant-epoch-seed",
    severity=Severity.WARNING,
    needs="M",
    over="main function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    words=_WORDS,
    looks=may_loop,
)
