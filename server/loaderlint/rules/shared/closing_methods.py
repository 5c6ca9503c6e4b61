"""Methods that close what an attribute keeps: `__del__`, `close` and their like. A fix that lets each process create it
must not do so there, only to close it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Intent, Replace
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.expression_source import source_of

#: What closes handles and pools.
_CLOSES = frozenset({"close", "join", "shutdown", "terminate"})
#: Methods that callers or Python run at the end.
_AT_THE_END = frozenset({"__del__", "__exit__", "close", "shutdown"})
_NONE = ir.Const("NoneType", None)


class Closing(NamedTuple):
    """What methods of a class do at the end with what an attribute keeps. `methods`: those that only close it.
    `guards`: what makes them leave it alone where it is None. `others`: those that do more with it, or something that
    is not known."""

    methods: tuple[str, ...]
    guards: tuple[Intent, ...]
    others: tuple[str, ...]


def closing(cls: ClassRef, name: str, owner: Instance, model: Model) -> Closing:
    """The methods of a class that close what attribute `name` of an object keeps."""
    methods: list[str] = []
    others: list[str] = []
    guards: list[Intent] = []
    for member in model.ev.classes.methods_holding(cls, name):
        function = member.function
        frame = model.ev.functions.open_frame(function, owner, cls) if function and member.owner == cls else None
        if frame is None:
            continue
        found = _guards(frame, name, model)
        if found is not None:
            methods.append(member.name)
            guards += found
        elif member.name in _AT_THE_END:
            others.append(member.name)
    return Closing(tuple(methods), tuple(guards), tuple(others))


def _guards(frame: Frame, name: str, model: Model) -> list[Intent] | None:
    """What makes a method leave the attribute alone where it is None, if it does nothing but close it; else None."""
    one, exprs = model.def_of(frame), frame.code.exprs
    facts = model.ev.facts(frame.path, frame.piece)
    if facts is None or len(facts.ir.defs) != 2 or not one.params or one.params[0].name != "self":
        return None  # a function inside may read the attribute as well
    seen = {number for here in one.contexts for number, _ in _asked(here, name, frame)}
    guards: list[Intent] = []
    closes = False
    for number, step in model.steps_of(frame, ir.Evaluate):
        kept = _closed(step.expr, name, frame)
        if kept is None:
            continue
        text, needs = source_of(step.expr, frame, model)
        if text is None or needs:
            return None
        closes = True
        seen.add(kept)
        if not any(is_there for here in one.around(step.context) for _, is_there in _asked(here, name, frame)):
            guards.append(Replace(model.step_place(frame, number), f"if self.{name} is not None:\n    {text}"))
    reads = {number for number, e in enumerate(exprs) if isinstance(e, ir.Attr) and e.name == name}
    return guards if closes and reads == seen else None


def _closed(number: int, name: str, frame: Frame) -> int | None:
    """The attribute, as an expression, that a statement `self.<name>.close()` closes; None for another statement."""
    exprs = frame.code.exprs
    call = exprs[number] if number != ir.NONE else None
    function = exprs[call.func] if isinstance(call, ir.Call) else None
    if not isinstance(function, ir.Attr) or function.name not in _CLOSES:
        return None
    return function.base if _is_kept(function.base, name, frame) else None


def _is_kept(number: int, name: str, frame: Frame) -> bool:
    e = frame.code.exprs[number]
    return isinstance(e, ir.Attr) and e.name == name and ir.is_self(frame.code.exprs[e.base])


def _asked(here: ir.Context, name: str, frame: Frame) -> Iterator[tuple[int, bool]]:
    """The reads of an attribute by which a test asks whether it is there, each with whether it is in this branch."""
    if here.kind == "if" and here.expr != ir.NONE:
        yield from _asked_by(here.expr, not here.negated, name, frame)


def _asked_by(test: int, holds: bool, name: str, frame: Frame) -> Iterator[tuple[int, bool]]:
    exprs = frame.code.exprs
    match exprs[test]:
        case ir.Attr() if _is_kept(test, name, frame):
            yield test, holds
        case ir.Unary("not", operand):
            yield from _asked_by(operand, not holds, name, frame)
        case ir.BoolOp(op, left, right):
            for number, is_there in (*_asked_by(left, holds, name, frame), *_asked_by(right, holds, name, frame)):
                yield number, is_there and holds == (op == "and")
        case ir.Compare(left, (op,), (right,)) if exprs[right] == _NONE and _is_kept(left, name, frame):
            yield left, holds == (op in ("is not", "!="))
