"""
# constant-epoch-seed (LDR508)

## What it does
Finds `torch.manual_seed(42)`, `seed_everything(42)` and similar calls inside the loop over epochs, with a seed that is
the same in each iteration.

## Why is this bad?
At the start of each epoch, torch draws the order of the samples and the seed of the workers from its global state. A
constant seed in the loop makes every epoch the same: the same order, the same augmentations, the same dropout. Measured
on torch 2.13 with 2 workers and shuffling: each of three epochs draws the same numbers for the same samples in the same
order. With the seed before the loop, all epochs differ.

## When it is not a bug
- The seed is set before the loop, or depends on the epoch: `torch.manual_seed(seed + epoch)`.
- The seed is set for the validation, and the training afterwards is seeded with the epoch.
- Each iteration is a run of its own, with its own loaders, model or optimizer (folds, trials), or with a combination of
  settings (`for lr, depth in itertools.product(rates, depths)`).
- The loop only evaluates, or its loader neither shuffles nor has workers.
- The loader has a `generator`: its order and the seed of its workers come from there.
- The random state is restored: `with torch.random.fork_rng()`, `torch.set_rng_state(...)`.
- The call seeds only NumPy or Python, whose seeds do not reach the workers.

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
Unsafe: the fix assumes `seed + epoch`. You may prefer to move the seed before the loop.

## References
- [Reproducibility: DataLoader](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Certainty, Evidence, Finding, Severity, Silence
from loaderlint.project.reach.model import MainFunction, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.constant_epoch_seed.fixes import epoch_fix
from loaderlint.rules.constant_epoch_seed.seedings import WORDS, seedings
from loaderlint.rules.constant_epoch_seed.seeds_in_loops import Seeding
from loaderlint.rules.constant_epoch_seed.training_passes import is_a_run, is_random, repeats
from loaderlint.rules.constant_epoch_seed.varying_seeds import is_reseeded
from loaderlint.rules.shared.epoch_passes import Pass, has_loops, passes
from loaderlint.rules.shared.judgement import Unsaid, Verdict, weighed
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot

_NO_PASS = "its loop iterates over no training loader whose order or workers draw random numbers"


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each seeding call."""
    for seeding in seedings(function, model) if has_loops(function) else ():
        yield from _judge(seeding, model)


def _judge(seeding: Seeding, model: Model) -> Iterator[Finding | Silence]:
    frame, loop = seeding.call.frame, seeding.loop
    here = Spot(frame, seeding.call.number)
    trained = [one for one in passes(frame, model) if one.loop == loop and repeats(one, model)]
    through = [one for one in trained if not is_reseeded(one, seeding.call, model)]
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
        return "the training after it gets another seed in each epoch"
    if is_a_run(seeding.call.frame, seeding.loop, model):
        return "each iteration of its loop is a separate training, or restores torch's state"
    return ""


def _finding(seeding: Seeding, lead: Pass, verdict: Verdict, model: Model) -> Finding:
    name = seeding.name.replace("lightning.pytorch.", "")
    fix = epoch_fix(seeding, model)
    return verdict.finding(
        f"every epoch is the same: `{name}` sets the same seed in each iteration of the loop over the epochs of "
        f"{lead.loader.described}, which decides the order of the samples and the workers' random numbers; seed before "
        "the loop, or with `seed + epoch`",
        model.place(seeding.call.frame, seeding.call.number),
        name,
        (Evidence(model.step_place(lead.frame, lead.step), "each iteration goes through the loader here"),),
        (fix,) if fix else (),
    )


RULE = Rule(
    code="LDR508",
    name="constant-epoch-seed",
    severity=Severity.WARNING,
    needs="M",
    over="main function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    words=WORDS,
)
