"""Properties that several functions make: a function decorated by `@x.setter` or `@x.deleter` adds to the property of
an earlier `def x`, which may be in a base class (`@Base.x.setter`). Reads still run the earlier function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance

if TYPE_CHECKING:
    from loaderlint.project.evaluation.classes import Member
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The methods of a property that decorate its functions.
ACCESSORS = frozenset({"getter", "setter", "deleter"})
_ACCESSOR = re.compile(r"^[ \t\f]*@[\w.]+\.(?:getter|setter|deleter)\b", re.MULTILINE)


class Addition(NamedTuple):
    """What a decorator such as `@x.setter` says: the function becomes the `kind` of the property that expression
    `extended` is."""

    kind: str
    extended: int


def addition(ev: Evaluator, function: FunctionRef) -> Addition | None:
    """What a function adds to a property; None for any other function."""
    file = ev.file(function.path)
    if file is None or not file.pieces[function.piece].ask(_may_add):
        return None
    facts = ev.facts(function.path, function.piece)
    for decorator in facts.ir.defs[function.def_].decorators if facts is not None else ():
        e = facts.ir.exprs[decorator] if facts is not None else None
        if isinstance(e, ir.Attr) and e.name in ACCESSORS:
            return Addition(e.name, e.base)
    return None


def extended(earlier: Member | None, kind: str, made: Member) -> Member:
    """The property that a function makes of an earlier one. If that is not known, reads of it are not known either."""
    known = earlier if earlier is not None and earlier.function is not None else made
    match kind:
        case "setter":
            return replace(known, bindings=made.bindings, setter=made)
        case "deleter":
            return replace(known, bindings=made.bindings, deleter=made)
    return made if known is made else replace(made, setter=known.setter, deleter=known.deleter)


def functions_of(member: Member) -> Iterator[Member]:
    """The functions that a name of a class stands for, each as a member: one, or those of a property."""
    seen: set[FunctionRef] = set()
    for one in (member, member.setter, member.deleter):
        if one is not None and one.function is not None and one.function not in seen:
            seen.add(one.function)
            yield one


def run_by_steps(ev: Evaluator, frame: Frame) -> Iterator[tuple[int, tuple[Frame, ...]]]:
    """The setters and deleters that a frame runs, each with the expression that is stored, or of whose value the
    attribute is deleted."""
    for _, step in frame.code.steps_of(ir.SetAttr):
        if step.value != ir.NONE and not ev.liveness.is_dead(step.context, frame):
            for owner in ev.eval(step.base, frame).only(Instance):
                yield step.value, set_by(ev, owner, step, frame)
    for _, removal in frame.code.steps_of(ir.Delete):
        target = ev.expr(frame, removal.target)
        if isinstance(target, ir.Attr) and not ev.liveness.is_dead(removal.context, frame):
            for owner in ev.eval(target.base, frame).only(Instance):
                yield target.base, _deleted_by(ev, owner, target.name, frame)


def set_by(ev: Evaluator, owner: Instance, step: ir.SetAttr, frame: Frame) -> tuple[Frame, ...]:
    """The frame of the setter that a step runs on an object; none if it stores an attribute."""
    member = ev.classes.member(owner.cls, step.name)
    setter = member.setter if member is not None else None
    if setter is None or setter.function is None:
        return ()
    passed = Arguments((ev.eval(step.value, frame),))
    return ev.functions.invoke(setter.function, owner, setter.owner, passed, frame)[1]


def _deleted_by(ev: Evaluator, owner: Instance, name: str, frame: Frame) -> tuple[Frame, ...]:
    member = ev.classes.member(owner.cls, name)
    deleter = member.deleter if member is not None else None
    if deleter is None or deleter.function is None:
        return ()
    return ev.functions.invoke(deleter.function, owner, deleter.owner, Arguments(), frame)[1]


def _may_add(text: str) -> bool:
    """Whether a function in a text may add to a property."""
    return _ACCESSOR.search(text) is not None
