"""
# unguarded-worker-start (LDR206)

## What it does
Finds scripts that iterate over a loader with workers at module level, outside `if __name__ == "__main__"`, where the
workers are spawned or come from a fork server.

## Why is this bad?
Such a worker first imports the main script again. It reaches the same loop, tries to start workers itself, and dies:
`RuntimeError: An attempt has been made to start a new process before the current process has finished its bootstrapping
phase`. The main process reports `DataLoader worker (pid(s) ...) exited unexpectedly`. Measured with torch 2.13 under
spawn and forkserver. Windows and macOS use spawn; Linux uses a fork server from Python 3.14 on.

## When it is not a bug
- The workers are forked: Linux before Python 3.14, unless the program sets another start method.
- The module only creates the loader. That starts no workers; iterating does: `for`, `iter`, `list`, `enumerate`,
  `trainer.fit(model, loader)`, `tuner.lr_find(model, loader)`, or a call of a function that does so. A subclass of
  DataLoader may start them where it is created: `self.iterator = super().__iter__()` in its `__init__`.
- The script runs on Linux only, because it imports or calls what other platforms lack: `os.sched_getaffinity`,
  `fcntl`, `nvidia.dali`, `google.colab`, `init_process_group("nccl")`. An import in a function, in a branch or in a
  `try` does not count, nor does a call that not every way to the loader passes.
- The script is the `__main__.py` of a package, folder or zip file that is run by its name (`python -m package`,
  `python folder`). Workers do not run it again (measured with torch 2.13), but they do import the modules with the
  classes that they get.
- The loader has no workers.
- The code gives the loader no workers in some cases, such as on Windows: it passes `2 if os.name == "posix" else 0`, or
  has stored that just before as `config.workers`.
- The code is under a test of `__name__`, of `multiprocessing.parent_process()` or the like.
- The script ends above it unless it is the main module: `if __name__ != "__main__": sys.exit()`. Spawned workers run it
  as `__mp_main__`, so they end there, and a guard below does not help them (measured with torch 2.13).

The finding is a hint where the statement, or one above it, always reads a name that nothing binds: it raises NameError
before any worker starts, until somebody binds the name or has written it to its end. So it is where a statement that
always runs before calls a function or class of the project with arguments that this does not accept, itself or in a
constructor, or unpacks what a function returns that never returns a value: the script ends there with a TypeError. And
so it is in a branch of a long `if` that a constant switches off: `RELOAD = True`, and the loop is in the `else` of
`if RELOAD:`.

It is a hint, too, where a handler around the start or around a call on the way to it (`except Exception`, `except
RuntimeError`, a bare `except`) catches the error in each worker: the worker goes on to its batches (measured with torch
2.13 under spawn and forkserver). What remains is that each worker runs everything above again, and what the handler
does. A handler that raises again or ends the process does not help. None does if the script starts other workers
outside of such a `try`, or ends with `sys.exit()`.

## Example
```python
loader = DataLoader(Crops(), num_workers=4)

for batch in loader:
    step(batch)
```

## Fixed
```python
if __name__ == "__main__":
    loader = DataLoader(Crops(), num_workers=4)

    for batch in loader:
        step(batch)
```

## Fix safety
Safe: the code below the guard is still module-level code, so every name stays a global. Text in multi-line strings is
not indented. Unsafe where workers may need a name that is bound below the guard, where other files import the script,
or where what stays above the guard is not for workers to do again: it asks the user, removes files or begins one anew,
creates the model, reads data that no worker needs, or prints. That counts in `model, processor = load()` too, if
workers need only the processor. It is unsafe, too, where the loader sends something that cannot be pickled and that no
safe fix changes: then the guard alone starts no workers. Often a function is between that code and the loop: move
the function up, and the guard begins above the code.

A safe fix also takes the statements above that lead to the loop, so that a worker does not create the model or print
again. It stops at several imports, an import of the project, a function, a class, a name that workers use, a setting
of another module (`torch.backends.cudnn.benchmark = True`), and a call whose effect workers may need
(`torch.manual_seed(0)`, `register_all()`).

## References
- [Platform-specific behaviors](https://pytorch.org/docs/stable/data.html#platform-specific-behaviors)
- [Safe importing of main module](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
- pytorch/pytorch#5858, pytorch/pytorch#2341
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path

from loaderlint.findings.finding import EncloseRest, Evidence, Finding, Fix, Place, Safety, Severity, Silence
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.scripts import Start, is_never_run_again
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Unsaid, Verdict, certainty_of_workers, loudness
from loaderlint.rules.shared.main_guard import HEAD, fresh_starts, severity
from loaderlint.rules.shared.silence_reasons import few_workers
from loaderlint.rules.unguarded_worker_start.calls_that_fail import FailingCall, failing_call_before
from loaderlint.rules.unguarded_worker_start.caught_attempts import handler_of
from loaderlint.rules.unguarded_worker_start.repeated_effects import has_effects_before, repeated_work
from loaderlint.rules.unguarded_worker_start.script_work import first_work
from loaderlint.rules.unguarded_worker_start.unbound_names import unbound_before

_TITLE = f"Put the rest of the script under `{HEAD}`"


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each script, where it first starts the workers of a loader."""
    place = model.site_place(loader.site) if loader.site and model.explains else None
    if loader.site is not None and loader.has_workers() == "no":
        if place is not None:
            yield Silence(RULE.name, place, few_workers(loader))
        return
    severe = severity(loader, model.start_methods.of(loader), model, "proven")
    if isinstance(severe, Unsaid):
        if place is not None:
            yield Silence(RULE.name, place, severe.reason)
        return
    starts = [start for start in model.scripts.starts() if start.loader is loader]
    if place is not None and not starts:
        again = not is_never_run_again(place.path)
        reason = (
            "no script iterates over it when it is imported" if again else "workers do not run a `__main__.py` again"
        )
        yield Silence(RULE.name, place, reason)
    for start in starts:
        yield from _finding(start, model)


