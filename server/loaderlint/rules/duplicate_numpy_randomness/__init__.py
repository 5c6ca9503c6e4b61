"""
# duplicate-numpy-randomness (LDR101)

## What it does
Finds draws from NumPy's global random state (`np.random.rand()`, `np.random.randint(...)`, ...) in code that a loader's
workers run, where torch is older than 1.9. Other libraries draw from it, too, unless they get a generator or a seed:
pandas (`table.sample(1)`), the distributions of SciPy (`norm.rvs(size=3)`), `shuffle` and `resample` of scikit-learn.

## Why is this bad?
Forked workers inherit a copy of NumPy's global state, and before torch 1.9 nothing gives each worker its own seed. All
workers draw the same numbers, and every epoch starts from the same state again. Measured on torch 1.8.1 with 4 workers
and 16 samples: each number occurs 4 times, and epoch 2 equals epoch 1. Training continues with a quarter of the
augmentation it should have. A single worker repeats its epochs, unless it persists (`persistent_workers=True`) or its
sampler never ends, so that the training is one pass.

torch 1.9 and later seed NumPy in each worker (pytorch/pytorch#56488), so the rule is silent there.

## When it is not a bug
- The project uses torch 1.9 or later, the workers are spawned, or the loader has no workers.
- The `worker_init_fn` seeds NumPy. (`constant-worker-seed` reports one that seeds from a constant. One that seeds only
  if an option is set, `if seed is not None: ...`, is a warning.)
- No loader of the dataset is in sight, and the project mentions a `worker_init_fn`, which that loader may have.
- NumPy is seeded before the draw on every path to it, or, if a collate function draws, by whatever makes the samples.
  (If only one branch seeds it, the finding is a warning.)
- The loader seeds NumPy itself: timm's `create_loader`, ultralytics, fastai, Lightning with
  `seed_everything(workers=True)`.
- The number is only compared with a chance that is 0 or 1 in this dataset (`np.random.rand() < self.flip`).
- Nothing reads the number: its name is bound again before (`dx = np.random.randint(9)`, then `dx = 0`).
- The number is drawn only for an index that is out of range (`if index not in range(len(self))`).
- The draw sets an order that must be the same in all workers, from which each then takes its share.
- The draw is from Python's `random` or from torch: every version of torch seeds them in each worker.

## Example
```python
class Noisy(Dataset):
    def __getitem__(self, index):
        return self.data[index] + np.random.randn(3)

train_loader = DataLoader(Noisy(), num_workers=4)
```

## Fixed
```python
def seed_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)

train_loader = DataLoader(Noisy(), num_workers=4, worker_init_fn=seed_worker)
```

## Fix safety
Safe where the project declares a torch that may be older than 1.9: `torch.initial_seed()` differs in every worker and
epoch on every version of torch, and follows `torch.manual_seed` in the main process. Unsafe where nothing says which
torch is used: the project may not need it.

If the loader already has a `worker_init_fn` that does not seed NumPy, the fix adds the seed there. If the script
defines a function that seeds correctly, the fix passes that one. It also passes one that seeds by the worker's number
alone, such as `np.random.seed(42 + worker_id)`, and corrects it (unsafe if a loader for evaluation has such a
function). If several scripts need the function, the fix writes it once, in a module that all of them import, directly
or not: preferably beside functions that seed (`set_seed`), never in a module about another dataset. A loader whose
option for workers is 0 by default gets it too, for those who set the option. So does a loader in the same file whose
dataset is unknown, because it comes out of a registry, unless it reads its samples in order, as for evaluation.

Where a call unpacks a dict, `DataLoader(data, **options)`, the fix passes the function beside it only if the dict
cannot hold a `worker_init_fn`. If some of the loaders cannot get the function, the fix leaves them out: then it is
unsafe, and its title names them.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
- pytorch/pytorch#5059, pytorch/pytorch#56488
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from loaderlint.findings.finding import Finding, Fix, Severity, Silence
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.duplicate_numpy_randomness.draws_without_effect import (
    NEVER,
    OUT_OF_RANGE,
    UNREAD,
    branch_chosen,
    has_no_effect,
    is_out_of_range,
    is_unread,
)
from loaderlint.rules.duplicate_numpy_randomness.numpy_seeding import FIXED_IN, Draw, are_seeded, cure_of
from loaderlint.rules.shared.common_order import sets_common_order
from loaderlint.rules.shared.global_draws import numpy_draws
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.loader_traits import has_unknown_dataset, in_sight, without_workers_yet
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of, repeated
from loaderlint.rules.shared.worker_seeding import seed_worker_fix


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each draw, for all loaders whose workers perform it."""
    for one in judged(RULE, _candidates(function, model), model, weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Draw]]:
    """The draws from NumPy's state."""
    for call in model.calls(function):
        here = Spot(call.frame, call.number)
        for name in numpy_draws(call, model):
            common = sets_common_order(call, name, model)
            why_not = "it sets an order that must be the same in all workers" if common else ""
            why_not = why_not or (NEVER if has_no_effect(call, model) else "")
            why_not = why_not or (UNREAD if is_unread(call, model) else "")
            why_not = why_not or (OUT_OF_RANGE if is_out_of_range(call, model) else "")
            cure = partial(cure_of, call, model)
            key, branch = (call.number, name), branch_chosen(call, model)
            yield Candidate(Draw(call, name), call.frame, here, cure, why_not, key=key, context=branch)


