"""
# unpicklable-state (LDR302)

## What it does
Finds objects that cannot be pickled in a dataset, a collate function or a `worker_init_fn`: locks, threads, queues,
generators, modules, dictionary views (`names.keys()`), weak references, progress bars, OpenCV objects, TorchScript,
memory maps, clients of boto3 and google-cloud-storage, a `torch.Generator`, files and other handles that no worker
uses, and CUDA tensors on Windows. It also finds thread locks that are held around a sample, under every start method,
because they lock nothing.

## Why is this bad?
Workers that are not forked get the dataset, the collate function and the worker init function by pickle. With such an
object, the loader raises `TypeError: cannot pickle '_thread.lock' object` (or `'generator'`, `'module'`, `'dict_keys'`,
...) before the first batch: on Windows, on macOS, on Linux from Python 3.14 on, and with
`multiprocessing_context="spawn"`. A `torch.Generator` can be pickled from torch 2.4 on, but on Linux the worker dies
when it reads it. All measured with torch 2.13.

A `threading.Lock` only orders the threads of one process, and each worker has its own copy. Two workers were seen
inside the 'locked' block at the same time. A lock that a thread holds while the workers are forked stays locked in them
for ever.

## When it is not a bug
- The workers are forked: Linux before Python 3.14, unless the program sets another start method.
- A `__getstate__` leaves the object out.
- It is an attribute of a class or a module, or the worker creates it.
- It is deleted or replaced before the workers start: `self.names = list(self.names)`.
- `Path.iterdir()` returns a `map` from Python 3.13 on, which can be pickled; `glob` and `rglob` still return
  generators.
- It can be pickled: loggers, compiled patterns, `BytesIO`, `map`, `zip`, `iter(list)`, `itertools.cycle`, NumPy
  generators and `functools.partial`.
- From torch 2.4 on, a `torch.Generator` arrives where tensors are shared through the file system, as on macOS and
  Windows. (Measured on Linux with `set_sharing_strategy("file_system")`.)
- Tensors and models on the GPU are not reported outside Windows: CUDA gives other processes access to its memory, but
  "not on Windows" (torch's notes; not run on a GPU). `cuda-in-worker` reports forked workers that use them.
- `handle-across-workers` reports files, databases and other handles that workers use. A closed handle cannot be pickled
  either: set it to None or delete it (`self.file = None`, `del self.file`).

## Example
```python
class Cached(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.lock = threading.Lock()

    def __getitem__(self, index):
        with self.lock:
            return self.rows[index]
```

## Fixed
```python
class Cached(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]
```

## Fix safety
Unsafe: the fix leaves the object out of the pickled state and creates it again in each worker. You must judge whether a
new object is good enough. You can delete a lock that only workers use.

## References
- [CUDA IPC operations](https://pytorch.org/docs/stable/notes/windows.html#cuda-ipc-operations) on Windows
- [Platform-specific behaviors](https://pytorch.org/docs/stable/data.html#platform-specific-behaviors)
- [Handling stateful objects](https://docs.python.org/3/library/pickle.html#handling-stateful-objects)
- pytorch/pytorch#146828 (`torch.Generator`)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, Severity, Silence
from loaderlint.knowledge.handles import OPENERS
from loaderlint.knowledge.pickling import PICKLED_SINCE, SHARED_BY_INHERITANCE, THREAD_LOCKS
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Unsaid, undoubted, unset_at, unset_evidence, weighed
from loaderlint.rules.shared.pickled_to_workers import cannot_start, payloads, sent_by, start_severity
from loaderlint.rules.shared.silence_reasons import few_workers, silent, unpickled
from loaderlint.rules.shared.unresolved_places import spot_of
from loaderlint.rules.shared.wording import in_workers_of
from loaderlint.rules.unpicklable_state.advice import advice, with_article
from loaderlint.rules.unpicklable_state.fixes import left_out
from loaderlint.rules.unpicklable_state.unpicklable_payloads import (
    UnpicklablePayload,
    first_use,
    made_at,
    unpicklable_payload,
)
from loaderlint.rules.unpicklable_state.useless_locks import has_threads, may_lock


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each thing that cannot be sent, where it is made; under fork one for each class with a lock
    around samples."""
    exposure = model.exposed(1 << loader.index, None, 1)
    loud = start_severity(loader, model)
    if exposure is None or loud is None:
        if loader.site is not None:
            reason = few_workers(loader) if exposure is None else unpickled(loader, model)
            yield from silent(RULE.name, spot_of(loader.site), reason, model)
        if exposure is None or not may_lock(loader, model):
            return
    found = [
        one for payload in payloads(loader, model) if (one := unpicklable_payload(payload, loader, model)) is not None
    ]
    if loud is None:
        yield from _useless_locks(found, loader, exposure, model)
        return
    # One for each worker would not be shared.
    shared = any(one.name in SHARED_BY_INHERITANCE or one.kind.word == "manager" for one in found)
    again = [] if shared else [one for one in found if _is_worth_making(one)]
    for one in found:
        fix = left_out(one.payload, [other.payload for other in again], model) if one in again else ()
        yield _judge(one, loader, "possible" if one.payload.guessed else exposure.certainty, loud, fix, model)


