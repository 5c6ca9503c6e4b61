"""Whether the main process also runs the code of a worker's frame, on the same object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, def_key
from loaderlint.project.reach.model import Loader, Model


def runs_in_main(frame: Frame, model: Model) -> bool:
    """Whether the main process runs the same code on the same object: a loader without workers, or a known call."""
    if any(loader.has_workers() == "no" for loader in _loaders(frame, model)):
        return True
    return _is_run_by(_main_frames(frame, model), frame, model)


def is_run_by_reader(reader: Frame, frame: Frame, model: Model) -> bool:
    """Whether the code that reads what a worker's frame changes runs the same code on the same object first, or calls
    what does: then it reads what the main process has changed itself."""
    return _is_run_by(model.run_by([reader]), frame, model)


def _is_run_by(others: Iterable[Frame], frame: Frame, model: Model) -> bool:
    place = def_key(frame)
    for other in others:
        for targets in model.ev.leads(other).values():
            if any(def_key(t) == place and _may_be(t.receiver, frame.receiver) for t in targets):
                return True
    return False


def _may_be(one: Atom | None, other: Atom | None) -> bool:
    """Whether two objects are one. Of very many objects of a class it is not known where they were created."""
    is_any = isinstance(one, Instance) and isinstance(other, Instance) and one.site is None and one.cls == other.cls
    return is_any or one == other


def filled_before_workers(frame: Frame, model: Model) -> bool:
    """Whether a method that no worker calls iterates over the object's items with the same code: `for i in range(n):
    self.load(i)` in `load_all`."""
    owner = frame.receiver
    place = def_key(frame)
    for method in model.ev.classes.public_methods(owner) if isinstance(owner, Instance) else ():
        opened = model.ev.functions.open_frame(method.function, method.receiver, method.owner)
        if opened is None or model.runs_in_worker(opened) or not any(model.steps_of(opened, ir.Iterate)):
            continue
        if any(def_key(one) == place for one in model.run_by([opened])):
            return True
    return False


def _main_frames(frame: Frame, model: Model) -> Iterator[Frame]:
    """The frames that create the object and its loaders, and all that these frames run."""
    entries = [loader.site.frame for loader in _loaders(frame, model) if loader.site is not None]
    if isinstance(frame.receiver, Instance):
        entries += [frame.receiver.site.frame] if frame.receiver.site else []
        entries += model.ev.classes.construction(frame.receiver)
    yield from (one for one in model.run_by(entries) if one not in model.reached)


def _loaders(frame: Frame, model: Model) -> list[Loader]:
    return list(model.loaders_of(model.reached[frame].bits()))
