"""Pairs whose names code compares, so that none can be wrong: `assert image.stem == mask.stem`, for each sample or in a
loop over both sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import Listing, ListingOrder, Orders

#: Functions and methods that list names, or make other names, or parts of names, of them.
_OF_NAMES = frozenset(
    """
    basename dirname splitext split rsplit partition rpartition replace removesuffix removeprefix strip lstrip rstrip
    lower upper casefold join relpath relative_to with_suffix sub match search group findall str Path PurePath zip
    enumerate as_posix listdir glob iglob rglob iterdir sorted list
    """.split()
)
_COMPARING = frozenset({"==", "!=", "in", "not in"})


def are_checked(first: Orders, second: Orders, frames: Iterable[Frame], order: ListingOrder, model: Model) -> bool:
    """Whether one of these frames ends with an exception where two items do not belong together, of sequences that have
    these orders."""
    ours, theirs = ({one.listing for one in orders} for orders in (first, second))
    return any(
        _is_of(left, ours) and _is_of(right, theirs) or _is_of(left, theirs) and _is_of(right, ours)
        for frame in frames
        for left, right in _compared(frame, order, model)
    )


def _is_of(found: set[Listing], listings: set[Listing]) -> bool:
    return bool(found) and found <= listings


def _compared(frame: Frame, order: ListingOrder, model: Model) -> Iterator[tuple[set[Listing], set[Listing]]]:
    """The listings whose names a frame compares with each other before it raises, each pair of sides."""
    exprs = frame.code.exprs
    for test in _tests_that_raise(frame, model):
        for part, _ in ir.implied(exprs, test, True):
            e = exprs[part]
            if isinstance(e, ir.Compare) and len(e.ops) == 1 and e.ops[0] in _COMPARING:
                sides = (e.left, e.rights[0])
                if all(_is_name(side, exprs) for side in sides):
                    left, right = (set(_listings(side, frame, order, model)) for side in sides)
                    yield left, right


def _is_name(number: int, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether an expression only takes names apart: two images of one size may be of different samples."""
    waiting, seen = [number], {ir.NONE}
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        e = exprs[one]
        if isinstance(e, ir.Call) and called_name(exprs, e.func) not in _OF_NAMES:
            return False
        waiting += [e.base] if isinstance(e, ir.Index) else ir.operands(e)
    return True


def _tests_that_raise(frame: Frame, model: Model) -> Iterator[int]:
    """The tests that end a def with an exception for any of its samples: of assertions, and of `if` around `raise`."""
    one = model.def_of(frame)
    branching = {here.expr for here in one.contexts}
    for _, step in model.steps(frame):
        if isinstance(step, ir.Test) and step.expr not in branching and _is_always(step.context, one):
            yield step.expr
        elif isinstance(step, ir.Raise):
            here = one.contexts[step.context]
            if here.kind == "if" and not here.negated and _is_always(here.parent, one):
                yield here.expr


def _is_always(context: int, one: ir.DefIR) -> bool:
    """Whether only loops are around a context."""
    return all(here.kind in ("loop", "body") for here in one.around(context))


def _listings(number: int, frame: Frame, order: ListingOrder, model: Model) -> Iterator[Listing]:
    """The listings of which an expression is made of items. One at a constant position is only an example."""
    exprs = frame.code.exprs
    for part in ir.made_of(exprs, [number]):
        sequence = ir.NONE
        match exprs[part]:
            case ir.Index(base, index) if not isinstance(exprs[index], ir.Const | ir.Slice):
                sequence = base
            case ir.Unpack(value, index):
                sequence = _zipped(value, index, frame, model)
        if sequence != ir.NONE:
            yield from (one.listing for one in order.of(sequence, frame))


def _zipped(value: int, index: int, frame: Frame, model: Model) -> int:
    """The argument of `zip` that gives item `index` of each turn of a loop; else NONE."""
    pair = model.ev.expr(frame, value)
    call = model.ev.expr(frame, pair.iterable) if isinstance(pair, ir.Element) else None
    if not isinstance(call, ir.Call) or Lib("builtins.zip") not in model.ev.eval(call.func, frame).atoms:
        return ir.NONE
    return call.args[index].value if index < len(call.args) else ir.NONE