def _finding(verdict: WorkerVerdict[Draw], model: Model) -> Finding:
    name, exposure = verdict.about.function, verdict.exposure
    condition = "" if _may_be_old(exposure, model) else "only before torch 1.9: "
    cause = "is seeded only under a condition" if are_seeded(verdict.together, exposure, model) else "nothing seeds"
    loop = exposure.lead.kind.worker_loop
    remedy = f"seed NumPy in its `{loop}`" if loop else "pass a worker_init_fn that seeds NumPy"
    found = verdict.finding(
        f"{condition}{repeated(exposure)}: `{name.replace('numpy.', 'np.')}` uses NumPy's global state, which {cause} "
        f"{in_workers_of(exposure)}; {remedy}",
        verdict.spot.place(model),
        name,
        verdict.why(model),
        _fixes(verdict, model),
    )
    return replace(found, lacking=verdict.lacking([one.call.frame for one in verdict.together], model))


# --- how loud ---------------------------------------------------------------------------------------------------------


def _weigh(model: Model, draws: Sequence[Candidate[Draw]], exposure: Exposure) -> Severity | Unsaid:
    """Error where torch is known to be old; where nothing is declared a hint that says so."""
    seeded = are_seeded([one.about for one in draws], exposure, model)
    torch = model.environment(exposure.lead).torch
    answer = torch.before(FIXED_IN)
    if answer in ("yes", "maybe"):
        return lowered(RULE.severity, exposure, seeded + (answer == "maybe"))
    if exposure.certainty == "proven" and not seeded:
        return Severity.HINT
    condition = "only under a condition that seeding may be off for" if seeded else "only possible"
    return Unsaid(f"it is {condition}, and nothing says which torch is used (torch {FIXED_IN} and later seed NumPy)")


def _may_be_old(exposure: Exposure, model: Model) -> bool:
    """Whether the project declares a torch that may be older than 1.9."""
    return model.environment(exposure.lead).torch.before(FIXED_IN) in ("yes", "maybe")


def _fixes(verdict: WorkerVerdict[Draw], model: Model) -> tuple[Fix, ...]:
    loaders = [loader for loader in in_sight(verdict.exposure) if loader.has_workers() != "no"]
    others = without_workers_yet((one.call.frame for one in verdict.together), model)
    fix = seed_worker_fix(loaders, model, [*others, *_beside_them(loaders, model)])
    if fix and not _may_be_old(verdict.exposure, model):
        fix = replace(fix, safety="unsafe")  # nothing says that the project uses such a torch
    return (fix,) if fix else ()


def _beside_them(loaders: Sequence[Loader], model: Model) -> list[Loader]:
    """The loaders in the files of these whose dataset is not known: it is probably what these hold. Not one that keeps
    the order: it may be for evaluation, which repeats its numbers, or for a stream that all workers order alike."""
    files = {loader.path for loader in loaders}
    unknown = (one for one in model.loaders if one.path in files and has_unknown_dataset(one))
    return [one for one in unknown if one.has_workers() != "no" and not one.keeps_order]


RULE = Rule(
    code="LDR101",
    name="duplicate-numpy-randomness",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
