"""Divisions by a statistic of the sample that is zero for some data: its maximum, sum, norm or deviation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, SeqOf
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.unresolved_places import Spot

#: Methods and functions that are zero for some data. The sum of signed values may cancel.
_STATISTICS = frozenset("sum std norm max amax ptp nansum nanstd nanmax var".split())
_MODULES = ("numpy.", "torch.", "scipy.")
#: What gives a number that is not negative, so that its sum vanishes only where all is zero.
_NOT_NEGATIVE = frozenset("abs absolute exp square softmax sigmoid relu bincount histogram pow".split())
_KEEPS = frozenset("float double item sqrt abs astype".split())
_MAX_DEPTH = 8


class Divisor(NamedTuple):
    """A statistic of the sample as it is in a quotient. `eased`: with an epsilon, which the sum of signed values
    may cancel."""

    expr: int
    word: str
    eased: bool


def divisions(frame: Frame, model: Model) -> Iterator[tuple[Spot, int]]:
    """The divisions of a def: where they are, and by what."""
    exprs = frame.code.exprs
    for number in sorted(n for n in model.ev.evaluated(frame) if type(exprs[n]) is ir.Bin):
        e = exprs[number]
        if isinstance(e, ir.Bin) and e.op == "/":
            yield Spot(frame, number), e.right
    for number, step in model.steps_of(frame, ir.Augment):
        if step.op == "/":
            yield Spot(frame, number, "step"), step.value


def statistic(number: int, frame: Frame, model: Model, depth: int = 0) -> Divisor | None:
    """The statistic of the sample that an expression is; None for anything else."""
    e = model.ev.expr(frame, number)
    if depth > _MAX_DEPTH:
        return None
    if isinstance(e, ir.Bin) and e.op == "-":
        return _range(e, number, frame, model)
    if isinstance(e, ir.Bin) and e.op == "+":
        return _eased(e, frame, model, depth)
    if not isinstance(e, ir.Call):
        return None
    func = model.ev.expr(frame, e.func)
    libs = [a.name for a in model.ev.eval(e.func, frame).atoms if isinstance(a, Lib)]
    word = (libs[0] if libs else func.name if isinstance(func, ir.Attr) else "").rpartition(".")[2]
    if libs and not libs[0].startswith(_MODULES):
        return None
    data = e.args[0].value if libs and e.args else func.base if isinstance(func, ir.Attr) and not libs else None
    if data is None:
        return None
    if word in _KEEPS:
        inner = statistic(data, frame, model, depth + 1)
        return inner._replace(expr=number) if inner else None
    if word not in _STATISTICS or not _is_sample(data, frame, model, 0):
        return None
    return Divisor(number, word, False)


def _range(e: ir.Bin, number: int, frame: Frame, model: Model) -> Divisor | None:
    """`x.max() - x.min()`."""
    high, low = _word(e.left, frame, model), _word(e.right, frame, model)
    if high in ("max", "amax") and low in ("min", "amin") and statistic(e.left, frame, model, 0):
        return Divisor(number, "max() - min()", False)
    return None


def _word(number: int, frame: Frame, model: Model) -> str:
    e = model.ev.expr(frame, number)
    func = model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
    return func.name if isinstance(func, ir.Attr) else ""


def _eased(e: ir.Bin, frame: Frame, model: Model, depth: int) -> Divisor | None:
    """`x.sum() + 1e-9`: only a sum of what may be negative is still near zero."""
    for part in (e.left, e.right):
        found = statistic(part, frame, model, depth + 1)
        if found is not None and found.word == "sum" and not _is_not_negative(part, frame, model):
            return found._replace(eased=True)
    return None


def _is_not_negative(total: int, frame: Frame, model: Model) -> bool:
    """Whether what is summed cannot be negative: `x.abs().sum()`, `(x ** 2).sum()`, a mask."""
    e = model.ev.expr(frame, total)
    func = model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
    inside = [arg.value for arg in e.args] if isinstance(e, ir.Call) else []
    if isinstance(func, ir.Attr):
        inside.append(func.base)
    for number in inside:
        part = model.ev.expr(frame, number)
        if isinstance(part, ir.Compare) or (isinstance(part, ir.Bin) and part.op == "**"):
            return True
        if isinstance(part, ir.Call) and _word(number, frame, model) in _NOT_NEGATIVE:
            return True
    return False


def _is_sample(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether an expression is made from the sample: a parameter but self, an item, what a call gives; not an attribute
    of self as it is, nor a constant."""
    if depth > _MAX_DEPTH:
        return False
    value = model.ev.eval(number, frame)
    if value.literal is not None or value.only(SeqOf):
        return False
    e = model.ev.expr(frame, number)
    match e:
        case ir.Param(index):
            return index > 0 or not isinstance(frame.receiver, Instance)
        case ir.Index(base, index):
            return _is_sample(base, frame, model, depth + 1) or _is_sample(index, frame, model, depth + 1)
        case ir.Call(func, args):
            callee = model.ev.expr(frame, func)
            parts = [arg.value for arg in args] + ([callee.base] if isinstance(callee, ir.Attr) else [])
            return any(_is_sample(part, frame, model, depth + 1) for part in parts)
        case ir.Bin(_, left, right) | ir.Augmented(_, left, right):
            return _is_sample(left, frame, model, depth + 1) or _is_sample(right, frame, model, depth + 1)
        case ir.Phi(choices):
            return any(_is_sample(choice, frame, model, depth + 1) for choice in choices)
        case ir.Unpack(inner, _, _) | ir.Element(inner) | ir.Unary(_, inner):
            return _is_sample(inner, frame, model, depth + 1)
        case ir.Attr(base, _):
            return not ir.is_self(model.ev.expr(frame, base)) and _is_sample(base, frame, model, depth + 1)
    return False


def is_tested(found: Divisor, divisor: int, frame: Frame, model: Model) -> bool:
    """Whether the def tests the divisor anywhere, or what it is made from: `if total > 0`, `np.where(std == 0, ...)`,
    `x[x.max(axis) == 0] = 1`, `nan_to_num`."""
    for number in sorted(model.ev.evaluated(frame)):
        e = model.ev.expr(frame, number)
        if isinstance(e, ir.Compare) and any(_holds(n, frame, model) for n in (e.left, *e.rights)):
            return True
        if isinstance(e, ir.Call) and _word(number, frame, model) in ("nan_to_num", "isnan", "isclose", "errstate"):
            return True
    tests = {step.expr for _, step in model.steps(frame) if isinstance(step, ir.Test)}
    items = {step.base for _, step in model.steps(frame) if isinstance(step, ir.SetItem)}
    return bool({found.expr, divisor} & (tests | items))


def _holds(number: int, frame: Frame, model: Model) -> bool:
    """Whether an operand of a comparison is a statistic: `x.max() > 0`, `std == 0`."""
    return statistic(number, frame, model, 0) is not None or _word(number, frame, model) in ("any", "count_nonzero")


def may_cancel(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is a sum of what may be negative: it may be near zero with an epsilon too."""
    return _word(number, frame, model) == "sum" and not _is_not_negative(number, frame, model)
