"""Containers inside a container on self that worker code itself binds anew: `self.state["rows"] = load(block)`, then
`self.state["rows"].pop()`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.stored_objects import is_stored
from loaderlint.rules.stored_data_mutation.constant_ways import ANY, Way, key_of, way_of, way_to
from loaderlint.rules.stored_data_mutation.edited_roots import root_of

#: Why an edit changes nothing that is stored.
REFILLED = "worker code binds what it changes anew: a buffer"

#: How many calls lie between an edit and the code that reads the container.
_MAX_CALLERS = 3


def is_refilled(target: int, origin: Origin, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression reads, under a constant key, a container that worker code of the same object binds to
    something new, or a part of one. For a parameter, whether all worker code passes such a container.

    `origin`: one of the origins of the expression. What comes from another attribute than the container is not new."""
    target = root_of(target, frame, model)
    e = model.ev.expr(frame, target)
    if isinstance(e, ir.Param):
        passed = list(passed_for(frame, e.index, model)) if depth < _MAX_CALLERS else []
        return bool(passed) and all(
            one.number != NONE and is_refilled(one.number, origin, one.frame, model, depth + 1) for one in passed
        )
    owner = frame.receiver
    way = way_to(target, frame, model)
    if not isinstance(owner, Instance) or origin.path[0] not in way:
        return False
    bound = model.remembered(_bound_anew, owner)
    return any(way[:end] in bound for end in range(2, len(way) + 1))


def _bound_anew(owner: Instance, model: Model) -> frozenset[Way]:
    """The containers inside an object's attributes that worker code running on it replaces, each time by something that
    is not stored."""
    anew: set[Way] = set()
    kept: set[Way] = set()
    for frame in model.reached_on(owner):
        for _, step in model.steps(frame):
            match step:
                case ir.SetItem(_, base, index, value):
                    way, key = way_of(base, frame, model), key_of(index, frame, model)
                case ir.SetAttr(_, base, key, value, _):
                    way = way_of(base, frame, model)
                case _:
                    continue
            if way and key != ANY and not isinstance(model.ev.expr(frame, value), ir.Augmented):
                (kept if _is_kept(value, frame, model) else anew).add((*way, key))
    return frozenset(anew - kept)


def _is_kept(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression may be something that is stored."""
    value = model.ev.eval(number, frame)
    return any(is_stored(origin, value, model) for origin in value.origins)
