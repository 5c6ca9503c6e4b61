"""
# executor-across-fork (LDR205)

## What it does
Finds thread pools, executors and background threads that the main process creates and forked workers use.

## Why is this bad?
A fork copies the memory of a process, but only the thread that forks. The copied pool still counts threads that no
longer exist, and its tasks wait for ever. Measured on torch 2.13 with 2 workers:

- `ThreadPool`, `multiprocessing.Pool`: every run hangs at the first task in a worker.
- A `ThreadPoolExecutor` to which the main process has given a task: the next task waits for the idle thread and hangs.
  If there are more tasks than idle threads, a new thread may do them all, so this is a warning. An executor that was
  never used works, because it starts its threads with the first task. This is an information, because a single
  `dataset[0]` in the main process breaks it.
- `ProcessPoolExecutor`: hangs if it was used before. Otherwise it raises an AssertionError, because workers may not
  have child processes.
- A `queue.Queue` that a thread of the main process fills: each worker gets the same items, and hangs when they are used
  up. `future.result()` of an unfinished task of the main process hangs too.

## When it is not a bug
- The worker creates the pool: in `__getitem__`, in the `worker_init_fn`, or in an accessor that compares `os.getpid()`.
- The first sample creates the pool (`if self.pool is None`), and the main process reads no sample.
- Only the constructor, or methods that only the main process calls, use the pool.
- The workers are spawned or come from a fork server. The pool cannot be pickled there, which other rules report.
- It is a lock, an event, a queue that no thread of the main process fills, or a `multiprocessing.Queue`.
- The loader has no workers.

## Example
```python
class Scenes(Dataset):
    def __init__(self, paths):
        self.pool = ThreadPoolExecutor(4)
        self.sizes = list(self.pool.map(os.path.getsize, paths))

    def __getitem__(self, index):
        return list(self.pool.map(read, self.parts[index]))
```

## Fixed
```python
class Scenes(Dataset):
    def __init__(self, paths):
        self.pool = ThreadPoolExecutor(4)
        self._pool_pid = os.getpid()
        self.sizes = list(self.pool.map(os.path.getsize, paths))

    def __getitem__(self, index):
        return list(self._get_pool().map(read, self.parts[index]))

    def _get_pool(self):
        if self._pool_pid != os.getpid():
            self.pool = ThreadPoolExecutor(4)
            self._pool_pid = os.getpid()
        return self.pool

    def __getstate__(self):
        state = self.__dict__.copy()
        state["pool"] = state["_pool_pid"] = None
        return state
```

## Fix safety
Unsafe: each worker starts its own threads, and loaderlint cannot know what should shut them down. There is no fix for
process pools, for queues, for pools at module level, or where code outside the class uses the pool.

## References
- [os.fork](https://docs.python.org/3/library/os.html#os.fork), pytorch/pytorch#15950
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.findings.finding import Evidence, Finding, Fix, Severity, Silence
from loaderlint.knowledge.process_starts import POOLS, plain
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.executor_across_fork.pool_faults import Fault, fault_of
from loaderlint.rules.shared.handle_accessor import keyed_by_process
from loaderlint.rules.shared.held_handles import compares_pid
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.loader_traits import not_forked
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import site_key, spot_of
from loaderlint.rules.shared.wording import in_workers_of

_DOC = "The pool of this process: the threads of one made before a fork are not there."


_NOT_HELD = "the main process no longer holds the pool when the workers start"


class Use(NamedTuple):
    """A call that uses a pool or a queue, and what is wrong with it."""

    call: WorkerCall
    fault: Fault


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each pool or queue that the function uses, where it is made."""
    for one in judged(RULE, _candidates(function, model), model):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Use] | Silence]:
    """The uses of pools and queues that were made before the workers start; the first of each."""
    done: set[tuple[Path, int, int]] = set()
    for call, owner, method in _calls(function, model):
        fault, here, made = fault_of(owner, method, call, model), spot_of(owner.site), site_key(owner.site)
        kind = POOLS.get(plain(owner.name))
        if fault is None and kind is not None and method in kind.uses:
            in_worker = model.runs_in_worker(owner.site.frame)
            reason = "the pool is made in the worker" if in_worker else _NOT_HELD
            yield from silent(RULE.name, here, reason, model)
        if fault and made not in done:
            done.add(made)
            yield Candidate(
                Use(call, fault), call.frame, here, not_forked(model, "not by fork"), severity=fault.severity
            )


def _calls(function: WorkerFunction, model: Model) -> Iterator[tuple[WorkerCall, LibObject, str]]:
    """The calls of methods of library objects: the call, the object, the method."""
    for frame in function.frames:
        if compares_pid(frame, model):
            continue
        for call in model.frame_calls(frame):
            for atom in call.callee.only(LibMember):
                if isinstance(atom.owner, LibObject):
                    yield call, atom.owner, atom.name


def _finding(verdict: WorkerVerdict[Use], model: Model) -> Finding:
    call, fault = verdict.about
    use = Evidence(model.place(call.frame, call.number), f"{model.label(call.frame)} uses it")
    return verdict.finding(
        f"{fault.effect} {in_workers_of(verdict.exposure)}: this {fault.word} is made "
        f"{_where(fault.made.site.frame, model)}, before the workers start, and threads do not survive a fork; make it "
        "in the worker",
        verdict.spot.place(model),
        fault.made.name,
        (use, *fault.touches, *verdict.why(model)),
        _fixes(fault, call, model),
    )


def _where(frame: Frame, model: Model) -> str:
    if frame.def_ == 0:
        return f"at module level in {frame.path.name}"
    return f"in `{model.label(frame)}`"


def _fixes(fault: Fault, call: WorkerCall, model: Model) -> tuple[Fix, ...]:
    kind = POOLS.get(plain(fault.made.name))
    if kind is None or kind.processes or model.runs_in_worker(fault.made.site.frame):
        return ()
    intents = keyed_by_process(fault.made, call.callee.origins, _DOC, model)
    return (Fix(f"Make the {kind.word} in each process", "unsafe", intents),) if intents else ()


RULE = Rule(
    code="LDR205",
    name="executor-across-fork",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
