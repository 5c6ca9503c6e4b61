"""Whether the items of a list are where they were written: not after `sorted(names)`, `names.insert(0, x)` or an
`append` in a branch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import SeqOf, Val, join

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Builtins that give the items in another order.
_REORDERING = frozenset({"sorted", "reversed"})
_MOVES = frozenset({"sort", "reverse", "insert", "pop", "remove", "clear"})
_ADDS = frozenset({"append", "extend"})
#: The items of longer lists keep their places: their joins would be large.
_MAX_MIXED = 12


def keeps_places(made: SeqOf) -> bool:
    """Whether an item of a list is where it was written. What other functions do to the list is not considered."""
    if made.site is None or made.kind == "tuple":
        return True
    code, number = made.site.frame.code, made.site.expr
    if _is_reordered(code, number):
        return False
    here = code.context_of(number)
    for _, step, _, name in code.method_calls(number):
        if name in _MOVES or (name in _ADDS and step.context != here):
            return False
    return not any(_shuffles(code, call) for _, call in code.calls_with(number))


def moves_items(text: str, name: str) -> bool:
    """Whether a text may move items of the list `name`."""
    return re.search(rf"\b{name}\.(?:{'|'.join(_MOVES)})\(|\bshuffle\(\s*{name}\b", text) is not None


def mixed(items: tuple[Val, ...]) -> tuple[Val, ...]:
    """As many items, each of which may be any of them."""
    return (join(items),) * len(items) if 1 < len(items) <= _MAX_MIXED else items


def sliced(ev: Evaluator, made: SeqOf, index: int, frame: Frame) -> tuple[Val, ...]:
    """The items of a list or tuple that a slice selects; where that is not known, as many, in any order."""
    e = ev.expr(frame, index)
    if not isinstance(e, ir.Slice) or not _is_display(made) or not keeps_places(made):
        return mixed(made.items)
    written = [number for number in (e.lower, e.upper, e.step) if number != NONE]
    known = {number: value for number in written if (value := _number(ev, number, frame)) is not None}
    if len(known) < len(written) or known.get(e.step) == 0:
        return mixed(made.items)
    return made.items[slice(known.get(e.lower), known.get(e.upper), known.get(e.step))] or made.items


def _number(ev: Evaluator, number: int, frame: Frame) -> int | None:
    literal = ev.eval(number, frame).literal
    return literal.value if literal is not None and isinstance(literal.value, int) else None


def _is_display(made: SeqOf) -> bool:
    """Whether all items of a list or tuple are written one by one where it is made: `[1, 2]`."""
    if made.site is None:
        return False
    exprs = made.site.frame.code.exprs
    e = exprs[made.site.expr]
    return isinstance(e, ir.Seq) and not any(isinstance(exprs[item], ir.Star) for item in e.items)


def _is_reordered(code: Code, number: int) -> bool:
    """Whether an expression gives the items of another list at other places."""
    e = code.exprs[number]
    func = code.exprs[e.func] if isinstance(e, ir.Call) else None
    return isinstance(func, ir.Global) and func.name in _REORDERING


def _shuffles(code: Code, call: ir.Call) -> bool:
    func = code.exprs[call.func]
    return isinstance(func, ir.Attr | ir.Global) and func.name == "shuffle"
