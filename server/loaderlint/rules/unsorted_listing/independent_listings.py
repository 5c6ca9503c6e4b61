"""Two listings from which a sample takes items by one position, and which are no pairs nevertheless.

Parallel listings have one length and one order. Code that takes the smaller or the larger of their lengths, or shuffles
only one of them, says that they are independent."""

from __future__ import annotations

from collections.abc import Iterable

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import ListingOrder, Orders

_MAX_DEPTH = 8
_EXTREMES = frozenset(map(Lib, "builtins.min builtins.max numpy.minimum numpy.maximum numpy.min numpy.max".split()))
_LENGTH = frozenset({Lib("builtins.len")})
_LESS = frozenset({("<",), (">",), ("<=",), (">=",)})


def are_independent(one: Orders, other: Orders, inst: Instance, making: Iterable[Frame], model: Model) -> bool:
    """Whether two sequences of a dataset are no pairs. `making`: the frames that make the dataset."""
    return _is_one_drawn(one, other) or _Lengths(inst, making, model).are_compared(one, other)


def _is_one_drawn(one: Orders, other: Orders) -> bool:
    """Whether a seed shuffles only one of two sequences."""
    return any(order.drawn for order in one) != any(order.drawn for order in other)


class _Lengths:
    """What the code of a dataset takes as its length, and as the limits of its sequences."""

    def __init__(self, inst: Instance, making: Iterable[Frame], model: Model) -> None:
        self._model = model
        self._order = ListingOrder(model)
        self._asked = [found for found in self._lengths_given(inst) if found[0] != NONE]
        self._asked += [(number, frame) for frame in making for number in self._limits(frame)]

    def are_compared(self, one: Orders, other: Orders) -> bool:
        """Whether `__len__` returns, or the construction cuts a sequence to, the smaller or larger of their lengths."""
        return any(self._picks(number, frame, (one, other), 0) for number, frame in self._asked)

    def _lengths_given(self, inst: Instance) -> list[tuple[int, Frame]]:
        frame = self._model.ev.classes.open_method(inst, "__len__")
        return [(step.value, frame) for _, step in self._model.steps_of(frame, ir.Return)] if frame is not None else []

    def _limits(self, frame: Frame) -> list[int]:
        """The upper limits of the slices that a def takes."""
        exprs = frame.code.exprs
        slices = (exprs[number] for number in sorted(self._model.ev.evaluated(frame)))
        return [e.upper for e in slices if isinstance(e, ir.Slice) and e.upper != NONE]

    def _picks(self, number: int, frame: Frame, pair: tuple[Orders, Orders], depth: int) -> bool:
        """Whether an expression is the smaller or larger one of the lengths of both sequences."""
        if depth > _MAX_DEPTH:
            return False
        match self._model.ev.expr(frame, number):
            case ir.Attr(base, name):
                stored = self._stored(base, name, frame)
                return any(self._picks(value, maker, pair, depth + 1) for value, maker in stored)
            case ir.Bin(_, left, right):
                return any(self._picks(side, frame, pair, depth + 1) for side in (left, right))
            case ir.IfExp(test, then, other) if self._compares(test, frame):
                return self._measure((then, other), frame, pair)
            case ir.Phi(choices):
                return self._measure(choices, frame, pair)
            case ir.Call(func, args):
                given = [arg.value for arg in args]
                if self._model.ev.eval(func, frame).atoms & _EXTREMES:
                    return self._measure(self._items(given, frame), frame, pair)
                return any(self._picks(one, frame, pair, depth + 1) for one in given)
        return False

    def _compares(self, test: int, frame: Frame) -> bool:
        e = self._model.ev.expr(frame, test)
        return isinstance(e, ir.Compare) and e.ops in _LESS

    def _items(self, given: list[int], frame: Frame) -> list[int]:
        """The arguments of `min`, or the items of its only one: `min([len(a), len(b)])`, `min(map(len, (a, b)))`."""
        if len(given) != 1:
            return given
        match self._model.ev.expr(frame, given[0]):
            case ir.Seq(_, items):
                return list(items)
            case ir.Call(_, (_, argument)):
                e = self._model.ev.expr(frame, argument.value)
                return list(e.items) if isinstance(e, ir.Seq) else []
            case ir.Comp(_, _, _, (iterable,)):
                e = self._model.ev.expr(frame, iterable)
                return list(e.items) if isinstance(e, ir.Seq) else []
        return []

    def _measure(self, numbers: Iterable[int], frame: Frame, pair: tuple[Orders, Orders]) -> bool:
        """Whether the expressions are, or are lengths of, both sequences."""
        found = [self._measured(number, frame, 0) for number in numbers]
        return all(any(_share(orders, mine) for orders in found) for mine in pair)

    def _measured(self, number: int, frame: Frame, depth: int) -> Orders:
        """The order of the sequence whose length an expression is, or of the expression itself."""
        e = self._model.ev.expr(frame, number)
        if isinstance(e, ir.Call) and len(e.args) == 1 and self._model.ev.eval(e.func, frame).atoms == _LENGTH:
            return self._order.of(e.args[0].value, frame)
        if isinstance(e, ir.Attr) and depth < _MAX_DEPTH:
            stored = self._stored(e.base, e.name, frame)
            lengths = [order for value, maker in stored for order in self._measured(value, maker, depth + 1)]
            if lengths:
                return frozenset(lengths)
        return self._order.of(number, frame)

    def _stored(self, base: int, name: str, frame: Frame) -> list[tuple[int, Frame]]:
        """What is assigned to an attribute, each with its frame."""
        found = []
        for owner in self._model.ev.eval(base, frame).only(Instance):
            for store in self._model.ev.classes.stores(owner, name):
                step = self._model.def_of(store.frame).steps[store.step]
                found += [(step.value, store.frame)] if isinstance(step, ir.SetAttr) else []
        return found


def _share(orders: Orders, others: Orders) -> bool:
    return any(one.listing.is_same(other.listing) for one in orders for other in others)
