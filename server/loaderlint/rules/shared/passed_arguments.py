"""The arguments for a parameter, where they are written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, Lib, LibObject, Method, PartialOf, def_key
from loaderlint.project.reach.model import Model

#: With more calls of a function, none is looked at.
_MAX_SITES = 16


class Passed(NamedTuple):
    """Expression `number` of `frame`, which a call passes; NONE if the argument is not known."""

    frame: Frame
    number: int


def passed_for(frame: Frame, index: int, model: Model) -> Iterator[Passed]:
    """The arguments that worker code passes for parameter `index` of the def that `frame` runs, one for each call that
    leads to it."""
    for caller, number in model.callers_of(frame):
        call = model.ev.expr(caller, number)
        yield Passed(caller, _argument(call, frame, index, caller, model) if isinstance(call, ir.Call) else NONE)


def passed_anywhere(frame: Frame, index: int, model: Model) -> list[Passed]:
    """The arguments that all code passes for parameter `index` of the def that `frame` runs, one for each call that
    leads to this frame; none if there are too many calls."""
    name = model.def_of(frame).name
    sites = list(islice(model.callers.sites_running(name, def_key(frame)), _MAX_SITES + 1)) if name else []
    found: list[Passed] = []
    for site in sites if len(sites) <= _MAX_SITES else ():
        for caller in model.callers.frames(site.path, site.piece, site.def_):
            call = model.ev.expr(caller, site.expr)
            if isinstance(call, ir.Call) and frame in model.ev.targets(site.expr, caller):
                found.append(Passed(caller, _argument(call, frame, index, caller, model)))
    return found


def passed_to_constructor(frame: Frame, index: int, model: Model) -> Passed | None:
    """The argument for parameter `index` of the constructor that `frame` runs, as written in the call that creates the
    object (NONE if it is not); None if `frame` runs another def, or the call does not lead to it."""
    site = frame.receiver.site if isinstance(frame.receiver, Instance) else None
    one = model.def_of(frame)
    call = model.ev.expr(site.frame, site.expr) if site and one.name == "__init__" else None
    if site is None or not isinstance(call, ir.Call) or any(arg.kind.startswith("star") for arg in call.args):
        return None
    if frame not in model.ev.targets(site.expr, site.frame):
        return None  # a base class's constructor
    return Passed(site.frame, ir.written_argument(call, one.params[index].name, index - 1))


def _argument(call: ir.Call, frame: Frame, index: int, caller: Frame, model: Model) -> int:
    callee = model.ev.eval(call.func, caller)
    if any(arg.kind in ("star", "starstar") for arg in call.args) or callee.only(PartialOf, LibObject, Lib):
        return NONE
    bound = frame.receiver is not None and not (callee.only(FunctionRef) and not callee.only(Method, Instance))
    param = model.def_of(frame).params[index]
    position = index - (1 if bound else 0)
    return ir.written_argument(call, param.name, position if param.kind in ("pos", "any") else None)
