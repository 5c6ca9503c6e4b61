"""
# constant-worker-seed (LDR103)

## What it does
Finds worker init functions that seed from a value which does not change from epoch to epoch, or not from worker to
worker: a constant, `worker_id` alone, the whole second of `time.time()`, `np.random.get_state()[1][0]`, or a number
that the main process draws once, even with `worker_id` added: `partial(init, seed=random.randint(0, 99))`. The variable
of a loop that only makes the loaders, such as `for fold in range(5)`, is a constant of each loader.

It also finds datasets that seed once in this way: with the first sample (`if not self.seeded: ...`) or at the start of
`__iter__`. `reseed-per-sample` reports seeds that are set for each sample, and `common-seed-in-workers` reports seeds
that several workers share.

## Why is this bad?
torch gives each worker a fresh seed in each epoch, and such a function overwrites it. Measured on torch 1.8 and 2.13:
with `np.random.seed(0)`, all workers draw the same numbers in all epochs; with `np.random.seed(worker_id)`, the numbers
repeat in every epoch. `np.random.get_state()[1][0] + worker_id`, the idiom of a well-known article, is worse on torch
1.9 and later: that word of the state is always 2147483648 there, so every epoch of every run of every project draws the
same numbers.

## When it is not a bug
- The seed comes from `torch.initial_seed()` or `get_worker_info().seed`.
- The seed is `worker_id` alone, or `np.random.get_state()[1][0] + worker_id`, and the loader has
  `persistent_workers=True`, or `num_workers > 0`: the function runs once. It does so as well if the sampler never ends
  and the training is one pass.
- The seed depends on the epoch: an attribute that is set before each epoch, or a loader that is created in the loop
  over epochs.
- The seed comes from `np.random.get_state()`, or is a number drawn from NumPy, before torch 1.9, and the main process
  calls `np.random.seed()` or draws numbers in each epoch: the workers start with its state there.
- The loader is for evaluation, where repeated numbers are usually wanted: a hint at most. Such a loader has
  `shuffle=False`, and the name of one, or all known code passes it only to what evaluates:
  `trainer.validate(model, loader)`. So does a function, class or file named so that iterates over it under
  `torch.no_grad()`, and one with another name that returns nothing, if nothing in the loop learns.
- Neither the number of workers is known nor that they draw numbers: a hint.
- Each sample seeds the state itself (`np.random.seed()`), so that only its first draws come from this seed: a hint.
- The loader has no workers and never calls the function.
- The workers draw only from other libraries or not at all, and all the code that they call is known. torchvision's
  transforms draw from torch since 0.8, except for `RandomChoice` and `RandomOrder`.

## Example
```python
def init(worker_id):
    np.random.seed(42 + worker_id)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fixed
```python
def init(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fix safety
Safe: the fix changes all seeding calls of the function together, because a remaining `torch.manual_seed(42)` would make
`torch.initial_seed()` a constant. Those of torch and of the GPUs beside them are removed: torch makes them itself.
Numbers that were the same in each run are then the same only after `torch.manual_seed`. If nothing calls it, the title
of the fix says so. Unsafe if the workers of an evaluation loader draw from the seeded state too, because they may be
meant to draw the same numbers each time, and if the seed is made of a device or a GPU, which may stand for the rank of
the process. Unsafe too if the seed is passed in (a parameter other than the worker's number, an attribute of `self`, a
variable of the enclosing function that nothing else reads): after the fix, what passes it has no effect.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.constant_worker_seed.fixes import fresh_seed, seeding_fixes
from loaderlint.rules.constant_worker_seed.worker_seedings import WorkerSeeding, each_sample_seeds, worker_seedings
from loaderlint.rules.shared.endless_passes import takes_one_pass
from loaderlint.rules.shared.evaluation_loaders import is_for_evaluation
from loaderlint.rules.shared.global_draws import drawn_from, is_drawn_from
from loaderlint.rules.shared.judgement import EVERYWHERE, Unsaid, Verdict, as_hint, loudness
from loaderlint.rules.shared.loader_traits import persist_if_any
from loaderlint.rules.shared.seed_sources import Source
from loaderlint.rules.shared.silence_reasons import few_workers
from loaderlint.rules.shared.wording import in_workers_of

_FRESH_SOURCES: frozenset[Source] = frozenset({"fresh", "unknown", "index"})
_UNUSED = "the workers draw no numbers from the state that it sets"


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each loader, at the first bad seed of its workers (NumPy's before others)."""
    if loader.has_workers() == "no":
        if loader.site is not None and model.explains and loader.argument("worker_init_fn").literal is None:
            yield Silence(RULE.name, model.site_place(loader.site), few_workers(loader))
        return
    seedings = list(worker_seedings(loader, model))
    # torch's own state is set from something fresh first; what follows may be derived from it
    derived = any("fresh" in s.sources and s.function.startswith("torch.") for s in seedings)
    bad = [s for s in seedings if s.sources and not derived and not s.sources & _FRESH_SOURCES]
    felt = [s for s in bad if is_drawn_from(s.function, loader, model)]
    for seeding in seedings:
        if (seeding not in bad or not felt) and model.explains:
            place = model.place(seeding.place.frame, seeding.place.number)
            reason = _UNUSED if seeding in bad else _why_good(seeding, derived=derived)
            yield Silence(RULE.name, place, reason)
    if not felt:
        return
    first = min(felt, key=lambda s: not s.function.startswith("numpy"))
    exposure = model.exposed(1 << loader.index, model.reached[first.call.frame], 1)
    if exposure is None:
        return
    if "optional" in first.sources:
        exposure = replace(exposure, certainty="possible")
    severity = _severity(first, loader, exposure, model)
    place = model.place(first.place.frame, first.place.number)
    if isinstance(severity, Unsaid):
        yield Silence(RULE.name, place, severity.reason)
        return
    others = {model.place(s.place.frame, s.place.number): s.function for s in bad}
    also = [Evidence(other, f"`{function}` too") for other, function in others.items() if other != place]
    yield Verdict(RULE.name, severity, exposure.certainty).finding(
        f"{_effect(first, loader)} {in_workers_of(exposure)}: {_cause(first)}; seed from `{fresh_seed(first)}`",
        place,
        first.function,
        (*also, *model.why(first.call.frame, exposure)),
        seeding_fixes(seedings, bad, model),
    )


