"""
# torch-threads-in-worker (LDR202)

## What it does
Finds calls of `torch.set_num_threads(n)` with more than one thread in code that forked workers run.

## Why is this bad?
torch's wheels compute with GNU OpenMP, whose threads do not survive a fork. If the main process has computed with
threads, the worker inherits a pool whose threads no longer exist, and hangs for ever at its first operation on a large
tensor. torch sets one thread in each worker to prevent this.

Measured on torch 2.13 with 2 workers and a sum over 3000 x 3000 numbers: after the same sum in the main process, every
run with `torch.set_num_threads(2)` in `__getitem__` or in the `worker_init_fn` hangs (without `timeout`, silently and
for ever). Without the call, with one thread, or under forkserver and spawn, no run hangs. If the main process has
computed nothing large yet, the first epoch works and the second hangs.

## When it is not a bug
- The call is `torch.set_num_threads(1)`, which is the default in workers.
- The workers are spawned or come from a fork server.
- The call runs in the main process: at module level, in `main`, in a constructor.
- The loader has no workers.
- The call sets the threads of another library: `cv2.setNumThreads`, `OMP_NUM_THREADS`.
- The number of threads is not known.

## Example
```python
def init_worker(worker_id):
    torch.set_num_threads(4)

loader = DataLoader(Volumes(), num_workers=8, worker_init_fn=init_worker)
```

## Fixed
```python
def init_worker(worker_id):
    pass

loader = DataLoader(Volumes(), num_workers=8, worker_init_fn=init_worker)
```

## Fix safety
Safe: the worker computes with the one thread that torch gives it. Unsafe where the main process calls the function too,
or where a loader without workers runs it: the number of threads would change there.

## References
- pytorch/pytorch#17199, pytorch/pytorch#58962, pytorch/pytorch#41197
- [CPU threading](https://pytorch.org/docs/stable/notes/cpu_threading_torchscript_inference.html)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import DeleteStatement, Finding, Fix, Safety, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, def_key
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.loader_traits import not_forked
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of
from loaderlint.rules.torch_threads_in_worker.thread_counts import Threads, threads_asked_for

_SETTER = Lib("torch.set_num_threads")


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each call, for all loaders whose forked workers perform it."""
    for one in judged(RULE, _candidates(function, model), model):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Threads] | Silence]:
    """The calls that ask for several threads."""
    cure = not_forked(model, "not by fork")
    for call in model.calls(function):
        if _SETTER not in call.callee.atoms:
            continue
        here, threads = Spot(call.frame, call.number), threads_asked_for(call, model)
        if threads is None:
            yield from silent(RULE.name, here, "it is not known to set more than one thread", model)
        else:
            doubts = 0 if threads.certain else 1
            yield Candidate(threads, call.frame, here, cure, doubts=doubts, key=here.key)


def _finding(verdict: WorkerVerdict[Threads], model: Model) -> Finding:
    return verdict.finding(
        "the worker hangs at its first operation on a large tensor: "
        f"`torch.set_num_threads({verdict.about.text})` runs {in_workers_of(verdict.exposure)}, and threads do not "
        "survive a fork; delete the call",
        verdict.spot.place(model),
        "torch.set_num_threads",
        verdict.why(model),
        _fixes(verdict, model),
    )


def _fixes(verdict: WorkerVerdict[Threads], model: Model) -> tuple[Fix, ...]:
    """Delete the call, where it is a statement."""
    frame, called = verdict.spot.frame, verdict.spot.number
    for number, step in model.steps(frame):
        if isinstance(step, ir.Evaluate) and step.expr == called:
            delete = DeleteStatement(model.step_place(frame, number))
            safety = _safety({one.frame for one in verdict.together}, verdict.exposure, model)
            return (Fix("Delete the call: workers compute with one thread", safety, (delete,)),)
    return ()


def _safety(frames: set[Frame], exposure: Exposure, model: Model) -> Safety:
    """Unsafe where the main process runs the call too, and would compute with other threads."""
    loaders = {one for one in model.loaders for frame in frames if model.reached[frame].bits() >> one.index & 1}
    alone = loaders <= set(exposure.loaders)
    return "safe" if alone and not any(_is_called_in_main(frame, model) for frame in frames) else "unsafe"


def _is_called_in_main(frame: Frame, model: Model) -> bool:
    """Whether something called like the def is called by code that no worker runs."""
    workers = {def_key(one) for one in model.reached}
    sites = model.callers.sites(model.def_of(frame).name)
    return any(def_key(site) not in workers for site in sites)


RULE = Rule(
    code="LDR202",
    name="torch-threads-in-worker",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
