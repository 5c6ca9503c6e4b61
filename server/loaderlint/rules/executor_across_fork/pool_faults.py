"""What happens in a forked worker that uses a pool, a queue or a future of the main process."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Severity
from loaderlint.knowledge.process_starts import POOLS, THREAD_QUEUES, PoolKind, plain
from loaderlint.project.evaluation.values import Instance, LibMember, LibObject, Origin
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.executor_across_fork.thread_queues import is_filled_by_thread, waits
from loaderlint.rules.shared.first_uses import first_uses, samples_taken
from loaderlint.rules.shared.held_handles import is_held


class Fault(NamedTuple):
    """The effect of a use in a worker. `made`: the pool or queue; `effect` and `word`: text for messages; `touches`:
    where the main process uses it."""

    made: LibObject
    severity: Severity
    effect: str
    word: str
    touches: tuple[Evidence, ...] = ()


def fault_of(owner: LibObject, method: str, call: WorkerCall, model: Model) -> Fault | None:
    """What is wrong with the call of a method of `owner` in a worker; None if nothing is."""
    name = plain(owner.name)
    kind = POOLS.get(name)
    if kind is not None and method in kind.uses:
        return _pool_fault(owner, kind, call, model)
    if model.runs_in_worker(owner.site.frame):
        return None
    if name in THREAD_QUEUES and method == "get" and waits(call, model) and is_filled_by_thread(owner, call, model):
        return Fault(owner, Severity.WARNING, "the worker hangs when the items of its copy are used up,", "queue")
    if method == "result" and POOLS.get(name.removesuffix(".submit")):
        return Fault(owner, Severity.WARNING, "the worker hangs if the task is not done yet,", "future")
    return None


def _pool_fault(owner: LibObject, kind: PoolKind, call: WorkerCall, model: Model) -> Fault | None:
    origins = call.callee.origins
    touches = _touches(owner, call, model)
    if model.runs_in_worker(owner.site.frame):
        if not touches:
            return None
        return Fault(owner, Severity.WARNING, "the worker hangs at its first task", kind.word, touches)
    if not is_held(owner, origins, model):
        return None
    if kind.eager:
        return Fault(owner, Severity.ERROR, "the worker hangs at its first task", kind.word)
    used = (*_uses_before(owner, kind, origins, model), *touches)
    if kind.processes:
        return Fault(owner, Severity.ERROR, "the worker hangs or raises AssertionError", kind.word, used)
    if used:
        return Fault(owner, Severity.WARNING, "the worker may hang at its first task", kind.word, used)
    effect = "the worker hangs if the main process has given it a task before,"
    return Fault(owner, Severity.INFORMATION, effect, kind.word)


def _uses_before(made: LibObject, kind: PoolKind, origins: frozenset[Origin], model: Model) -> tuple[Evidence, ...]:
    """Where the constructor that makes a pool gives it a task."""
    frames = {made.site.frame: None}
    for origin in sorted(origins, key=lambda o: o.path):
        if isinstance(origin.owner, Instance):
            frames.update(dict.fromkeys(model.ev.classes.construction(origin.owner)))
    return tuple(
        Evidence(model.place(frame, call.number), f"{model.label(frame)} uses it before")
        for frame in frames
        for call in model.frame_calls(frame)
        if call.context == 0
        and any(isinstance(a, LibMember) and a.owner == made and a.name in kind.uses for a in call.callee.atoms)
    )


def _touches(made: LibObject, call: WorkerCall, model: Model) -> tuple[Evidence, ...]:
    """Where the main process takes a sample, and so uses (or makes) the pool."""
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr):
        return ()
    if model.runs_in_worker(made.site.frame):
        return tuple(first_uses(made, model.ev.eval(func.base, call.frame).origins, model))
    owners = [o.owner for o in call.callee.origins if isinstance(o.owner, Instance)]
    places = [place for owner in owners for place in samples_taken(owner, model)]
    return tuple(Evidence(place, "the main process takes a sample") for place in dict.fromkeys(places))