def _finding(start: Start, model: Model) -> Iterator[Finding | Silence]:
    loader, script = start.loader, start.place.path.name
    certainty, methods = certainty_of_workers(loader), model.start_methods.of_start(loader, start.place.path)
    loud = severity(loader, methods, model, certainty)
    if (
        not isinstance(loud, Unsaid)
        and certainty == "possible"
        and _is_for_training(loader, model)
        and _tries_out(script)
    ):
        loud = loudness(loud, "proven", 2)
    if not isinstance(loud, Unsaid) and model.is_unused(start.place.path, start.place.piece, 0):
        loud = Severity.HINT
    missing = unbound_before(start, model)
    failing = failing_call_before(start, model) if not isinstance(loud, Unsaid) else None
    handler = handler_of(start, model) if not isinstance(loud, Unsaid) else None
    if (missing or failing or handler) and not isinstance(loud, Unsaid):
        loud = Severity.HINT
    if isinstance(loud, Unsaid):
        yield Silence(RULE.name, start.place, loud.reason)
        return
    evidence = [*_evidence(start, missing, failing, model)]
    if handler is not None:
        evidence.insert(0, Evidence(handler, "this catches the RuntimeError in each worker, which goes on"))
    yield Verdict(RULE.name, loud, certainty).finding(
        _message(start, fresh_starts(methods), handler), start.place, script, tuple(evidence), (_fix(start, model),)
    )


def _message(start: Start, methods: str, handler: Place | None) -> str:
    described, script = start.loader.described, start.place.path.name
    moved = "the outermost statement around this" if start.is_nested else "this"
    remedy = f"put {moved} and what follows under `{HEAD}`"
    if handler is not None:
        return (
            f"each worker of {described} ({methods}) first runs {script} again, until it fails to start workers itself "
            f"here; {remedy}"
        )
    return (
        f"the workers of {described} cannot start: each one ({methods}) first runs {script} again, and here it would "
        f"start workers itself; {remedy}"
    )


