"""Orders that a constructor draws, and that workers use up."""

from __future__ import annotations

from collections.abc import Set

from loaderlint.facts import ir
from loaderlint.project.evaluation.values import Instance, LibMember, LibObject
from loaderlint.project.reach.model import Model

#: Methods that take an item out of a list.
_TAKING_OUT = frozenset({"pop", "popleft"})


def begins_with_drawn_order(owner: Instance, generators: Set[LibObject], model: Model) -> bool:
    """Whether the constructor of an object draws from one of these generators, and workers take one item after the
    other out of a list of the object: all of them begin with the same order, whatever generators they have."""
    drawn = (call for frame in model.ev.classes.construction(owner) for call in model.frame_calls(frame))
    if not any(one.owner in generators for call in drawn for one in call.callee.only(LibMember)):
        return False
    return any(
        isinstance(held := frame.code.exprs[base], ir.Attr) and ir.is_self(frame.code.exprs[held.base])
        for frame in model.reached_on(owner)
        for _, base in frame.code.attribute_calls(_TAKING_OUT)
    )
