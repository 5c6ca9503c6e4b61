"""
# duplicate-numpy-randomness (LDR101)

## What it does
Finds draws from NumPy's global random state (`np.random.rand()`, `np.random.randint(...)`, ...) in code that a loader's
workers run, where torch is older than 1.9.

## Why is this bad?
Workers that start by fork inherit a copy of NumPy's global state. Before torch 1.9 nothing gives each worker its own
seed: all workers draw the same numbers, and every epoch starts from the same state again. Measured on torch 1.8.1 with
4 workers and 16 samples: each number occurs 4 times, and epoch 2 equals epoch 1. Training goes on, with a quarter of
the augmentation it should have. One worker alone repeats its epochs, unless it lives on (`persistent_workers=True`).

torch 1.9 and later seed NumPy in each worker (pytorch/pytorch#56488). There this rule is silent.

## When it is not a bug
- torch 1.9 or later; workers that are spawned; a loader without workers.
- A `worker_init_fn` that seeds NumPy. (One that seeds from a constant is `constant-worker-seed`. One that seeds only if
  an option is set, `if seed is not None: ...`, is a warning.)
- Loaders that seed NumPy themselves: timm's `create_loader`, ultralytics, fastai, Lightning with
  `seed_everything(workers=True)`.
- Draws from Python's `random` or from torch: their states are set in each worker on every torch.

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
Safe: `torch.initial_seed()` differs in every worker and epoch on every torch, and follows `torch.manual_seed` in the
main process. Where the loader has a `worker_init_fn` that seeds no NumPy, the seed is set there instead.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
- pytorch/pytorch#5059, pytorch/pytorch#56488
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings import Finding, Fix, Severity
from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS
from loaderlint.project.model import Exposure, Loader, Model, WorkerCall, WorkerFunction
from loaderlint.project.values import Lib
from loaderlint.rules.base import Rule, gathered, in_workers_of, loudness, one_stream, page, repeated
from loaderlint.rules.shared.common_order import sets_common_order
from loaderlint.rules.shared.seeding import seed_worker_fix, seeds_numpy, seeds_on_the_way

FIXED_IN = "1.9"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding]:
    """One finding a draw, for all loaders whose workers perform it."""
    draws: dict[tuple[int, str], list[WorkerCall]] = {}
    for call in model.calls(function):
        for atom in call.callee.only(Lib):
            if not isinstance(atom, Lib) or atom.name not in NUMPY_GLOBAL_DRAWS:
                continue
            if not sets_common_order(call, atom.name, model):
                draws.setdefault((call.number, atom.name), []).append(call)
    for (_, name), calls in draws.items():
        yield from _judge(calls, name, model)


def _judge(calls: list[WorkerCall], name: str, model: Model) -> Iterator[Finding]:
    found = gathered((call.frame, _exposure(call, model)) for call in calls)
    if found is None:
        return
    frame, exposure = found
    seeded = all(seeds_numpy(loader, model) == "sometimes" for loader in exposure.loaders)
    severity = _severity(exposure, 1 if seeded else 0, model)
    if severity is None:
        return
    short = name.replace("numpy.", "np.")
    condition = "only before torch 1.9: " if severity is Severity.HINT else ""
    cause = "is seeded only under a condition" if seeded else "nothing seeds"
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{condition}{repeated(exposure)}: `{short}` uses NumPy's global state, which {cause} "
        f"{in_workers_of(exposure)}; pass a worker_init_fn that seeds NumPy",
        model.place(frame, calls[0].number),
        name,
        model.why(frame, exposure),
        _fixes(exposure, model),
    )


def _exposure(call: WorkerCall, model: Model) -> Exposure | None:
    def cured(loader: Loader) -> bool:
        return one_stream(loader) or _cured(loader, model) or seeds_on_the_way(call, loader, model)

    return model.exposure(call.frame, 1, cured=cured)


def _cured(loader: Loader, model: Model) -> bool:
    if model.environment(loader).torch.before(FIXED_IN) == "no":
        return True
    if not loader.out_of_sight and "fork" not in model.start_methods(loader):
        return True
    return seeds_numpy(loader, model) in ("yes", "maybe")


def _severity(exposure: Exposure, unknowns: int, model: Model) -> Severity | None:
    """Error where torch is known to be old; where nothing is declared a hint that says so."""
    answer = model.environment(exposure.lead).torch.before(FIXED_IN)
    if answer == "yes":
        return loudness(Severity.ERROR, exposure.certainty, unknowns)
    if answer == "maybe":
        return loudness(Severity.ERROR, exposure.certainty, unknowns + 1)
    return Severity.HINT if exposure.certainty == "proven" and not unknowns else None


def _fixes(exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    fix = seed_worker_fix([loader for loader in exposure.loaders if loader.has_workers() != "no"], model)
    return (fix,) if fix else ()


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
