"""
# executor-across-fork (LDR205)

## What it does
Finds thread pools, executors and background threads that the main process makes and forked workers use.

## Why is this bad?
A fork copies the memory of a process, and of its threads only the one that forks. The copied pool counts threads that
are not there: its tasks wait for ever. Measured on torch 2.13 with 2 workers:

- `ThreadPool`, `multiprocessing.Pool`: every run hangs at the first task in a worker.
- `ThreadPoolExecutor` that the main process has given a task: the next task waits for the thread that was idle, and
  hangs. With luck there are more tasks than idle threads, and a new thread does them all: a warning. One that was never
  used works, because it makes its threads with the first task: information, for one `dataset[0]` in the main process is
  enough to change it.
- `ProcessPoolExecutor`: hangs when used before, else AssertionError (workers may not have child processes).
- A `queue.Queue` that a thread of the main process fills: hangs when the items that were in it are used up, and each
  worker gets the same ones. `future.result()` of a task of the main process hangs if it is not done yet.

## When it is not a bug
- The pool is made in the worker: in `__getitem__`, in the `worker_init_fn`, by an accessor that compares `os.getpid()`.
- It is made by the first sample (`if self.pool is None`), and the main process takes none.
- It is used by the constructor alone, or by methods that only the main process calls.
- Workers that are spawned or come from a fork server: there it cannot be pickled, which is another rule's matter.
- Locks, events and queues that no thread of the main process fills; `multiprocessing.Queue`.
- A loader without workers.

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
Unsafe: each worker starts threads of its own, and who shuts them down is a guess. No fix for pools of processes, for
queues, for pools of a module, and where others than the class's own methods use the pool.

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


_NOT_HELD = "the main process does not hold the pool when the workers start"


class Use(NamedTuple):
    """A call that uses a pool or a queue, and what is wrong with it."""

    call: WorkerCall
    fault: Fault


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a pool or queue that the function uses, where it is made."""
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
