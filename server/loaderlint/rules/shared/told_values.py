"""Values that code only prints or logs: they reach no sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import ExprId
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model

#: Functions and methods that tell a person about something.
_TELLING = frozenset("print debug info warning warn error exception critical log write".split())
#: Expressions that put a value into a text, or pick a part of it.
_PARTS_OF_TEXT = (ir.Text, ir.Bin, ir.Attr, ir.Seq, ir.Star)
_TEXTS = frozenset({"str", "repr", "format"})


def users(number: ExprId, exprs: Sequence[ir.Expr]) -> Iterator[tuple[ExprId, ir.Expr]]:
    """The expressions with an expression as operand, each with its number."""
    return ((user, e) for user, e in enumerate(exprs) if number in ir.operands(e))


def tells(call: ir.Call, number: ExprId, frame: Frame, model: Model) -> bool:
    """Whether a call prints or logs expression `number`: `print(x)`, `logger.info(x)`, `warnings.warn(x)`."""
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr):
        return func.base != number and func.name in _TELLING
    return func == ir.Global("print")


def is_only_told(number: ExprId, frame: Frame, model: Model) -> bool:
    """Whether a frame uses an expression, but for nothing else than to print or log it, perhaps as part of a text."""
    exprs = frame.code.exprs
    waiting, seen = [number], {number}
    is_told = False
    while waiting:
        one = waiting.pop()
        for user, e in users(one, exprs):
            if isinstance(e, ir.Call) and tells(e, one, frame, model):
                is_told = True
            elif not isinstance(e, _PARTS_OF_TEXT) and not (isinstance(e, ir.Call) and _is_text(e, frame, model)):
                return False
            elif user not in seen:
                seen.add(user)
                waiting.append(user)
    steps = model.def_of(frame).steps
    return is_told and not any(
        not isinstance(step, ir.Perform | ir.Bind) and not seen.isdisjoint(ir.step_expressions(step)) for step in steps
    )


def _is_text(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a call makes a text of a value: `str(x)`, `"{}".format(x)`."""
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr):
        return func.name in ("format", "join")
    return isinstance(func, ir.Global) and func.name in _TEXTS