def _why_good(seeding: WorkerSeeding, *, derived: bool) -> str:
    """Why a seed is not one that repeats."""
    if "fresh" in seeding.sources:
        return "the seed differs in each worker and epoch"
    if derived:
        return "torch gets a new seed there, and this seed may come from it"
    return "where the seed comes from is not known" if "unknown" in seeding.sources else "the seed depends on the index"


def _severity(seeding: WorkerSeeding, loader: Loader, exposure: Exposure, model: Model) -> Severity | Unsaid:
    """Error where workers or runs agree; worker_id alone is a warning, if the function runs in each epoch."""
    sources = seeding.sources
    by_worker = "worker id" in sources
    if (by_worker or seeding.each_epoch) and sources & {"time", "moving"}:
        return Unsaid("the seed differs in each epoch and worker")
    if seeding.each_epoch:
        severity = loudness(Severity.WARNING, exposure.certainty)
    elif by_worker and persist_if_any(loader, model):
        return Unsaid("its workers persist, so each starts once, with its own seed")
    elif by_worker and takes_one_pass(loader, model):
        return Unsaid("its samples never end, so each worker starts once, with its own seed")
    elif "state" in sources or not by_worker:
        severity = loudness(Severity.ERROR, exposure.certainty)
    else:
        severity = loudness(Severity.WARNING, exposure.certainty, 1 if loader.persistent is None else 0)
    is_quiet = is_for_evaluation(loader, model) or exposure.presumed or _is_guess(seeding, loader, model)
    is_quiet = is_quiet or each_sample_seeds(seeding.function, loader, model)
    return as_hint(severity) if is_quiet else severity


def _is_guess(seeding: WorkerSeeding, loader: Loader, model: Model) -> bool:
    """Whether neither the number of workers is known nor that they draw from the state that is seeded."""
    library = SEEDERS.get(seeding.function, "all")
    return loader.has_workers() == "maybe" and drawn_from(library, loader, EVERYWHERE, model) != "yes"


def _effect(seeding: WorkerSeeding, loader: Loader) -> str:
    sources = seeding.sources
    if "state" in sources:
        return f"every {'worker' if loader.persistent else 'epoch'} of every run draws the same numbers"
    if "worker id" in sources or seeding.each_epoch:
        return "every epoch draws the same numbers"
    return "every worker draws the same numbers"


def _cause(seeding: WorkerSeeding) -> str:
    sources = seeding.sources
    if "state" in sources:
        return "this word of NumPy's state is a constant on torch 1.9 and later"
    if seeding.each_epoch:
        return "this seed is the same each time the dataset is iterated over"
    if "worker id" in sources:
        return "this seed is the same each time a worker starts"
    if "time" in sources:
        return "this seed is the same for all workers that start within a second"
    return "this seed is the same in all workers"


RULE = Rule(
    code="LDR103",
    name="constant-worker-seed",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
