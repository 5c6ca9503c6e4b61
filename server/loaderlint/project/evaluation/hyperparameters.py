"""The content of `self.hparams` of a Lightning module: the arguments of the constructor that calls
`self.save_hyperparameters()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Literal_, MapOf, Site, Val, join, of, unknown

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The name of the object that holds them: created by the call that saves them.
KEPT = "lightning.pytorch.hparams"
#: The attribute through which a module gives it.
NAME = "hparams"
_KEEP = "save_hyperparameters"


def kept(ev: Evaluator, inst: Instance) -> Val | None:
    """The object that holds the hyperparameters of a module; None if its constructor saves none."""
    made = [
        LibObject(KEPT, Site(frame, step.call))
        for frame in ev.classes.constructing(inst, f".{_KEEP}")
        for step, base in frame.code.attribute_calls({_KEEP})
        if ir.is_self(ev.expr(frame, base)) and not ev.liveness.is_dead(step.context, frame)
    ]
    return of(*made) if made else None


def given(ev: Evaluator, site: Site, name: str) -> Val:
    """The hyperparameter `name` that the call at `site` saves: its argument, or the argument of the constructor, which
    a subclass may have passed on."""
    for value in ev.calls.site_arguments(site).positional:
        if not value.only(Literal_):  # not a name: a namespace or a dict of them
            return _item(ev, value, name, site.frame)
    receiver = site.frame.receiver
    outermost = ev.classes.init_frame(receiver) if isinstance(receiver, Instance) else None
    for frame in (site.frame, outermost):
        found = list(_arguments(ev, frame, name)) if frame is not None else []
        if found:
            return join(found)
    return unknown("config")


def _item(ev: Evaluator, value: Val, name: str, frame: Frame) -> Val:
    maps = [atom for atom in value.atoms if isinstance(atom, MapOf)]
    if len(maps) < len(value.atoms):
        return ev.attribute(value, name, frame, None)
    found = [one.values[one.keys.index(name)] for one in maps if name in one.keys]
    return join(found) if found else unknown("config")


def _arguments(ev: Evaluator, frame: Frame, name: str) -> Iterator[Val]:
    """The argument `name` of a call, also one that is taken by `**more`."""
    one = ev.def_of(frame)
    for index, param in enumerate(one.params if one else ()):
        value = ev.functions.argument(frame, index)
        if param.name == name:
            yield value
        elif param.kind == "starstar":
            for more in value.only(MapOf):
                if name in more.keys:
                    yield more.values[more.keys.index(name)]
