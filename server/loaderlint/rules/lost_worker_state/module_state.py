"""Counters and logs in a name of the module that sample code changes: each worker has its own copy of the module."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import STATE_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Lib, def_key
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import GROWING, OWN_CONTAINERS, changes_in_place, is_aware, is_of_process
from loaderlint.rules.shared.unresolved_places import Spot


class ModuleState(NamedTuple):
    """A change that `frame` makes at `spot` to what the module calls `name`. It is read in expression `number` of the
    main process's frame `reader`."""

    frame: Frame
    spot: Spot
    name: str
    reader: Frame
    number: int


def module_state(frame: Frame, model: Model) -> Iterator[ModuleState]:
    """The counters and logs of its module that a frame changes, and that the main process reads: `COUNT += 1`,
    `FAILED.append(path)`."""
    for spot, name in _changes(frame, GROWING, model) if frame.def_ else ():
        if not is_aware(frame, model) and model.remembered(_is_only_changed_by_workers, frame.path, name):
            read = model.remembered(_read_in_main, frame.path, name)
            if read is not None:
                yield ModuleState(frame, spot, name, *read)


def _changes(frame: Frame, methods: Set[str], model: Model) -> Iterator[tuple[Spot, str]]:
    """Where a frame changes the value of a name of the module, and the name. `methods`: those that change it."""
    for change in changes_in_place(frame, methods, model):
        name = _global(change.held, frame, model)
        if name and not (change.stored != NONE and is_of_process(change.stored, frame, model)):
            yield change.spot, name


def _global(number: int, frame: Frame, model: Model) -> str:
    """The name of the module that an expression reads; '' for other expressions."""
    e = model.ev.expr(frame, number)
    return e.name if isinstance(e, ir.Global) else ""


def _is_only_changed_by_workers(path: Path, name: str, model: Model) -> bool:
    """Whether a name of a module starts as something plain, and no code of the main process changes it afterwards."""
    file = model.files.file(path)
    bindings = file.names.get(name, []) if file is not None else []
    made = [binding for binding in bindings if binding.def_ == 0]
    if file is None or len(made) != 1 or made[0].step < 0:
        return False
    body = model.ev.body(path, made[0].piece)
    step = model.def_of(body).steps[made[0].step]
    if not isinstance(step, ir.Bind) or not _is_plain(step.value, body, model):
        return False
    return not any(
        one == name for frame in _main_frames(path, name, model) for _, one in _changes(frame, STATE_METHODS, model)
    )


def _is_plain(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression makes a number, or a container that is empty or holds numbers."""
    match model.ev.expr(frame, number):
        case ir.Const(kind):
            return kind in ("int", "float")
        case ir.Seq("list" | "set", parts) | ir.Map(_, parts):
            return all(_is_plain(part, frame, model) for part in parts)
        case ir.Bin("*", left, _):
            return isinstance(model.ev.expr(frame, left), ir.Seq) and _is_plain(left, frame, model)
        case ir.Call(func):
            callees = model.ev.eval(func, frame).atoms
            return bool(callees) and all(isinstance(one, Lib) and one.name in OWN_CONTAINERS for one in callees)
    return False


def _read_in_main(path: Path, name: str, model: Model) -> tuple[Frame, int] | None:
    """Where code of the main process in the same file reads a name of the module, once workers may have changed it;
    None if none does."""
    for frame in _main_frames(path, name, model):
        if not _may_run_later(frame, model):
            continue
        for number in sorted(model.ev.evaluated(frame)):
            if model.ev.expr(frame, number) == ir.Global(name):
                return frame, number
    return None


def _may_run_later(frame: Frame, model: Model) -> bool:
    """Whether a frame runs after a loader is there: a statement of the module below its functions, a function that
    creates a loader, or one that known code calls."""
    if frame.def_ == 0:
        return any(path == frame.path and piece < frame.piece for path, piece, _ in model.once(_run_by_workers))
    creates = any(loader.site is not None and def_key(loader.site.frame) == def_key(frame) for loader in model.loaders)
    return creates or def_key(frame) not in model.callers.uncalled


def _main_frames(path: Path, name: str, model: Model) -> Iterator[Frame]:
    """The frames of the main process in a file whose text holds a name. A function that workers run has some if other
    code calls it by its name."""
    in_workers = model.once(_run_by_workers)
    for function in model.main_functions((name,)):
        if function.path != path:
            continue
        calls = model.callers.sites(function.written.name) if def_key(function) in in_workers else None
        if calls is None or any((one.path, one.piece, one.def_) not in in_workers for one in calls):
            yield from function.frames


def _run_by_workers(model: Model) -> frozenset[DefKey]:
    return frozenset(map(def_key, model.reached))
