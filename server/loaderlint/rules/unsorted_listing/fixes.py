"""The fix: sort the listing, and those that are matched with it by position."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Intent, Wrap
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import Listing
from loaderlint.rules.unsorted_listing.listing_uses import ListingUse

#: Attributes of the entries of `os.scandir` that are text and have the order of the names.
_TEXTS = frozenset({"name", "path"})


def sorting_fixes(use: ListingUse, model: Model) -> tuple[Fix, ...]:
    """Sort the listing, and those that are taken by the same positions: all or none."""
    intents: dict[Intent, None] = {}
    for listing in (use.listing, *sorted(use.mates, key=lambda one: (one.frame.order, one.expr))):
        intent = _sorting(listing, model)
        if intent is None:
            return ()
        intents[intent] = None
    title = "Sort the listing" if len(intents) == 1 else "Sort the listings"
    return (Fix(title, "safe", tuple(intents)),)


def _sorting(listing: Listing, model: Model) -> Intent | None:
    """What sorts one listing; None if that takes more than a call of `sorted`."""
    if listing.how == "os.walk":
        return None
    place = model.place(listing.frame, listing.expr)
    if listing.how != "os.scandir":
        return Wrap(place, "sorted(", ")")
    managers = {step.manager for _, step in model.steps(listing.frame) if isinstance(step, ir.Enter)}
    if listing.expr in managers:
        return None
    names = _list_of_names(listing)
    if names is not None:
        return Wrap(model.place(listing.frame, names), "sorted(", ")")
    return Wrap(place, "sorted(", ", key=lambda entry: entry.name)")


def _list_of_names(listing: Listing) -> int | None:
    """The list comprehension that makes texts of the entries of a listing, which sort as the entries do."""
    exprs = listing.frame.code.exprs
    for number, one in enumerate(exprs):
        if isinstance(one, ir.Comp) and one.kind == "list" and one.iterables == (listing.expr,):
            element = _unsplit(one.element, exprs)
            if isinstance(element, ir.Attr) and element.name in _TEXTS:
                return number if exprs[element.base] == ir.Element(listing.expr) else None
    return None


def _unsplit(number: int, exprs: Sequence[ir.Expr]) -> ir.Expr:
    """The path in `path.split("/")[-1]`, which has the order of the names too; any other expression as it is."""
    one = exprs[number]
    if not isinstance(one, ir.Index) or exprs[one.index] != ir.Const("int", -1):
        return one
    call = exprs[one.base]
    func = exprs[call.func] if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name != "split":
        return one
    return exprs[func.base] if [exprs[arg.value] for arg in call.args] == [ir.Const("str", "/")] else one
