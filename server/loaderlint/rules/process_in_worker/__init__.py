"""
# process-in-worker (LDR204)

## What it does
Finds processes that code in a loader's workers starts: `Pool`, `Process.start()`, `ProcessPoolExecutor`, `Manager`,
`torch.multiprocessing.spawn`, and a loader with workers of its own.

## Why is this bad?
Workers are daemons, and daemons may not have children: `AssertionError: daemonic processes are not allowed to have
children`, re-raised in the main process at the first batch. Measured on torch 2.13 under fork and forkserver, for each
of them. With `num_workers=0` the same code works, which is how it comes into a project.

## When it is not a bug
- Threads (`ThreadPoolExecutor`, `multiprocessing.pool.ThreadPool`), `subprocess.run`, a loader with `num_workers=0`.
- joblib, which goes on with one job in a worker, and `Dataset.map(num_proc=...)` of Hugging Face, whose `multiprocess`
  starts processes there.
- The constructor, or another method that only the main process calls.
- Code that asks first (`if current_process().daemon`, `if get_worker_info() is None`) or that catches the error.
- A loader without workers.

Under a test of the object's state (`if self.index is None`) it is a warning: the main process may have done it before.

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
There is no fix: whether threads, or doing it before, is right, depends on the work.

## References
- pytorch/pytorch#15950
- [multiprocessing.Process.daemon](https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Process.daemon)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.knowledge.process_starts import STARTED, STARTS_PROCESSES, plain
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.process_in_worker.nested_loaders import gone_through, loaders_at
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.lazy_places import Spot, spot_of
from loaderlint.rules.shared.process_guards import allows_children, callers_of, is_guarded, is_once
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.wording import in_workers_of

_ALLOWED = "worker code takes the daemon flag away, which forbids child processes"
_GUARDED = "it is done only after a look at the process, or the error is caught"


class Start(NamedTuple):
    """A place where a frame starts processes. `what`: the call for people; `doubts`: unknown conditions;
    `instead`: what to do; `use`: where it happens, if that is another place; `guarded`: after a look at the process."""

    frame: Frame
    spot: Spot
    what: str
    doubts: int
    instead: str
    use: Spot | None = None
    guarded: bool = False


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a call that starts processes, or a loader with workers that is gone through."""
    for one in judged(RULE, _candidates(function, model), model):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Start] | Silence]:
    """The starts of processes that nothing guards."""
    starts: dict[Hashable, list[Start]] = {}
    for frame in function.frames:
        for start in (*_starts(frame, model), *_nested(frame, model)):
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
    use = (Evidence(start.use.place(model), f"{label} goes through it"),) if start.use else ()
    return verdict.finding(
        f"the worker raises AssertionError: {start.what} starts processes {in_workers_of(verdict.exposure)}, and "
        f"workers may not have child processes; {start.instead}",
        verdict.spot.place(model),
        start.what,
        (*use, *verdict.why(model)),
    )


# --- what starts processes --------------------------------------------------------------------------------------------


def _starts(frame: Frame, model: Model) -> Iterator[Start]:
    """The calls that start processes."""
    for call in model.frame_calls(frame):
        what = _started_by(call, model)
        ways = list(callers_of(call, model)) if what else []
        if what:
            guarded = any(is_guarded(where, context, model) for where, context in ways)
            doubts = 1 if any(is_once(where, context, model) for where, context in ways) else 0
            instead = "use threads, or do it before the workers start"
            yield Start(frame, Spot(frame, call.number), f"`{what}`", doubts, instead, guarded=guarded)


def _started_by(call: WorkerCall, model: Model) -> str:
    """What a call starts: 'multiprocessing.Pool'; '' if it starts no process or that is not sure."""
    names = {_name(atom) for atom in call.callee.atoms}
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name == "start":
        bases = model.ev.eval(func.base, call.frame).atoms
        names = {f"{name}.start" if (name := _process_class(base, model)) else "" for base in bases}
    return names.pop() if len(names) == 1 else ""


def _name(atom: Atom) -> str:
    """The call that starts processes by itself, '' for others."""
    name = ""
    if isinstance(atom, Lib):
        name = plain(atom.name)
    elif isinstance(atom, LibMember) and isinstance(atom.owner, LibObject):
        name = plain(f"{atom.owner.name}.{atom.name}")
    return name if name in STARTS_PROCESSES else ""


def _process_class(atom: Atom, model: Model) -> str:
    """The library class of an object that `start()` makes a process of, '' for other objects."""
    if isinstance(atom, LibObject):
        return plain(atom.name) if plain(atom.name) in STARTED else ""
    if isinstance(atom, Instance) and model.ev.classes.member(atom.cls, "start") is None:
        if any(plain(base) in STARTED for base in model.ev.classes.library_bases(atom.cls)):
            return model.ev.classes.name(atom.cls)
    return ""


def _nested(frame: Frame, model: Model) -> Iterator[Start]:
    """The loaders with workers of their own that are gone through."""
    for number, site in gone_through(frame, model) if model.once(_have_workers) else ():
        loaders = loaders_at(site, model)
        answers = {loader.has_workers() for loader in loaders}
        if "yes" in answers:
            what = f"the loader `{loaders[0].name}` with workers of its own"
            doubts = 0 if answers == {"yes"} else 1
            yield Start(frame, spot_of(site), what, doubts, "give it `num_workers=0`", Spot(frame, number))


def _have_workers(model: Model) -> bool:
    """Whether some loader is sure to have workers."""
    return any(loader.site is not None and loader.has_workers() == "yes" for loader in model.loaders)


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
