"""
# handle-across-workers (LDR303)

## What it does
Finds files, archives, HDF5 files, LMDB environments, database connections and video captures that are opened in the
main process, kept on a dataset or in a module, and used in a loader's workers.

## Why is this bad?
Forked workers share the handle's position in the file: while one seeks, another reads. Measured: 3 of 6000 records of a
plain file came back as another sample's bytes, without an exception; of a tar archive 7 to 14; a zip archive raised
BadZipFile 1294 times of 32000; HDF5 1.10 returned 57 wrong items of 12000. LMDB and SQLite forbid the use after a fork.
A video capture that the main process has read from hangs.
Spawned workers (Windows, macOS, Linux from Python 3.14 on) cannot get the handle at all: `cannot pickle
'_io.BufferedReader' object`.

## When it is not a bug
- The handle is opened in `__getitem__`, in the `worker_init_fn`, or by an accessor that compares `os.getpid()`. (Opened
  anew after it has been used, at its end or in an `except` clause, it has been read from where it came over.)
- It is opened by the first sample (`if self.file is None`), and the main process takes none. Where it takes one before
  the workers start, or `__len__` opens it and a loader that shuffles asks for the length, they inherit its handle: that
  is reported.
- It is opened and closed (or set to None) in `__init__`, or only used there.
- What is kept is what was read: `self.lines = open(path).readlines()`.
- A loader without workers.

## Example
```python
class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb")

    def __getitem__(self, index):
        self.file.seek(index * 64)
        return self.file.read(64)
```

## Fixed
```python
class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb")
        self._file_pid = os.getpid()

    def __getitem__(self, index):
        self._get_file().seek(index * 64)
        return self._get_file().read(64)

    def _get_file(self):
        if self._file_pid != os.getpid():
            self.file, self._file_pid = open(self.path, "rb"), os.getpid()
        return self.file

    def __getstate__(self):
        state = self.__dict__.copy()
        state["file"] = state["_file_pid"] = None
        return state
```

## Fix safety
Safe: each process opens its own handle, the main process keeps the one it has. An LMDB environment is closed in the
worker before it is opened again. Unsafe for a file in which nothing seeks: each worker reads it on from the start, all
of them the same lines. No fix for handles that are written to, that are read outside the class, or whose path
is changed in `__init__`.

## References
- pytorch/pytorch#11887, pytorch/pytorch#11929
- [h5py and multiprocessing](https://docs.h5py.org/en/stable/mpi.html), [lmdb](https://lmdb.readthedocs.io/)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.knowledge.handles import HandleKind
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Val
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.handle_accessor import accessor
from loaderlint.rules.shared.held_handles import (
    compares_pid,
    first_uses,
    handles_read,
    is_held,
    opener,
)
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.lazy_places import site_key
from loaderlint.rules.shared.silence_reasons import started_by, too_unsure, unexposed
from loaderlint.rules.shared.wording import in_workers_of


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a handle that the function reads, where it is opened."""
    done: set[tuple[Path, int, int]] = set()
    for frame in function.frames:
        for number, value, atom, kind in handles_read(frame, model):
            made = site_key(opener(atom, model).site)
            if made in done:
                continue
            if compares_pid(frame, model):
                yield from _silence(atom, "the function that uses it asks which process it is in", model)
                continue
            for found in _judge(frame, number, atom, kind, value, model):
                if isinstance(found, Finding):
                    done.add(made)
                yield found


def _silence(held: LibObject, reason: str, model: Model) -> Iterator[Silence]:
    if model.explains:
        yield Silence(RULE.name, model.site_place(opener(held, model).site), reason)


def _judge(
    frame: Frame, number: int, held: LibObject, kind: HandleKind, value: Val, model: Model
) -> Iterator[Finding | Silence]:
    touches: list[Evidence] = []
    if model.runs_in_worker(held.site.frame):
        touches = first_uses(held, value, model)
        if not touches:
            yield from _silence(held, "it is opened in the worker, and the main process takes no sample before", model)
            return
    elif not is_held(held, value.origins, model):
        yield from _silence(held, "the main process does not hold it any more when the workers start", model)
        return
    drops = _drops_state(value, model)

    def cured(loader: Loader) -> bool:
        return not loader.out_of_sight and (drops or bool(touches)) and "fork" not in model.start_methods(loader)

    exposure = model.exposure(frame, 1, parts=("sample", "collate"), cured=cured)
    if exposure is None:
        left = "the handle is left out when its object is pickled" if drops else "each of them opens it anew"
        reason = unexposed(
            model, frame, 1, parts=("sample", "collate"), cure=lambda loader: f"{started_by(loader, model)}, and {left}"
        )
        yield from _silence(held, reason, model)
        return
    severity = loudness(_severity(kind, exposure, model), exposure.certainty)
    if severity is None:
        yield from _silence(held, too_unsure(exposure.certainty), model)
        return
    made = opener(held, model)
    use = Evidence(model.place(frame, number), f"{model.label(frame)} uses it")
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{_effect(kind, _forked(exposure, model))} {in_workers_of(exposure)}: this {kind.word} is opened "
        f"{_where(made, model)}, {'which runs ' if touches else ''}before the workers start; open it in each process",
        model.site_place(made.site),
        made.name,
        (use, *touches, *model.why(frame, exposure)),
        () if touches else accessor(held, kind, value.origins, model),
    )


def _forked(exposure: Exposure, model: Model) -> bool:
    return exposure.lead.out_of_sight or "fork" in model.start_methods(exposure.lead)


def _severity(kind: HandleKind, exposure: Exposure, model: Model) -> Severity:
    return Severity.WARNING if _forked(exposure, model) and kind.fork == "forbidden" else Severity.ERROR


def _effect(kind: HandleKind, forked: bool) -> str:
    if not forked:
        return "the workers cannot be started: the handle cannot be pickled"
    match kind.fork:
        case "corrupts":
            return "reads return other samples' data"
        case "hangs":
            return "reads hang"
    return "one handle is used by several processes, which its library forbids,"


def _where(made: LibObject, model: Model) -> str:
    if made.site.frame.def_ == 0:
        return f"at module level in {made.site.frame.path.name}"
    return f"in `{model.label(made.site.frame)}`"


def _drops_state(value: Val, model: Model) -> bool:
    """Whether the object leaves its handle out when it is pickled."""
    owners = [origin.owner for origin in value.origins if isinstance(origin.owner, Instance)]
    return any(model.ev.classes.member(o.cls, n) for o in owners for n in ("__getstate__", "__reduce__"))


RULE = Rule(
    code="LDR303",
    name="handle-across-workers",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
