"""The fix: sort the listing, and those that are matched with it by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Intent, Wrap
from loaderlint.knowledge.listings import LISTING_METHODS, LISTINGS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import are_apart, never_both
from loaderlint.rules.shared.listing_order import LOOPED_SET, Listing, listing_name
from loaderlint.rules.shared.looped_sets import items_from, looped_set
from loaderlint.rules.unsorted_listing.listed_again import (
    has_copy,
    is_only_one,
    is_sorted,
    listed_again,
    listed_by_others,
    sorts_sometimes,
)
from loaderlint.rules.unsorted_listing.listing_uses import ListingUse, Relies

#: Attributes of the entries of `os.scandir` that are text and have the order of the names.
_TEXTS = frozenset({"name", "path"})
#: Methods of lists that keep what they add in its order.
_KEEPS = frozenset({"append", "extend"})
#: What sorting a listing breaks, for the title of the fix.
_RELIES: Mapping[Relies, str] = MappingProxyType(
    {
        "models": " (trained models expect the old class numbers)",
        "rows": " (the rows that they are matched with have to be in the order of the names)",
    }
)
#: The calls that list a folder, by the last part of their names.
_LISTING = {name: name for name in LISTING_METHODS} | {name.rpartition(".")[2]: name for name in LISTINGS}


def sorting_fixes(use: ListingUse, model: Model) -> tuple[Fix, ...]:
    """Sort the listing, and those that are taken by the same positions, are gone through around it, are kept or number
    things beside it, or list the same folder again: all or none."""
    intents: dict[Intent, None] = {}
    ours = {use.listing, *use.mates}
    others = listed_by_others(ours, model) if use.splits else set()
    ours |= others
    ours |= {outer for one in ours for outer in _around(one, model)}
    ours |= {other for one in ours for other in _beside(one, model)}
    ours |= {other for one in ours for other in _instead(one, model)}
    ours |= _numbered_beside(ours, model)
    ours |= listed_again(ours, model)
    for listing in (use.listing, *sorted(ours - {use.listing}, key=_key)):
        intent = _sorting(listing, model)
        if intent is None:
            return ()
        intents[intent] = None
    title = "Sort the listing" if len(intents) == 1 else "Sort the listings"
    relies = {what for listing, what in use.relied if listing in ours}
    title += "".join(_RELIES[what] for what in sorted(relies))
    is_safe = (
        not relies
        and all(is_only_one(other, ours, model) for other in others)
        and not any(map(sorts_sometimes, ours))
        and not (use.splits and any(has_copy(one, model) for one in ours))
        and not _are_mixed(use.trained & ours, ours, model)
    )
    return (Fix(title, "safe" if is_safe else "unsafe", tuple(intents)),)


def _are_mixed(trained: Set[Listing], ours: Set[Listing], model: Model) -> bool:
    """Whether one of these listings holds all files of a sequence, and not those of one folder after another."""
    outer = {around for one in ours for around in _around(one, model)}
    return any(one not in outer and not _is_one_of_several(one, model) for one in trained)


def _is_one_of_several(listing: Listing, model: Model) -> bool:
    """Whether a listing is made in a loop, but not over what the code spells out: `for ext in ("jpg", "png")`."""
    frame = listing.frame
    around = model.def_of(frame).around(frame.code.context_of(listing.expr))
    return any(here.kind == "loop" and not isinstance(model.ev.expr(frame, here.expr), ir.Seq) for here in around)


def _around(listing: Listing, model: Model) -> Iterator[Listing]:
    """The listings that loops around this one go through: `for folder in os.listdir(root): os.listdir(folder)`, and the
    sets of texts."""
    frame = listing.frame
    for here in model.def_of(frame).around(frame.code.context_of(listing.expr)):
        number = items_from(here.expr, frame, model) if here.kind == "loop" else None
        if number is not None and looped_set(number, frame, model) is not None:
            yield Listing(frame, number, LOOPED_SET)
        call = model.ev.expr(frame, number) if number is not None else None
        if number is None or not isinstance(call, ir.Call) or is_sorted(number, frame):
            continue
        if name := listing_name(call, frame, model):
            yield Listing(frame, number, name)


def _beside(listing: Listing, model: Model) -> Iterator[Listing]:
    """The other listings whose order the same function keeps, if it sorts nothing: those in loops over this one, and
    those of other folders. Files of the latter may be matched by position with what another method lists: then they
    stay. Nothing is matched with a set, whose order is another one in each run."""
    frame = listing.frame
    file = model.files.file(frame.path)
    if listing.how == "set" or file is None or file.pieces[frame.piece].holds("sort"):
        return
    kept, is_alone = _kept(frame, model), _is_alone(listing, model)
    for call in model.frame_calls(frame):
        name = listing_name(call.call, frame, model) if call.number in kept else ""
        loops = [here.expr for here in model.def_of(frame).around(call.context) if name and here.kind == "loop"]
        if name and (is_alone or any(items_from(expr, frame, model) == listing.expr for expr in loops)):
            yield Listing(frame, call.number, name)


def _instead(listing: Listing, model: Model) -> Iterator[Listing]:
    """The listings that other branches of the same function store where this one is stored, also those that run for
    other arguments only."""
    frame, one = listing.frame, model.def_of(listing.frame)
    stored = [
        (step, items_from(step.value, frame, model)) for step in one.steps if isinstance(step, ir.Bind | ir.SetAttr)
    ]
    ours = [step for step, number in stored if number == listing.expr]
    for step, number in stored:
        call = model.ev.expr(frame, number) if any(_is_instead(step, our, frame, model) for our in ours) else None
        if isinstance(call, ir.Call) and (name := listing_name(call, frame, model)):
            yield Listing(frame, number, name)


def _is_instead(one: ir.Bind | ir.SetAttr, other: ir.Bind | ir.SetAttr, frame: Frame, model: Model) -> bool:
    """Whether a step stores something where another one does, and at most one of them runs."""
    bases = [ir.is_self(model.ev.expr(frame, step.base)) for step in (one, other) if isinstance(step, ir.SetAttr)]
    is_same = type(one) is type(other) and one.name == other.name and all(bases)
    apart = are_apart(one.context, other.context, frame, model)  # a name is read after both
    return is_same and (apart or never_both(one.value, other.value, frame, model))


def _is_alone(listing: Listing, model: Model) -> bool:
    """Whether no other method of the class, or function of the module, lists a folder."""
    file, home = model.files.file(listing.frame.path), _home(listing, model)
    if file is None:
        return False
    others = {piece for name in _LISTING for piece in file.all_asking(holds, f"{name}(")} - {listing.frame.piece}
    return all(model.ev.names.class_around(file, piece) != home for piece in others)


def _kept(frame: Frame, model: Model) -> frozenset[int]:
    """The expressions whose items the function keeps in their order: it adds them to a list, one by one or all, stores
    or returns them."""
    one = model.def_of(frame)
    adding = [call for call in model.frame_calls(frame) if _called(call.call, frame, model) in _KEEPS]
    contexts = [call.context for call in adding] + [step.context for _, step in model.steps_of(frame, ir.SetItem)]
    found = [here.expr for context in set(contexts) for here in one.around(context) if here.kind == "loop"]
    found += [arg.value for call in adding for arg in call.call.args]
    found += [step.value for _, step in model.steps(frame) if isinstance(step, ir.SetAttr | ir.Return)]
    for e in frame.code.exprs:
        match e:
            case ir.Bin("+" | "*", left, right) | ir.Augmented("+" | "*", left, right):
                found += (left, right)
    return frozenset(items_from(number, frame, model) for number in found)


def _called(call: ir.Call, frame: Frame, model: Model) -> str:
    """The name of the method that a call calls; '' if it calls none."""
    func = model.ev.expr(frame, call.func)
    return func.name if isinstance(func, ir.Attr) else ""


def _key(listing: Listing) -> tuple[str, int]:
    return listing.frame.order, listing.expr


def _numbered_beside(listings: Set[Listing], model: Model) -> set[Listing]:
    """The other listings by whose position the same class, or the functions of the same module, number something: the
    numbers agree while none is sorted, if they list the same folder."""
    found: set[Listing] = set()
    for path in {one.frame.path for one in listings}:
        numbered = list(_numbered_in(path, model))
        ours = {(one.frame.piece, one.expr) for one in listings if one.frame.path == path}
        homes = {_home(one, model) for one in numbered if (one.frame.piece, one.expr) in ours}
        beside = (one for one in numbered if (one.frame.piece, one.expr) not in ours)
        found.update(one for one in beside if _home(one, model) in homes)
    return found


def _home(listing: Listing, model: Model) -> int | None:
    """The class around a listing; None at module level."""
    file = model.files.file(listing.frame.path)
    return model.ev.names.class_around(file, listing.frame.piece) if file is not None else None


def _numbered_in(path: Path, model: Model) -> Iterator[Listing]:
    """The listings of a file that stand in `enumerate(...)`."""
    file = model.files.file(path)
    for piece in file.all_asking(holds, "enumerate(") if file is not None else ():
        body = model.ev.body(path, piece)
        exprs = body.code.exprs
        for e in exprs:
            if isinstance(e, ir.Call) and e.args and exprs[e.func] == ir.Global("enumerate"):
                listed = exprs[e.args[0].value]
                func = exprs[listed.func] if isinstance(listed, ir.Call) else None
                if isinstance(func, ir.Attr | ir.Global) and func.name in _LISTING:
                    yield Listing(body, e.args[0].value, _LISTING[func.name])


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
