"""
# main-guard-global (LDR207)

## What it does
Finds worker code that reads a global which is bound only under `if __name__ == "__main__"`, or that is defined there
itself, where the workers are spawned or come from a fork server. In a file that is only imported, such a name is
missing by every start method.

## Why is this bad?
Such a worker imports the main script under another name, so the code under the guard does not run. The first sample
raises `NameError: name 'CFG' is not defined`. A function or class that goes to the workers and is defined under the
guard ends them with `AttributeError: Can't get attribute 'prepare' on <module '__mp_main__'>`. Forked workers have a
copy of the main process's globals, so the same script works on Linux before Python 3.14. Measured with torch 2.13 under
fork, spawn and forkserver.

## When it is not a bug
- The workers are forked, and the file is the script itself. Where it is only imported, the name is missing in any
  process.
- The name is also bound above the guard, or a function sets it (`global CFG`), which a `worker_init_fn` may call.
- The code checks whether the name exists.
- The file is the `__main__.py` of a package or folder, which no worker runs again. Then a class or function that it
  defines cannot be sent to workers at all.
- The dataset gets the value as an argument or attribute, which is sent to the worker.

## Example
```python
class Crops(Dataset):
    def __getitem__(self, index):
        return self.images[index][:SIZE]

if __name__ == "__main__":
    SIZE = 224
    for batch in DataLoader(Crops(), num_workers=4): ...
```

## Fixed
```python
SIZE = 224

if __name__ == "__main__":
    for batch in DataLoader(Crops(), num_workers=4): ...
```

## Fix safety
Safe: a constant that is bound once moves above the guard. There is no fix for a value that is computed: pass it to the
dataset.

## References
- [Safe importing of main module](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.findings.finding import Certainty, Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.project.reach.scripts import is_never_run_again
from loaderlint.rules.base import Rule, page
from loaderlint.rules.main_guard_global.fixes import above_guard_fixes
from loaderlint.rules.main_guard_global.guarded_names import (
    binding_place,
    guarded_bindings,
    guarded_reads,
    is_only_imported,
    is_set_from_outside,
)
from loaderlint.rules.shared.judgement import Unsaid, Verdict, gathered, loudness
from loaderlint.rules.shared.main_guard import HEAD, fresh_starts, severity
from loaderlint.rules.shared.silence_reasons import silences, started_by, unexposed
from loaderlint.rules.shared.wording import in_workers_of

#: Words in a function that show that somebody thought of the missing name.
_AWARE = ("NameError", "globals()", "hasattr")
_NEVER_RUN_AGAIN = "workers do not run a `__main__.py` at all"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each function and name, where it is read first."""
    file = model.files.file(function.path)
    found = gathered((frame, _exposure(frame, function.path, model)) for frame in function.frames)
    if file is None:
        return
    aware = any(file.pieces[function.piece].holds(word) for word in _AWARE)
    if found is None or aware:
        yield from _silent(function, file, model, aware=aware) if model.explains else ()
        return
    frame, exposure = found
    loud = _severity(exposure.lead, function.path, model, exposure.certainty)
    if isinstance(loud, Unsaid):
        return
    verdict = Verdict(RULE.name, loud, exposure.certainty)
    if guarded_bindings(_outermost(function, model), file, model):
        yield from _sent_by_name(function, frame, exposure, verdict, model)
        return
    for name, number, bindings in guarded_reads(frame, file, model):
        is_imported = is_only_imported(function.path, exposure.lead, model)
        if is_imported and is_set_from_outside(name, function.path, model):
            if not _starts(exposure, model):
                continue
            is_imported = False
        where = "where the file runs as a script" if is_imported else "in the main process only"
        bound = Evidence(binding_place(bindings[0], file, model), f"{name} is bound here, {where}")
        yield verdict.finding(
            _message(name, function.path if is_imported else None, exposure, model),
            model.place(frame, number),
            name,
            (bound, *model.why(frame, exposure)),
            above_guard_fixes(name, bindings, file, model),
        )


def _message(name: str, imported: Path | None, exposure: Exposure, model: Model) -> str:
    """`imported`: the file of the function, if it is only imported where the loader is."""
    start = f"`{name}` is not defined {in_workers_of(exposure)}: it is bound under `{HEAD}`, which"
    if imported is not None:
        return f"{start} does not run where {imported.name} is imported; bind it above"
    return f"{start} a worker ({_starts(exposure, model)}) does not run; bind it above, or pass it to the dataset"


def _silent(function: WorkerFunction, file: ProjectFile, model: Model, *, aware: bool) -> Iterator[Finding | Silence]:
    """The names under the guard that the function reads, with the reason why that is no fault."""
    if not file.mentioning("__name__"):
        return
    reasons = [
        unexposed(model, frame, 1, cure=lambda loader: _unharmed(loader, function.path, model))
        for frame in function.frames
    ]
    frame = function.frames[0]
    for name, number, _ in guarded_reads(frame, file, model):
        place = model.place(frame, number)
        yield from silences(RULE.name, place, [f"the function checks whether `{name}` exists"] if aware else reasons)


def _unharmed(loader: Loader, path: Path, model: Model) -> str:
    """Why the workers of a loader do not lack the names of a script, or are not said to."""
    if is_never_run_again(path):
        return _NEVER_RUN_AGAIN
    return f"{started_by(loader, model)}, with the names of the script"


def _outermost(function: WorkerFunction, model: Model) -> str:
    """The name, in its module, of the function or class that a def is in or is."""
    facts = model.ev.facts(function.path, function.piece)
    if facts is None:
        return ""
    number = function.def_
    while facts.ir.defs[number].parent > 0:
        number = facts.ir.defs[number].parent
    owner = model.callers.owner(function.path, function.piece, number, facts)
    return model.ev.classes.name(owner) if owner else facts.ir.defs[number].name


def _sent_by_name(
    function: WorkerFunction, frame: Frame, exposure: Exposure, verdict: Verdict, model: Model
) -> Iterator[Finding | Silence]:
    """What is passed to a loader and is under the guard itself: a worker does not find its name, and comes to nothing
    that it reads."""
    owner = model.callers.owner(function.path, function.piece, function.def_, model.facts(frame))
    name = model.ev.classes.name(owner) if owner else model.def_of(frame).name
    is_sent = model.reached[frame].parents.get(exposure.lead.index) is None
    if not is_sent or name != _outermost(function, model):
        return
    yield verdict.finding(
        f"`{name}` is not defined {in_workers_of(exposure)}: it is defined under `{HEAD}`, which a worker "
        f"({_starts(exposure, model)}) does not run; move it above",
        model.class_place(owner) if owner else model.def_place(frame),
        name,
        model.why(frame, exposure),
    )


def _exposure(frame: Frame, path: Path, model: Model) -> Exposure | None:
    return model.exposure(
        frame,
        1,
        cured=lambda loader: isinstance(_severity(loader, path, model, "proven"), Unsaid),
    )


def _severity(loader: Loader, path: Path, model: Model, certainty: Certainty) -> Severity | Unsaid:
    if is_only_imported(path, loader, model):
        return loudness(Severity.ERROR, certainty, 0)
    if is_never_run_again(path):
        return Unsaid(_NEVER_RUN_AGAIN)
    return severity(loader, model.start_methods.of(loader), model, certainty)


def _starts(exposure: Exposure, model: Model) -> str:
    return fresh_starts(model.start_methods.of(exposure.lead))


RULE = Rule(
    code="LDR207",
    name="main-guard-global",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
