"""
# reseed-per-sample (LDR105)

## What it does
Finds calls of `np.random.seed`, `random.seed` and `torch.manual_seed` that run for each sample with a seed that is the
same for all samples: a constant, the worker's seed or number, or the whole second.

## Why is this bad?
Every sample starts from the same random state and gets the same crop, flip or noise, with and without workers. Measured
on torch 2.13 with 16 samples: one value instead of 16, in every epoch. Without workers, the call also resets the main
process: after `torch.manual_seed(0)` in `__getitem__`, epochs 1, 2 and 3 had the same order, and dropout and
initialisation repeat too.

`np.random.seed(index)` gives each sample its own numbers, but the same numbers in every epoch. That may be intended,
for instance for a validation set, so it is a hint.

## When it is not a bug
- The seed was drawn: `seed = random.randint(...)`, then set before each of two transforms that must agree.
- The seed depends on the epoch: `np.random.seed(self.epoch * len(self) + index)`.
- The seed is set once (`if not self.seeded: ...`), at the start of an `__iter__`, or in the `worker_init_fn`, or it is
  in a collate function that several workers run: `constant-worker-seed` and `common-seed-in-workers` report those.
- No sample draws from the state that it sets: the samples draw from a generator object of their own
  (`rng.normal()`), from another library's state, or not at all, and what they call is known. (Where samples draw from a
  generator, such as those that the transforms of albumentations 1.4.21 and later hold, and code that is not known may
  draw from the state, the finding is only 'information'.)
- The random state is restored afterwards: `np.random.set_state(state)`, `with torch.random.fork_rng()`.
- The call seeds a separate generator: `np.random.default_rng(index)`.
- The code runs for evaluation only: `if self.split == "val": ...`, or the dataset's loader is for evaluation.

## Example
```python
class Crops(Dataset):
    def __getitem__(self, index):
        np.random.seed(42)
        return crop(self.images[index], np.random.randint(0, 32, 2))

loader = DataLoader(Crops(), num_workers=4)
```

## Fixed
```python
class Crops(Dataset):
    def __getitem__(self, index):
        return crop(self.images[index], np.random.randint(0, 32, 2))

loader = DataLoader(Crops(), num_workers=4)
```

## Fix safety
Unsafe: the fix deletes the calls. torch seeds its own, Python's and (since 1.9) NumPy's state in each worker, but you
may want samples that are alike. For reproducible numbers, use a generator per sample:
`rng = np.random.default_rng((seed, epoch, index))`.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from loaderlint.findings.finding import DeleteStatement, Evidence, Finding, Fix, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.reseed_per_sample.reseeding_effects import (
    Effect,
    Seeding,
    effect_of,
    is_in_doubt,
    loaders_running,
    why_no_effect,
)
from loaderlint.rules.shared.global_draws import SAMPLE_PARTS
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.seeding_calls import is_for_workers, seeds_of, statements, written
from loaderlint.rules.shared.silence_reasons import CURED, EVALUATION, silences
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import loaders_of


class Reseed(NamedTuple):
    """A seeding call for each sample, and what it does to samples."""

    effect: Effect
    seeding: Seeding


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding where a seed is written, or where a function is called that has the seed in it."""
    for one in judged(RULE, _candidates(function, model), model, parts=SAMPLE_PARTS, weigh=_weigh):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Reseed] | Silence]:
    """The calls that seed for each sample."""
    for one in _seedings(function, model):
        here = Spot(one.call.frame, one.call.number)
        effects: dict[Effect, list[Loader]] = {}
        for loader in loaders_running(one, model):
            if (effect := effect_of(one, loader, model)) is not None:
                effects.setdefault(effect, []).append(loader)
        if not effects and model.explains:
            reasons = (why_no_effect(one, loader, model) for loader in loaders_running(one, model))
            yield from silences(RULE.name, here.place(model), reasons)
        for effect, loaders in effects.items():
            unproven = all(is_in_doubt(one, loader, model) for loader in loaders)
            yield Candidate(
                Reseed(effect, one),
                one.call.frame,
                here,
                partial(_cure, Reseed(effect, one), model),
                severity=Severity.ERROR if effect == "alike" else Severity.HINT,
                doubts=int(unproven),
                unproven=unproven,
                key=(effect, one.call.frame),
            )


def _seedings(function: WorkerFunction, model: Model) -> list[Seeding]:
    """The seeding calls of a function, each with what its frame seeds."""
    found = [(call, name, seed) for call in model.calls(function) for name, seed in seeds_of(call)]
    seeders: dict[Frame, set[str]] = {}
    for call, name, _ in found:
        seeders.setdefault(call.frame, set()).add(name)
    return [Seeding(call, name, seed, frozenset(seeders[call.frame])) for call, name, seed in found]


def _cure(one: Reseed, model: Model, loader: Loader) -> str:
    return CURED if effect_of(one.seeding, loader, model) != one.effect else ""


def _weigh(reseeds: Sequence[Candidate[Reseed]], exposure: Exposure) -> Severity | Unsaid:
    if all(loader.is_for_evaluation for loader in exposure.loaders):
        return Unsaid(EVALUATION)
    return lowered(reseeds[0].severity or RULE.severity, exposure, min(one.doubts for one in reseeds))


def _finding(verdict: WorkerVerdict[Reseed], model: Model) -> Finding:
    one = verdict.about.seeding
    source = written(one.call, one.seed, verdict.exposure.lead, model)
    others = [other.seeding for other in verdict.together if other.seeding is not one]
    also = {model.place(other.call.frame, other.call.number): other.function for other in others}
    return verdict.finding(
        _message(verdict.about, verdict.exposure),
        model.place(source.frame, source.number),
        one.function,
        (*(Evidence(place, f"`{function}` too") for place, function in also.items()), *verdict.why(model)),
        _fixes(verdict.together, verdict.exposure, model),
    )


def _message(one: Reseed, exposure: Exposure) -> str:
    name = one.seeding.function.replace("numpy.", "np.")
    loaders = loaders_of(exposure)
    if one.effect == "by index":
        return (
            f"each sample of {loaders} has the same random numbers in every epoch: `{name}` sets its state from the "
            "index; make the seed depend on the epoch if this is not intended"
        )
    return (
        f"every sample of {loaders} has the same random numbers: `{name}` sets the same seed before each; "
        "delete the call, or use a separate generator for each sample"
    )


def _fixes(reseeds: Sequence[Reseed], exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    """Delete the seeding statements of the function, or the call of the helper that sets the seed it is given."""
    sources = dict.fromkeys(written(one.seeding.call, one.seeding.seed, exposure.lead, model) for one in reseeds)
    places = statements(sources, model)
    if not all(is_for_workers(source.frame, model) for source in sources):
        return ()
    intents = tuple(DeleteStatement(place) for place in dict.fromkeys(places) if place is not None)
    if len(intents) != len(set(places)) or None in places:
        return ()
    return (Fix("Delete the seeding for each sample", "unsafe", intents),)


RULE = Rule(
    code="LDR105",
    name="reseed-per-sample",
    severity=Severity.ERROR,
    needs="L",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
