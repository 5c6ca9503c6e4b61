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

from loaderlint.findings.finding import Finding, Fix, Severity, Silence
from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, gathered, in_workers_of, loudness, one_stream, page, repeated
from loaderlint.rules.shared.common_order import sets_common_order
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.seeding import seed_worker_fix, seeds_numpy, seeds_on_the_way
from loaderlint.rules.shared.silence_reasons import ONE_STREAM, silences, silent, started_by, too_unsure, unexposed

FIXED_IN = "1.9"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a draw, for all loaders whose workers perform it."""
    draws: dict[tuple[int, str], list[WorkerCall]] = {}
    for call in model.calls(function):
        for atom in call.callee.only(Lib):
            if not isinstance(atom, Lib) or atom.name not in NUMPY_GLOBAL_DRAWS:
                continue
            if not sets_common_order(call, atom.name, model):
                draws.setdefault((call.number, atom.name), []).append(call)
            else:
                reason = "it sets an order in which all workers have to agree"
                yield from silent(RULE.name, Spot(call.frame, call.number), reason, model)
    for (_, name), calls in draws.items():
        yield from _judge(calls, name, model)


def _judge(calls: list[WorkerCall], name: str, model: Model) -> Iterator[Finding | Silence]:
    found = gathered((call.frame, _exposure(call, model)) for call in calls)
    if found is None:
        if model.explains:
            place = model.place(calls[0].frame, calls[0].number)
            yield from silences(RULE.name, place, (_unexposed(call, model) for call in calls))
        return
    frame, exposure = found
    seeded = all(seeds_numpy(loader, model) == "sometimes" for loader in exposure.loaders)
    severity = _severity(exposure, 1 if seeded else 0, model)
    if severity is None and not model.explains:
        return
    place = model.place(calls[0].frame, calls[0].number)
    if severity is None:
        yield Silence(RULE.name, place, _unsure(exposure, seeded, model))
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
        place,
        name,
        model.why(frame, exposure),
        _fixes(exposure, model),
    )


def _exposure(call: WorkerCall, model: Model) -> Exposure | None:
    return model.exposure(call.frame, 1, cured=lambda loader: bool(_cure(call, loader, model)))


def _unexposed(call: WorkerCall, model: Model) -> str:
    return unexposed(model, call.frame, 1, cure=lambda loader: _cure(call, loader, model))


def _cure(call: WorkerCall, loader: Loader, model: Model) -> str:
    """Why the workers of a loader do not draw the same numbers; '' if they may."""
    if one_stream(loader):
        return ONE_STREAM
    torch = model.environment(loader).torch
    if torch.before(FIXED_IN) == "no":
        return f"torch seeds NumPy in each worker since {FIXED_IN} (torch {torch.described})"
    if not loader.out_of_sight and "fork" not in model.start_methods(loader):
        return f"{started_by(loader, model)}, which import NumPy anew"
    seeds = seeds_numpy(loader, model)
    if seeds in ("yes", "maybe"):
        return (
            f"{_who_seeds(loader)} NumPy in each worker"
            if seeds == "yes"
            else "what its worker_init_fn does is out of sight"
        )
    return "NumPy is seeded on the way to the draw" if seeds_on_the_way(call, loader, model) else ""


def _who_seeds(loader: Loader) -> str:
    """'timm.data.create_loader seeds', 'its worker_init_fn seeds', 'Lightning seeds'."""
    if loader.kind.seeds_numpy:
        return f"{loader.kind.name} seeds"
    init = loader.argument("worker_init_fn").literal
    return "Lightning seeds" if init is not None and init.value is None else "its worker_init_fn seeds"


def _unsure(exposure: Exposure, seeded: bool, model: Model) -> str:
    if model.environment(exposure.lead).torch.known:
        return too_unsure(exposure.certainty)
    condition = "only under a condition that seeding may be off for" if seeded else "only possible"
    return f"it is {condition}, and nothing says which torch is used (torch {FIXED_IN} and later seed NumPy)"


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
