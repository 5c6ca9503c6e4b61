"""Dicts that some code only makes and unpacks, as in `run(**defaults)`: they hold what is written, and no more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def is_as_written(ev: Evaluator, number: int, frame: Frame) -> bool:
    """Whether expression `number` is a dict that nothing can fill after it was written: a display or a call of `dict`,
    or a choice of such, by itself or under a name that is otherwise only unpacked."""
    e = ev.expr(frame, number)
    if isinstance(e, ir.Global):
        return _is_global_as_written(ev, e.name, frame)
    return _is_written(e, frame.code.exprs) and _is_only_unpacked(number, frame)


def display_of_one_use(ev: Evaluator, number: int, frame: Frame) -> tuple[Frame, ir.Map] | None:
    """The display of a dict that nothing else than expression `number` of a frame reads, there to be unpacked, and the
    frame that evaluates it; None for any other expression."""
    if not is_as_written(ev, number, frame):
        return None
    e, where = ev.expr(frame, number), frame
    if isinstance(e, ir.Global):
        file = ev.file(frame.path)
        pieces = file.mentioning(e.name) if file is not None else ()
        if file is None or sum(file.pieces[piece].ask(mentions, e.name) for piece in pieces) != 2:
            return None
        where = ev.body(frame.path, file.names[e.name][0].piece)
        bound = next(step for _, step in where.code.steps_of(ir.Bind) if step.name == e.name)
        e = ev.expr(where, bound.value)
    elif sum(number in ir.operands(reader) for reader in frame.code.exprs) != 1:
        return None
    return (where, e) if isinstance(e, ir.Map) else None


def _is_written(e: ir.Expr | None, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether an expression makes a dict of what it writes, and unpacks no other dicts into it."""
    match e:
        case ir.Map(keys):
            return ir.NONE not in keys
        case ir.Call(func, args):
            return exprs[func] == ir.Global("dict") and all(arg.kind == "kw" for arg in args)
        case ir.IfExp(_, then, other):
            return _is_written(exprs[then], exprs) and _is_written(exprs[other], exprs)
    return False


def _is_only_unpacked(number: int, frame: Frame) -> bool:
    """Whether a local is read only where it is unpacked."""
    exprs, steps = frame.code.exprs, frame.code.one.steps if frame.code.one else ()
    if any(isinstance(e, ir.Capture) for e in exprs):
        return False  # a function inside may fill it
    readers = [e for e in exprs if number in ir.operands(e)]
    if not all(isinstance(e, ir.Call) and _only_unpacks(e, number) for e in readers):
        return False
    reading = (step for step in steps if number in ir.step_expressions(step))
    return all(isinstance(step, ir.Bind | ir.Perform) and _is_local(step) for step in reading)


def _is_local(step: ir.Bind | ir.Perform) -> bool:
    return isinstance(step, ir.Perform) or step.scope == "local"


def _only_unpacks(call: ir.Call, number: int) -> bool:
    return call.func != number and all(arg.kind == "starstar" for arg in call.args if arg.value == number)


def _is_global_as_written(ev: Evaluator, name: str, frame: Frame) -> bool:
    """Whether only its own file mentions the name of a dict: where it binds it once, and where it unpacks it."""
    file = ev.file(frame.path)
    bindings = file.names.get(name, ()) if file is not None else ()
    if file is None or len(bindings) != 1 or {*ev.files.containing(name)} != {frame.path}:
        return False
    body = ev.body(frame.path, bindings[0].piece)
    bound = [step for _, step in body.code.steps_of(ir.Bind) if step.name == name and step.context == 0]
    if len(bound) != 1 or not _is_written(ev.expr(body, bound[0].value), body.code.exprs):
        return False
    uses = [file.pieces[piece].ask(other_uses, name) for piece in file.mentioning(name)]
    return sum(uses) == 1


def other_uses(text: str, name: str) -> int:
    """How often a text mentions a name, other than to unpack it."""
    return len(re.findall(rf"(?<!\*\*)\b{re.escape(name)}\b", text))


def mentions(text: str, name: str) -> int:
    """How often a text mentions a name."""
    return len(re.findall(rf"\b{re.escape(name)}\b", text))
