"""What is passed for a parameter, where it is written: the way from an edit in a helper to the call in the sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, Lib, LibObject, Method, PartialOf
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.stored_objects import is_stored

#: How many calls lie between the edit and where the data is taken out.
_MAX_CALLERS = 3


class Passed(NamedTuple):
    """Expression `number` of `frame`, which a call passes; NONE if what it passes cannot be told."""

    frame: Frame
    number: int


def passed_for(frame: Frame, index: int, model: Model) -> Iterator[Passed]:
    """What worker code passes for parameter `index` of the def that `frame` runs, by each call that leads to it."""
    for caller, number in model.callers_of(frame):
        call = model.ev.expr(caller, number)
        yield Passed(caller, _argument(call, frame, index, caller, model) if isinstance(call, ir.Call) else NONE)


def _argument(call: ir.Call, frame: Frame, index: int, caller: Frame, model: Model) -> int:
    callee = model.ev.eval(call.func, caller)
    if any(arg.kind in ("star", "starstar") for arg in call.args) or callee.only(PartialOf, LibObject, Lib):
        return NONE
    bound = frame.receiver is not None and not (callee.only(FunctionRef) and not callee.only(Method, Instance))
    params = model.def_of(frame).params
    for arg in call.args:
        if arg.kind == "kw" and arg.name == params[index].name:
            return arg.value
    positional = [arg.value for arg in call.args if arg.kind == "pos"]
    position = index - (1 if bound else 0)
    return positional[position] if 0 <= position < len(positional) and params[index].kind in ("pos", "any") else NONE


def taken_out_by_callers(frame: Frame, index: int, model: Model, depth: int = 0) -> list[Place]:
    """Where worker code takes out what it passes for a parameter of a def, if stored; none if some of it is out of
    sight. Copied there, it is what the caller goes on with as well."""
    places: dict[Place, None] = {}
    here = (frame.path, frame.piece, frame.def_)
    for one in [f for f in model.reached if (f.path, f.piece, f.def_) == here]:
        for passed in passed_for(one, index, model):
            e = model.ev.expr(passed.frame, passed.number) if passed.number != NONE else None
            if e is None:
                return []
            value = model.ev.eval(passed.number, passed.frame)
            if not any(is_stored(origin, value, model) for origin in value.origins):
                continue
            if isinstance(e, ir.Param) and depth < _MAX_CALLERS:
                above = taken_out_by_callers(passed.frame, e.index, model, depth + 1)
                if not above:
                    return []
                places.update(dict.fromkeys(above))
            elif isinstance(e, ir.Index) and (place := model.place(passed.frame, passed.number)).anchor >= 0:
                places[place] = None
            else:
                return []
    return list(places)
