"""
# process-in-worker (LDR204)

## What it does
Finds processes that code in a loader's workers starts: `Pool`, `Process.start()`, `ProcessPoolExecutor`, `Manager`,
`torch.multiprocessing.spawn`, and a loader with workers of its own.

## Why is this bad?
Workers are daemonic processes, which may not have children. The first batch raises
`AssertionError: daemonic processes are not allowed to have children` in the main process. Measured on torch 2.13 under
fork and forkserver, for each of them. With `num_workers=0` the same code works, so the fault often goes unnoticed until
someone adds workers.

## When it is not a bug
- The code starts no daemonic child: threads (`ThreadPoolExecutor`, `multiprocessing.pool.ThreadPool`),
  `subprocess.run`, a loader with `num_workers=0`.
- joblib falls back to one job in a worker, and `Dataset.map(num_proc=...)` of Hugging Face uses `multiprocess`, which
  can start processes there.
- Only the constructor, or another method that only the main process calls, starts the process.
- The code checks first (`if current_process().daemon`, `if get_worker_info() is None`), removes the daemon flag, or
  catches the error.
- The loader has no workers.

Under a test of the object's state (`if self.index is None`), the finding is a warning: the main process may have
started it before.

## Example
```python
class Scenes(IterableDataset):
    def __iter__(self):
        for tile in DataLoader(self.tiles, num_workers=2):
            yield from tile

loader = DataLoader(Scenes(), num_workers=4)
```

## Fixed
```python
class Scenes(IterableDataset):
    def __iter__(self):
        for tile in DataLoader(self.tiles, num_workers=0):
            yield from tile

loader = DataLoader(Scenes(), num_workers=4)
```

## Fix safety
There is no fix: the work decides whether threads, or starting the processes earlier, is right.

## References
- pytorch/pytorch#15950
- [multiprocessing.Process.daemon](https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Process.daemon)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.reach.model import Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.process_in_worker.process_starts import Start, nested_starts, process_starts
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.process_guards import allows_children
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.wording import in_workers_of

_ALLOWED = "worker code removes the daemon flag, which forbids child processes"
_GUARDED = "the code checks the process first, or catches the error"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each call that starts processes, or a loader with workers that is iterated over."""
    for one in judged(RULE, _candidates(function, model), model):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Start] | Silence]:
    """The starts of processes that nothing guards."""
    starts: dict[Hashable, list[Start]] = {}
    for frame in function.frames:
        for start in (*process_starts(frame, model), *nested_starts(frame, model)):
            starts.setdefault(start.spot.key, []).append(start)
    allowed = bool(starts) and allows_children(model)
    for key, found in starts.items():
        reason = _ALLOWED if allowed else _GUARDED if all(start.guarded for start in found) else ""
        if reason:
            yield from silent(RULE.name, found[0].spot, reason, model)
        for start in found if not reason else ():
            if not start.guarded:
                yield Candidate(start, start.frame, start.spot, doubts=start.doubts, key=key)


def _finding(verdict: WorkerVerdict[Start], model: Model) -> Finding:
    start = verdict.about
    label = model.label(start.frame)
    use = (Evidence(start.use.place(model), f"{label} iterates over it"),) if start.use else ()
    return verdict.finding(
        f"the worker raises AssertionError: {start.what} starts processes {in_workers_of(verdict.exposure)}, and "
        f"workers may not have child processes; {start.instead}",
        verdict.spot.place(model),
        start.what,
        (*use, *verdict.why(model)),
    )


RULE = Rule(
    code="LDR204",
    name="process-in-worker",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix=None,
    page=page(__doc__),
)
