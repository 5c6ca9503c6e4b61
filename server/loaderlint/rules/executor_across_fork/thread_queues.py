"""Queues that a thread fills, and the code that waits for their items."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.values import Instance, LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall


def waits(call: WorkerCall, model: Model) -> bool:
    """Whether `queue.get()` waits without end."""
    arguments = model.ev.calls.arguments(call.call, call.frame)
    block = arguments.get("block", 0)
    return arguments.get("timeout", 1) is None and (block is None or bool(block.literal and block.literal.value))


def is_filled_by_thread(queue: LibObject, call: WorkerCall, model: Model) -> bool:
    """Whether the object that holds a queue starts a thread in its constructor, and no worker puts into the queue."""
    if any(
        isinstance(a, LibMember) and a.name.startswith("put") for c in model.calls_on(queue) for a in c.callee.atoms
    ):
        return False
    owners = [origin.owner for origin in call.callee.origins if isinstance(origin.owner, Instance)]
    return any(
        _starts_thread(started, model)
        for owner in owners
        for frame in model.ev.classes.construction(owner)
        for started in model.frame_calls(frame)
    )


def _starts_thread(call: WorkerCall, model: Model) -> bool:
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr) or func.name != "start":
        return False
    for atom in model.ev.eval(func.base, call.frame).atoms:
        if isinstance(atom, LibObject) and atom.name == "threading.Thread":
            return True
        if isinstance(atom, Instance) and "threading.Thread" in model.ev.classes.library_bases(atom.cls):
            return True
    return False
