"""Where the code around a loader first starts workers."""

from __future__ import annotations

import math

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Site
from loaderlint.project.reach.model import Model

#: Calls that are given a loader and start no workers.
_LOOKING = frozenset({"len", "print", "type"})


def first_start(loader: Site, frame: Frame, after: int, model: Model) -> float:
    """The first step of a frame, after a number, that may start the workers of a loader: it starts those of any, or
    is given the loader."""
    starting = [number for number in model.scripts.steps_starting_workers(frame) if number > after]
    given = [
        number
        for number, step in model.steps_of(frame, ir.Perform)
        if number > after and _is_given(loader, step.call, frame, model)
    ]
    return min((*starting, *given), default=math.inf)


def _is_given(loader: Site, number: int, frame: Frame, model: Model) -> bool:
    call = model.ev.expr(frame, number)
    callee = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or (isinstance(callee, ir.Global) and callee.name in _LOOKING):
        return False
    atoms = (atom for arg in call.args for atom in model.ev.eval(arg.value, frame).atoms)
    return any(getattr(atom, "site", None) == loader for atom in atoms)
