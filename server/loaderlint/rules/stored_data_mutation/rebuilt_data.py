"""Stored data that the main process makes anew before each pass over the loader."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin, def_key
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import main_methods, own_attribute

#: Why an edit does not add up.
REBUILT = "a method that a loop calls makes it anew"


def is_rebuilt(origin: Origin, model: Model) -> bool:
    """Whether the attribute that an origin starts from is filled again by a method of the object that a loop of the
    main process calls: an edit is gone with what it changed."""
    owner = origin.owner
    return isinstance(owner, Instance) and model.remembered(_is_rebuilt, owner, origin.path[0])


def _is_rebuilt(owner: Instance, field: str, model: Model) -> bool:
    return any(
        _stores_anew(method, owner, field, model) and _is_called_in_loop(method, owner, model)
        for method in main_methods(owner, field, model)
    )


def _stores_anew(frame: Frame, owner: Instance, field: str, model: Model) -> bool:
    """Whether a method stores something in the attribute, or in its items, that is not made of what is there."""
    for _, step in model.steps(frame):
        match step:
            case ir.SetAttr(_, base, name, value, _):
                stores = name == field and ir.is_self(model.ev.expr(frame, base))
            case ir.SetItem(_, base, _, value):
                stores = own_attribute(base, frame, model) == field
            case _:
                continue
        if stores and not isinstance(model.ev.expr(frame, value), ir.Augmented):
            origins = model.ev.eval(value, frame).origins
            if not any(one.owner == owner and one.path[0] == field for one in origins):
                return True
    return False


def _is_called_in_loop(frame: Frame, owner: Instance, model: Model) -> bool:
    """Whether code outside workers calls a method in a loop, on this object."""
    name = model.def_of(frame).name
    if name.startswith("__"):
        return False
    for site in model.callers.sites_running(name, def_key(frame), owner):
        facts = model.ev.facts(site.path, site.piece)
        one = facts.ir.defs[site.def_] if facts is not None else None
        if one and any(here.kind in ("loop", "while") for here in one.around(site.context)):
            return True
    return False
