"""
# worker-seed-overflow (LDR104)

## What it does
Finds NumPy seeds in worker code that are torch's full worker seed: `np.random.seed(torch.initial_seed())`,
`np.random.seed(get_worker_info().seed)`.

## Why is this bad?
In a worker, both are 63-bit numbers that change in every epoch, but NumPy accepts only seeds below `2**32`. The worker
ends with `ValueError: Seed must be between 0 and 2**32 - 1`, and the main process with it. Measured on torch 1.8 and
2.13, NumPy 1.23 and 2.4. `RandomState(torch.initial_seed())`, and a list with such a number, fail in the same way. With
`num_workers=0` the function is never called, so the fault appears at the first run with workers.

## When it is not a bug
- The last step brings the number below `2**32`: `% 2**32`, `& 0xFFFFFFFF`, `// 2**32`. Adding the worker's number
  afterwards is not reported: it overflows about once in a billion.
- The function accepts seeds of any size: `random.seed`, `torch.manual_seed`, `np.random.default_rng`.
- `np.random.SeedSequence(torch.initial_seed()).generate_state(4)` creates seeds that NumPy accepts.
- torch already has a small seed in the worker, because the code called `torch.manual_seed(...)` before.
- The call is in a `try`, or under a test of the seed's size.

## Example
```python
def init(worker_id):
    np.random.seed(torch.initial_seed())

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fixed
```python
def init(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fix safety
Safe: seeds that NumPy accepts do not change. If only seeding calls read a name, the fix changes the name where it is
bound. Python's generator then starts from 32 bits too, as in PyTorch's own notes.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
- pytorch/pytorch#5059
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.reach.model import Loader, Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.sample_seeds import reseeding
from loaderlint.rules.shared.seeding_calls import written
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of
from loaderlint.rules.worker_seed_overflow.fixes import narrowing_fix
from loaderlint.rules.worker_seed_overflow.numpy_seeds import Overflow, is_watched, numpy_seeds, seeds_torch
from loaderlint.rules.worker_seed_overflow.seed_width import NUMPY_LIMIT, reach


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each seed, where it is written."""
    for one in judged(RULE, _candidates(function, model), model):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Overflow]]:
    """The seeds that come from one of torch."""
    for call in model.calls(function):
        for name, seed in numpy_seeds(call):
            width, here = reach(seed, call.frame, model), Spot(call.frame, call.number)
            if width is None:
                continue
            one, why_not = Overflow(call, name, seed), _why_good(call, width, model)
            yield Candidate(one, call.frame, here, partial(_cure, one, model), why_not, key=here.key)


def _why_good(call: WorkerCall, width: int, model: Model) -> str:
    """Why a seed below `width` fits; '' if it may not."""
    if width <= NUMPY_LIMIT:
        return "the seed is below 2**32"
    return "the call is in a `try`, or under a test of the seed's size" if is_watched(call, model) else ""


def _cure(one: Overflow, model: Model, loader: Loader) -> str:
    """Why the seed is not too large in the workers of a loader; '' if it is."""
    if seeds_torch(one.call, loader, model):
        return "its workers set another seed for torch first, which may be small"
    return "the seed comes from the sample" if reseeding(one.call, one.seed, loader, model) is not None else ""


def _finding(verdict: WorkerVerdict[Overflow], model: Model) -> Finding:
    one, lead = verdict.about, verdict.exposure.lead
    source = written(one.call, one.seed, lead, model)
    fix = narrowing_fix(one, lead, model)
    return verdict.finding(
        f"this seed is too large for NumPy {in_workers_of(verdict.exposure)}: torch's seed of a worker has 63 bits, "
        f"`{one.function.replace('numpy.', 'np.')}` takes numbers below 2**32 and raises ValueError; "
        "write `% 2**32` as the last step",
        model.place(source.frame, source.number),
        one.function,
        verdict.why(model),
        (fix,) if fix else (),
    )


RULE = Rule(
    code="LDR104",
    name="worker-seed-overflow",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
