"""Where workers read a handle, and whether they share it."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.findings.finding import Evidence
from loaderlint.knowledge.handles import HandleKind
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Method, Val
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.handle_across_workers.no_workers_branch import needs_no_workers
from loaderlint.rules.shared.held_handles import compares_pid, is_held, opener
from loaderlint.rules.shared.made_by_constructors import Construction
from loaderlint.rules.shared.silence_reasons import started_by
from loaderlint.rules.shared.stored_at_start import stored_at_start
from loaderlint.rules.shared.surrounding_code import main_frames


class Use(NamedTuple):
    """Where a worker reads a handle: expression `number` of `frame`. `drops`: its object leaves it out when it is
    pickled; `touches`: where the main process takes a sample, and so opens it; `constructions`: where a constructor
    opens what the worker would open otherwise."""

    frame: Frame
    number: int
    held: LibObject
    kind: HandleKind
    value: Val
    drops: bool
    touches: tuple[Evidence, ...]
    constructions: tuple[Construction, ...]


def why_not_shared(use: Use, model: Model) -> str:
    """Why workers have no handle that was opened before they start; '' if they may."""
    if compares_pid(use.frame, model):
        return "the function that uses it checks the process"
    if use.touches:
        return ""
    if model.runs_in_worker(use.held.site.frame) and not use.constructions:
        return "the worker opens it, and the main process reads no sample before"
    made = opener(use.held, model).site
    ways = [(made.frame, made.expr), *((one.frame, one.number) for one in use.constructions), (use.frame, use.number)]
    if any(needs_no_workers(number, frame, model) for frame, number in ways):
        return "a test of the number of workers is around it: it is opened or used only without workers"
    held_then = is_held(use.held, use.value.origins, model)
    return "" if held_then else "the main process no longer holds it when the workers start"


def cure_of(use: Use, model: Model, loader: Loader) -> str:
    """Why the workers of a loader do not share it: each opens its own; '' if they do."""
    if _is_closed_before(use, loader, model):
        return "the main process calls `close` of its object before it creates the loader"
    if loader.out_of_sight or "fork" in model.start_methods.of(loader):
        if use.kind.fork == "reconnects":
            return "its library opens another connection in each process"
        return "its worker_init_fn opens another one" if _is_opened_at_start(use, loader, model) else ""
    if not (use.drops or use.touches):
        return ""
    left = "its object leaves the handle out when it is pickled" if use.drops else "each worker opens its own"
    return f"{started_by(loader, model)}, and {left}"


def _is_closed_before(use: Use, loader: Loader, model: Model) -> bool:
    """Whether the code that creates the loader, or the constructor that makes the object with the handle, calls `close`
    of that object before."""
    owners = [one.owner for one in use.value.origins if isinstance(one.owner, Instance)]
    return any(
        _is_before(call, loader, model)
        for owner in owners
        for frame in main_frames(owner, loader)
        for call in model.calls_named(frame, ("close",))
        if any(one.receiver == owner for one in call.callee.only(Method))
    )


def _is_before(call: WorkerCall, loader: Loader, model: Model) -> bool:
    if loader.site is None or call.frame is not loader.site.frame:
        return model.def_of(call.frame).name == "__init__"
    code = call.frame.code
    closed, created = code.evaluated_by(call.number), code.evaluated_by(loader.site.expr)
    return closed is not None and created is not None and closed < created


def _is_opened_at_start(use: Use, loader: Loader, model: Model) -> bool:
    """Whether the worker_init_fn gives the dataset another handle. A library that knows its open files gives a forked
    process the inherited one again: h5py 3.16 has the same file descriptor."""
    names = {origin.path[0] for origin in use.value.origins if origin.path}
    return use.kind.fork == "corrupts" and stored_at_start(names, loader, model)


def drops_state(value: Val, model: Model) -> bool:
    """Whether the object leaves its handle out when it is pickled."""
    owners = [origin.owner for origin in value.origins if isinstance(origin.owner, Instance)]
    return any(model.ev.classes.member(o.cls, n) for o in owners for n in ("__getstate__", "__reduce__"))
