"""The order of a sequence that comes from a folder listing, and what is left of it after a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.listings import LISTING_METHODS, LISTINGS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibMember, Unknown
from loaderlint.project.reach.model import Model

#: The listing was not reached through the call of a helper.
_DIRECT = ("", 0)
LOOPED_SET = "loop over a set"


class Listing(Struct, frozen=True):
    """The call `expr` of `frame` that lists a folder, with the name `how`; `via` distinguishes two calls of one helper.
    A set of names is a listing too, called `set`: its order differs in each run. So does that of a set that a loop
    around a listing goes through, called `LOOPED_SET`."""

    frame: Frame
    expr: int
    how: str
    via: tuple[str, int] = _DIRECT

    def is_same(self, other: Listing) -> bool:
        """Whether both are one call. What a helper itself keeps of the listing that it returns is not told apart by
        the call of the helper."""
        if self.how == LOOPED_SET:
            return False  # it orders groups of names, in both alike
        same_call = (self.frame, self.expr) == (other.frame, other.expr)
        return same_call and (self.via == other.via or _DIRECT in (self.via, other.via))

    def is_made_in(self, frame: Frame) -> bool:
        """Whether a frame lists the folder, itself or by a helper that it calls."""
        return self.frame is frame if self.via == _DIRECT else self.via[0] == frame.order


class Order(Struct, frozen=True):
    """The order of a sequence: that of `listing`, unless it is `sorted`. `cut`: a part was taken by position before it
    was sorted. `capped`: the same, where only a sequence beyond some length is cut. `drawn`: a generator with a seed
    has changed the order, the same way each time."""

    listing: Listing
    sorted: bool = False
    cut: bool = False
    capped: bool = False
    drawn: bool = False


Orders = frozenset[Order]
NO_ORDERS: Orders = frozenset()


def union(parts: Iterable[Orders]) -> Orders:
    """All orders of several sequences."""
    return frozenset(order for orders in parts for order in orders)


def agreed(parts: Sequence[Orders]) -> Orders:
    """The orders of what several calls pass; empty if one of them passes something else, or only some sort it."""
    are_sorted = {all(order.sorted for order in orders) for orders in parts}
    return union(parts) if all(parts) and len(are_sorted) == 1 else NO_ORDERS


def by_call(frame: Frame, call: int, target: Frame, orders: Iterable[Order]) -> Orders:
    """Orders of the result of a helper's call, which runs `target`: another call lists something else. A listing that
    the helper finds elsewhere, in an attribute or an argument, stays the same."""
    via = (frame.order, call)
    return frozenset(
        replace(order, listing=replace(order.listing, via=via)) if order.listing.is_made_in(target) else order
        for order in orders
    )


def as_capped(orders: Orders) -> Orders:
    """The orders of a part of a sequence that is all of it unless it is longer than some limit."""
    return frozenset(replace(order, capped=order.capped or not order.sorted) for order in orders)


def as_cut(orders: Orders) -> Orders:
    """The orders of a part by position."""
    return frozenset(replace(order, cut=order.cut or not order.sorted) for order in orders)


def as_drawn(orders: Orders) -> Orders:
    """The orders after a generator with a seed has changed them."""
    return frozenset(replace(order, drawn=True) for order in orders)


def as_sorted(orders: Orders) -> Orders:
    """The orders after sorting, which does not change which items there are."""
    return frozenset(replace(order, sorted=True) for order in orders)


def listing_name(call: ir.Call, frame: Frame, model: Model) -> str:
    """'os.listdir', 'glob.glob', 'Path.iterdir', ...; '' for other calls."""
    callee = model.ev.eval(call.func, frame)
    for atom in callee.atoms:
        if isinstance(atom, Lib) and atom.name in LISTINGS:
            return atom.name
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and func.name in LISTING_METHODS:
        if callee.atoms and all(isinstance(a, LibMember | Unknown) for a in callee.atoms):
            return f"Path.{func.name}"
    return ""


__all__ = [
    "LOOPED_SET",
    "NO_ORDERS",
    "Listing",
    "Order",
    "Orders",
    "agreed",
    "as_capped",
    "as_cut",
    "as_drawn",
    "as_sorted",
    "by_call",
    "listing_name",
    "union",
]