def _is_for_training(loader: Loader, model: Model) -> bool:
    """Whether a loader is created in a branch for training: `if phase == "train":`."""
    around = model.opposed_branches.choices_at(loader.site) if loader.site is not None else ()
    return any(one.holds and one.values == {"train"} for one in around)


def _tries_out(script: str) -> bool:
    """Whether a script does not train, judging by its name. The branch for training is hardly for its loaders, but it
    is not known which branch is."""
    return script.startswith(("test", "val", "eval", "infer", "predict", "demo"))


def _evidence(start: Start, missing: str, failing: FailingCall | None, model: Model) -> Iterator[Evidence]:
    if missing:
        yield Evidence(start.place, f"nothing binds `{missing}`: until then, the script ends here with a NameError")
    if failing is not None:
        yield Evidence(failing.place, failing.reason)
    if start.loader.site is not None:
        yield Evidence(model.site_place(start.loader.site), f"the loader is made here ({start.loader.workers_text})")
    if start.frames:
        way = " > ".join(model.label(frame) for frame in start.frames)
        last = start.frames[-1]
        its_own = isinstance(last.receiver, Instance) and last.receiver.site == start.loader.site
        does = "makes its iterator" if its_own else "iterates over it"
        yield Evidence(model.def_place(last), f"{does}: {start.place.path.name} > {way}")


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fix(start: Start, model: Model) -> Fix:
    """Put the rest of the script under a guard, with the work above it that leads to the start. Safe if only the script
    itself needs the code that no longer runs at import; the work above it is left alone if that is not sure."""
    path = start.place.path
    file = model.files.file(path)
    unsafe = Fix(_TITLE, "unsafe", (EncloseRest(start.place, HEAD),))
    if file is None:
        return unsafe
    outermost = _outermost(file, start.place.piece)
    needed = _needed_in_workers(path, outermost, model)
    if _may_be_needed(file, outermost, needed, model):
        return unsafe
    first = first_work(file, outermost, needed, model)
    begins = start.place if first == outermost else Place(path, first, -1)
    # each worker would do again what stays above
    again = repeated_work(file, first, needed, model)
    safety: Safety = "unsafe" if again or has_effects_before(file, first, model) else "safe"
    title = f"{_TITLE}; above it, each worker still {', '.join(again)}" if again else _TITLE
    return Fix(title, safety, (EncloseRest(begins, HEAD),))


def _may_be_needed(file: ProjectFile, first: int, needed: Set[str], model: Model) -> bool:
    """Whether other files or workers may need the code of a script from piece `first` on. `needed` are the names that
    workers use."""
    if model.scripts.importers(file.path) or _is_late(model):
        return True
    if any(piece.kind == "class" for piece in file.pieces[first:]):
        return True  # its objects may be sent to workers
    bound = (binding for name in needed if name in file.names for binding in file.names[name])
    return any(binding.piece >= first for binding in bound)


def _is_late(model: Model) -> bool:
    """Whether some workers run unknown code, whose requirements are not known."""
    return any(loader.late and loader.has_workers() != "no" for loader in model.loaders)


def _outermost(file: ProjectFile, piece: int) -> int:
    while file.pieces[piece].parent >= 0:
        piece = file.pieces[piece].parent
    return piece


def _needed_in_workers(path: Path, first: int, model: Model) -> set[str]:
    """The names that code of the file which workers run mentions; the code's own names too, where it would be moved."""
    found: set[str] = set()
    for frame, reached in model.reached.items():
        facts = frame.facts
        if frame.path != path or facts is None or not reached.bits():
            continue
        found.update(facts.ir.mentions)
        if frame.piece >= first:
            found.add(facts.ir.defs[1].name if len(facts.ir.defs) > 1 else "")
    return found


RULE = Rule(
    code="LDR206",
    name="unguarded-worker-start",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
    stops_start=True,
)
