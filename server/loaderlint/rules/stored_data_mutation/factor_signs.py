"""Whether a number that an array is multiplied by is greater than 0, as far as the code shows it. Data that is the same
everywhere, whose deviation is 0, is not thought of: nothing can be scaled by its range."""

from __future__ import annotations

from typing import Literal

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.stored_data_mutation.replaced_numbers import applied, number_of

#: 'positive'; 'mostly' where the greatest item of some data gives it; '' for anything else, such as an array.
Sign = Literal["positive", "mostly", ""]

#: What gives one number for all items, which is not below 0.
_SPREADS = frozenset("std var ptp norm nanstd nanvar".split())
#: What gives one number that has the sign of the items.
_GREATEST = frozenset("max amax nanmax".split())
_OTHERS = frozenset("mean sum median min amin nanmean nansum nanmedian nanmin".split())
#: Functions of all items that give none below 0.
_MAGNITUDES = frozenset("abs absolute fabs square".split())
_PLAIN = frozenset({"item", "float"})
_DRAWS = frozenset({"random.uniform", "numpy.random.uniform"})
_MAX_DEPTH = 12


def sign_of(number: int, frame: Frame, model: Model, depth: int = 0) -> Sign:
    """Whether an expression is one number, and is greater than 0."""
    known = number_of(number, frame, model)
    if known is not None:
        return "positive" if known > 0 else ""
    e = frame.code.exprs[number]
    if depth > _MAX_DEPTH:
        return ""
    if isinstance(e, ir.Bin) and e.op in ("+", "*", "/"):
        signs = {sign_of(one, frame, model, depth + 1) for one in (e.left, e.right)}
        return "" if "" in signs else "mostly" if "mostly" in signs else "positive"
    if not isinstance(e, ir.Call):
        return ""
    names = {atom.name for atom in model.ev.eval(e.func, frame).only(Lib)}
    if names == {"builtins.float"} and len(e.args) == 1:
        return sign_of(e.args[0].value, frame, model, depth + 1)
    if names and names <= _DRAWS:
        limits = [number_of(arg.value, frame, model) for arg in e.args]
        return "positive" if len(limits) == 2 and all(one is not None and one > 0 for one in limits) else ""
    return _of_statistic(number, e, frame, model, depth)


def _of_statistic(number: int, call: ir.Call, frame: Frame, model: Model, depth: int) -> Sign:
    word, data = applied(number, frame, model)
    func = frame.code.exprs[call.func]
    own = 0 if isinstance(func, ir.Attr) and func.base == data else 1
    if data == ir.NONE or len(call.args) != own:
        return ""  # `x.max(0)` may be an array
    if word in _PLAIN:
        return sign_of(data, frame, model, depth + 1)
    if word in _SPREADS:
        return "positive"
    if word in _GREATEST | _OTHERS and _has_none_below(data, frame, model):
        return "positive"
    return "mostly" if word in _GREATEST else ""


def _has_none_below(data: int, frame: Frame, model: Model) -> bool:
    """Whether no item of some data is below 0."""
    e = frame.code.exprs[data]
    if isinstance(e, ir.Bin) and e.op == "**":
        power = number_of(e.right, frame, model)
        return power is not None and power % 2 == 0
    if isinstance(e, ir.Call) and Lib("builtins.abs") in model.ev.eval(e.func, frame).atoms:
        return True
    return applied(data, frame, model)[0] in _MAGNITUDES
