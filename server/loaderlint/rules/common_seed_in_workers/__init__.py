"""
# common-seed-in-workers (LDR109)

## What it does
Finds calls of `random.seed`, `np.random.seed` and `torch.manual_seed` with a seed that is the same in all workers: a
constant, or `self.seed + self.epoch`. It also finds generators that each worker makes with such a seed:
`np.random.default_rng(self.seed)`. The rule looks at the collate function, at `__iter__`, and at code that a worker
runs once per epoch or batch; for generators also at what the first sample makes: `if self.rng is None`.

## Why is this bad?
torch gives each worker its own seed, and such a call overwrites it. All workers then draw the same numbers within an
epoch: with N workers, only one N-th of the noise, masks and crops are different, without a warning. Adding the epoch to
the seed makes the epochs different, but not the workers.

## When it is not a bug
- The seed depends on the worker: `torch.initial_seed()`, `get_worker_info().seed` or its `id`.
- The seed controls something that all workers must agree on: the order of the items, from which each worker then takes
  its share (`order[info.id :: info.num_workers]`).
- The loader has one worker or none. `constant-worker-seed` reports seeds that are the same in each epoch, and
  `reseed-per-sample` reports seeds that are set for each sample.
- The random state is restored afterwards, or the code runs for evaluation only.
- It is a separate generator (`np.random.default_rng(...)`) that draws the order, draws once before the items are
  shared out, or only chooses among the worker's own items or streams.
- The seed of a generator may be None, which gives each its own; or each sample makes one, which may be meant.

## Example
```python
class Stream(IterableDataset):
    def __iter__(self):
        random.seed(self.seed + self.epoch)
        worker = get_worker_info()
        for index in range(worker.id, len(self.images), worker.num_workers):
            yield crop(self.images[index], random.randrange(32))

loader = DataLoader(Stream(images), num_workers=4)
```

## Fixed
```python
class Stream(IterableDataset):
    def __iter__(self):
        random.seed((torch.initial_seed() + (self.seed + self.epoch)) % 2**32)
        worker = get_worker_info()
        for index in range(worker.id, len(self.images), worker.num_workers):
            yield crop(self.images[index], random.randrange(32))

loader = DataLoader(Stream(images), num_workers=4)
```

## Fix safety
Safe where a worker seeds once, or at the start of an epoch: the fix changes all such calls of the function together,
and `torch.initial_seed()` follows `torch.manual_seed` in the main process. There is no fix where the same function also
draws the order of the items, which must be the same in all workers: draw it from a separate generator. The fix is
unsafe for a constant seed with persistent workers, where every epoch would still start with the same numbers, for a
separate generator, whose numbers then depend on torch's seed, too, and where the seed is set for each batch or sample:
there the fix deletes the calls.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.values import def_key
from loaderlint.project.reach.model import Exposure, Loader, Model, Part, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.common_seed_in_workers.common_generators import generators_of, why_generator_not_common
from loaderlint.rules.common_seed_in_workers.common_seedings import Seeding, sets_order
from loaderlint.rules.common_seed_in_workers.fixes import own_seed_fix
from loaderlint.rules.shared.common_seeds import rhythm, why_not_common
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.seed_sources import seed_sources
from loaderlint.rules.shared.seeding_calls import seeds_of, written
from loaderlint.rules.shared.silence_reasons import EVALUATION, silences
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import loaders_of

_PARTS: tuple[Part, ...] = ("sample", "collate")
#: Why it is no fault that the workers of a loader share a seed; '' if it is one.
WhyNot = Callable[[WorkerCall, int, Loader, Model], str]


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each def in which such seeds are written."""
    for one in judged(RULE, _candidates(function, model), model, parts=_PARTS, weigh=_weigh):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Seeding] | Silence]:
    """The calls that give all workers of some loader the same seed."""
    for call in model.calls(function):
        for why, found in ((why_not_common, seeds_of(call)), (why_generator_not_common, generators_of(call))):
            for name, seed in found:
                one = _candidate(call, name, seed, why, model)
                yield from [one] if one else _silences(call, seed, why, model)


def _candidate(call: WorkerCall, name: str, seed: int, why_not: WhyNot, model: Model) -> Candidate[Seeding] | None:
    def cure(loader: Loader) -> str:
        return model.remembered(why_not, call, seed, loader)

    exposure = model.exposure(call.frame, RULE.workers, parts=_PARTS, cured=lambda loader: bool(cure(loader)))
    if exposure is None:
        return None
    place = written(call, seed, exposure.lead, model)
    moves = "moving" in set(seed_sources(seed, call.frame, model))
    seeding = Seeding(call, name, rhythm(call, exposure.lead, model), place, moves, exposure)
    where = def_key(place.frame)
    return Candidate(seeding, call.frame, Spot(place.frame, place.number), cure, key=where)


def _silences(call: WorkerCall, seed: int, why_not: WhyNot, model: Model) -> Iterator[Silence]:
    loaders = list(model.loaders_of(model.reached[call.frame].bits(_PARTS))) if model.explains else []
    if loaders:
        reasons = (why_not(call, seed, loader, model) for loader in loaders)
        yield from silences(RULE.name, model.place(call.frame, call.number), reasons)


def _weigh(seedings: Sequence[Candidate[Seeding]], exposure: Exposure) -> Severity | Unsaid:
    if all(loader.is_for_evaluation for loader in exposure.loaders):
        return Unsaid(EVALUATION)
    return lowered(RULE.severity, exposure)


def _finding(verdict: WorkerVerdict[Seeding], model: Model) -> Finding:
    first, place = verdict.about, verdict.spot.place(model)
    others = {model.place(one.place.frame, one.place.number): one.function for one in verdict.together}
    also = [Evidence(other, f"`{function}` too") for other, function in others.items() if other != place]
    fix = own_seed_fix(verdict.together, model)
    return verdict.finding(
        f"all workers of {loaders_of(verdict.exposure)} draw the same numbers within an epoch: "
        f"`{first.function.replace('numpy.', 'np.')}` gets the same seed in each of them; {_advice(first, model)}",
        place,
        first.function,
        (*also, *verdict.why(model)),
        (fix,) if fix else (),
    )


def _advice(seeding: Seeding, model: Model) -> str:
    if sets_order(seeding, model):
        return "draw the order, which all workers share, from a separate generator"
    if seeding.is_of_generator and seeding.rhythm in ("batch", "sample"):
        return "make it once in each worker, from `torch.initial_seed()`"
    if seeding.rhythm in ("batch", "sample"):
        return "delete the call, or make the seed depend on the worker: `torch.initial_seed()`"
    if seeding.moves or seeding.is_of_generator:
        return "add `torch.initial_seed()` to it"
    return "seed from `torch.initial_seed() % 2**32`"


RULE = Rule(
    code="LDR109",
    name="common-seed-in-workers",
    severity=Severity.ERROR,
    needs="W2",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
