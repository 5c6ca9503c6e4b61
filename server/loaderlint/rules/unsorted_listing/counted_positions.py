"""Positions that code counts out, such as the first 80 %: `range(n)`, `indices[n:]`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model

_COUNTING = frozenset(map(Lib, ("builtins.range", "numpy.arange", "torch.arange")))
_PASSING_ON = frozenset(map(Lib, ("builtins.list", "builtins.tuple", "numpy.array", "torch.tensor")))


def is_part_by_count(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression gives the positions of a part of a sequence, in their order."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Index):
        part = model.ev.expr(frame, e.index)
        is_cut = isinstance(part, ir.Slice) and (part.lower != NONE or part.upper != NONE)
        return is_cut and _counting(e.base, frame, model) is not None
    call = _counting(number, frame, model)
    given = [model.ev.expr(frame, arg.value) for arg in call.args] if call is not None else []
    return bool(given) and not (_is_length(given[-1], frame, model) and given[:-1] in ([], [ir.Const("int", 0)]))


def _counting(number: int, frame: Frame, model: Model) -> ir.Call | None:
    """The call of `range` or the like whose numbers an expression gives in their order."""
    call = model.ev.expr(frame, number)
    if not isinstance(call, ir.Call) or not call.args or _is_shuffled(number, frame, model):
        return None
    callee = model.ev.eval(call.func, frame).atoms
    if callee and callee <= _PASSING_ON:
        return _counting(call.args[0].value, frame, model)
    return call if callee and callee <= _COUNTING and len(call.args) < 3 else None


def _is_shuffled(number: int, frame: Frame, model: Model) -> bool:
    calls = model.calls_named(frame, ("shuffle",))
    return any(arg.value == number for one in calls for arg in one.call.args)


def _is_length(e: ir.Expr | None, frame: Frame, model: Model) -> bool:
    return isinstance(e, ir.Call) and model.ev.eval(e.func, frame).atoms == {Lib("builtins.len")}