def _is_worth_making(one: UnpicklablePayload) -> bool:
    """Whether each worker may make one of its own. A handle that no worker uses is of no use there, and a file that is
    written to would be emptied; what is on the GPU belongs to the main process."""
    return one.name not in OPENERS and not one.is_on_gpu


def _judge(
    one: UnpicklablePayload, loader: Loader, certainty: Certainty, loud: Severity, fix: tuple[Fix, ...], model: Model
) -> Finding | Silence:
    since = PICKLED_SINCE.get(one.name)
    is_old = model.environment(loader).python.before(since) if since else "yes"
    if is_old == "no":
        return Silence(RULE.name, one.place, f"it can be pickled from Python {since} on")
    base = Severity.WARNING if one.is_on_gpu else loud  # an explicit start method does not depend on the platform
    option = unset_at(made_at(one.payload), loader, model)
    doubts = one.doubts + (0 if is_old == "yes" else 1) + (0 if option is None else 1)
    verdict = weighed(RULE, certainty, doubts, base)
    if isinstance(verdict, Unsaid):
        return Silence(RULE.name, one.place, verdict.reason)
    error = f"{one.kind.error} before Python {since}" if since else one.kind.error
    return verdict.finding(
        f"{cannot_start(loader, model)}: {one.payload.held} is sent to them and is {with_article(one.kind.word)} "
        f"(cannot pickle {error}); {advice(one)}",
        one.place,
        one.name,
        (*one.payload.shown(model, one.place), *sent_by(loader, model), *unset_evidence(option, model)),
        fix,
    )


# --- locks ------------------------------------------------------------------------------------------------------------


def _useless_locks(
    found: list[UnpicklablePayload], loader: Loader, exposure: Exposure, model: Model
) -> Iterator[Finding | Silence]:
    done: set[str] = set()
    for one in found:
        use = first_use(one.payload, loader, model) if one.name in THREAD_LOCKS else None
        holder = one.payload.held.partition(" of ")[2]
        if use is None or holder in done or has_threads(use[0], model):
            continue
        done.add(holder)
        certainty: Certainty = "possible" if one.payload.guessed else exposure.certainty
        frame, number = use
        yield undoubted(RULE, certainty, Severity.INFORMATION).finding(
            f"this {one.kind.word} locks nothing {in_workers_of(exposure)}: each worker has its own copy of "
            f"{one.payload.held}, which works only between the threads of one process; remove it",
            one.place,
            holder,
            (Evidence(model.place(frame, number), f"{model.label(frame)} uses it"), *sent_by(loader, model)),
        )


RULE = Rule(
    code="LDR302",
    name="unpicklable-state",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    stops_start=True,
)
