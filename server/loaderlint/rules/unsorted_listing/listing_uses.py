"""What the order of a listing decides in the samples of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.findings.finding import Severity
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import (
    LOOPED_SET,
    Listing,
    ListingOrder,
    Order,
    Orders,
)
from loaderlint.rules.shared.seeded_draws import draws_with_seed
from loaderlint.rules.unsorted_listing.checked_pairs import are_checked
from loaderlint.rules.unsorted_listing.class_numbers import numbered, numbered_in_sample
from loaderlint.rules.unsorted_listing.file_rows import read_by
from loaderlint.rules.unsorted_listing.independent_listings import are_independent
from loaderlint.rules.unsorted_listing.indexed_pairs import indexed_pairs
from loaderlint.rules.unsorted_listing.positional_items import Taken, rows_beside
from loaderlint.rules.unsorted_listing.same_folders import names_files_of_same_folders
from loaderlint.rules.unsorted_listing.seeded_splits import split_of

_MAX_FRAMES = 200
_UNPAIRED = ("unpaired", "unaligned")
_TWO = "the files of two listings"
NO_ORDER = "the samples of {} have no fixed order:"
_SPLIT = {
    "seed": "{} may get other samples: a seed decides which positions each split gets, and",
    "place": "{} may get other samples: the dataset is split by position, and",
}
_PICKING = frozenset("choice choices sample permutation permuted shuffle".split())


#: What relies on the order of a listing as it is: models that are trained on the numbers of the classes, or the rows of
#: another file.
Relies = Literal["models", "rows"]


class ListingUse(Struct, frozen=True):
    """How bad it is that a listing's order decides `what` (with {} for the loader). `mates`: the other listings that
    have no order either, and are in the same sequence or taken by the same positions. Sorting only some of them would
    leave the sequence without an order, or mispair files that happened to match. `splits`: it decides which of several
    datasets gets a file. `relies`: what relies on the order as it is. `relied`: all listings of the dataset on whose
    order something relies, and what does. `trained`: the listings in whose order a loader trains on the samples."""

    listing: Listing
    severity: Severity
    what: str
    mates: frozenset[Listing] = frozenset()
    splits: bool = False
    relies: Relies | None = None
    relied: frozenset[tuple[Listing, Relies]] = frozenset()
    trained: frozenset[Listing] = frozenset()


def uses_in_construction(taken: Sequence[Taken], entry: Frame, inst: Instance, model: Model) -> Iterator[ListingUse]:
    """What the order of listings decides while a dataset is made."""
    making = _making(inst, model)
    for one, other in combinations(taken, 2):
        if not one.is_paired(other, entry, model) or _says_unpaired(inst, (*one.orders, *other.orders), model):
            continue
        checking = (*model.run_by([entry]), *making)
        if are_checked(one.orders, other.orders, checking, ListingOrder(model), model):
            continue
        if not are_independent(one.orders, other.orders, inst, making, model):
            named = one.name and other.name
            what = f"`{one.name}` and `{other.name}`" if named else _TWO
            yield from _mismatch(one.orders, other.orders, what, model)
    for maker in making:
        yield from model.remembered(_uses_in, maker)
    for one in taken:
        name = f"`{one.name}`" if one.name else "a listing"
        for each in one.orders:
            if each.cut:
                drawn = f"a seed decides which positions of {name} each split gets"
                what = f"{{}} may get other samples: {drawn if each.drawn else f'{name} is split by position'}, and"
                yield ListingUse(each.listing, Severity.WARNING, what, splits=True)
            elif each.capped:
                what = f"{{}} may get other samples if there are more files than {name} takes:"
                yield ListingUse(each.listing, Severity.HINT, what, splits=True)
    for one in taken:
        for name, reader in rows_beside(one, entry, inst, model):
            yield from _beside_rows(one.orders, f"`{one.name}`" if one.name else "a listing", f"`{name}`", reader)
    split = split_of(inst, model) if taken else ""
    for one in taken:
        unsorted = [each.listing for each in stable(one.orders) if not each.sorted]
        if split:
            yield from (ListingUse(listing, Severity.WARNING, _SPLIT[split], splits=True) for listing in unsorted)
        for listing in unsorted:
            yield ListingUse(listing, Severity.HINT, NO_ORDER, _beside(listing, unsorted))
    for one, other in combinations(taken, 2):
        if one.is_paired(other, entry, model):
            yield from _apart(one.orders, other.orders)


def _beside_rows(orders: Orders, listed: str, rows: str, reader: str) -> Iterator[ListingUse]:
    """The listings of a sequence that is matched by position with the rows of a file."""
    read = f"{rows}, which `{reader.removeprefix('builtins.')}` reads"
    what = f"samples of {{}} may be paired wrongly: {listed} is matched by position with {read}, and"
    for each in stable(orders):
        if not each.sorted:
            yield ListingUse(each.listing, Severity.WARNING, what, relies="rows")


def _beside(one: Listing, listings: Sequence[Listing]) -> frozenset[Listing]:
    """The other listings of a sequence that the same def makes: `glob(train) + glob(val)`. Sorting only one of them
    leaves the sequence without an order."""
    return frozenset(other for other in listings if other is not one and other.frame == one.frame)


def _apart(first: Orders, second: Orders) -> Iterator[ListingUse]:
    """The listings that only one of two paired sequences has, where they share others: the names of `left` and `right`
    in the folders of one listing. They are no fault of their own, but are sorted together."""
    mine, yours = _only_in(first, second), _only_in(second, first)
    unsorted = [each.listing for each in (*mine, *yours) if not each.sorted]
    if mine and yours and len(mine) < len(first):
        for each in unsorted:
            yield ListingUse(each, Severity.HINT, NO_ORDER, frozenset(unsorted) - {each})


def _only_in(first: Orders, second: Orders) -> list[Order]:
    return [one for one in stable(first) if not any(one.listing.is_same(other.listing) for other in second)]


def _says_unpaired(inst: Instance, orders: Iterable[Order], model: Model) -> bool:
    """Whether the name of the dataset, or of the function that lists its files, says that they are not pairs."""
    facts = model.ev.facts(inst.cls.path, inst.cls.piece)
    names = {model.def_of(order.listing.frame).name for order in orders}
    names |= {facts.ir.defs[inst.cls.def_].name} if facts else set()
    return any(word in name.lower() for name in names for word in _UNPAIRED)


def gravest(uses: Iterable[ListingUse]) -> list[ListingUse]:
    """The first use of each listing that is more than a hint, or else the first, with all that must be sorted with
    it."""
    first: dict[Listing, ListingUse] = {}
    mates: dict[Listing, set[Listing]] = {}
    splitting: set[Listing] = set()
    relied: set[tuple[Listing, Relies]] = set()
    for use in uses:
        known = first.setdefault(use.listing, use)
        if known.severity == Severity.HINT != use.severity:
            first[use.listing] = use
        mates.setdefault(use.listing, set()).update(use.mates)
        splitting |= {use.listing} if use.splits else set()
        relied |= {(use.listing, use.relies)} if use.relies is not None else set()
    linked = {listing: frozenset(_linked(listing, mates)) for listing in first}
    return [
        replace(
            use,
            mates=linked[one] - {one},
            splits=bool(splitting & linked[one]),
            relied=frozenset(relied),
        )
        for one, use in first.items()
    ]


def _linked(listing: Listing, mates: Mapping[Listing, set[Listing]]) -> set[Listing]:
    """A listing with its mates, and theirs."""
    found, queue = {listing}, [listing]
    while queue:
        new = mates.get(queue.pop(), set()) - found
        found |= new
        queue.extend(new)
    return found


def sampled_with_seed(entry: Frame, model: Model) -> Iterator[ListingUse]:
    """What a sample draws from a listing by a generator with a seed, which gives the same only where the listing
    does."""
    order = ListingOrder(model)
    for frame in model.run_by([entry]):
        for call in model.calls_named(frame, _PICKING):
            if not call.call.args or not draws_with_seed(call.call, frame, model):
                continue
            for each in stable(order.of(call.call.args[0].value, frame)):
                if not each.sorted:
                    what = "a sample of {} may draw other files despite the seed:"
                    yield ListingUse(each.listing, Severity.WARNING, what)


def _mismatch(first: Orders, second: Orders, what: str, model: Model) -> Iterator[ListingUse]:
    """Two sequences that are taken apart by one position, in the order of two listings. A loop over a set around both
    orders their parts alike."""
    first, second = (frozenset(o for o in each if o.listing.how != LOOPED_SET) for each in (first, second))
    if any(one.listing.is_same(other.listing) for one in first for other in second):
        return
    unsorted = [each.listing for each in (*stable(first), *stable(second)) if not each.sorted]
    together = any(_have_one_order(one, other, model) for one in first for other in second)
    for each in unsorted:
        mates = frozenset(unsorted) - {each}
        if together:
            yield ListingUse(each, Severity.HINT, NO_ORDER, mates)
        else:
            paired = f"samples of {{}} may be paired wrongly: {what} are matched by position, and"
            yield ListingUse(each, Severity.WARNING, paired, mates)


def _have_one_order(one: Order, other: Order, model: Model) -> bool:
    """Whether two listings that nobody sorts have one order nevertheless."""
    return not one.sorted and not other.sorted and names_files_of_same_folders(one.listing, other.listing, model)


def stable(orders: Orders) -> list[Order]:
    return sorted(orders, key=lambda o: (o.listing.frame.order, o.listing.expr))


def _making(inst: Instance, model: Model) -> tuple[Frame, ...]:
    """The frames that make a dataset: its construction with all that it calls, and where it is made."""
    frames = model.run_by(model.ev.classes.construction(inst))[:_MAX_FRAMES]
    return frames if inst.site is None else (*frames, inst.site.frame)


def _zipped(frame: Frame, order: ListingOrder, model: Model) -> Iterator[ListingUse]:
    for call in model.calls_named(frame, ("zip",)):
        if Lib("builtins.zip") not in call.callee.atoms:
            continue
        orders = [order.of(arg.value, frame) for arg in call.call.args]
        for first, second in combinations([each for each in orders if each], 2):
            if not are_checked(first, second, (frame,), order, model):
                yield from _mismatch(first, second, _TWO, model)
        readers = [
            read_by(arg.value, frame, model) for arg, found in zip(call.call.args, orders, strict=True) if not found
        ]
        for reader in filter(None, readers if any(orders) else ()):
            for found in orders:
                yield from _beside_rows(found, "a listing", "the rows of a file", reader)


def _indexed(frame: Frame, order: ListingOrder, model: Model) -> Iterator[ListingUse]:
    """Pairs that a loop makes by position: `(images[i], masks[i])`."""
    for pair in indexed_pairs(frame, model):
        first, second = order.of(pair.first, frame), order.of(pair.second, frame)
        if first and second and not are_checked(first, second, (frame,), order, model):
            yield from _mismatch(first, second, _TWO, model)


def _uses_in(maker: Frame, model: Model) -> tuple[ListingUse, ...]:
    """What a def that makes datasets lets the order decide: it may make thousands of them."""
    order = ListingOrder(model)
    return (*_zipped(maker, order, model), *_indexed(maker, order, model), *_numbered(maker, order, model))


def _numbered(frame: Frame, order: ListingOrder, model: Model) -> Iterator[ListingUse]:
    """Class numbers: `{name: number for number, name in enumerate(names)}`, `names.index(name)`, a counted folder."""
    for number in numbered(frame, order, model):
        yield from _class_numbers(number, frame, order)


def numbered_by_sample(entry: Frame, model: Model) -> Iterator[ListingUse]:
    """Class numbers that a sample finds: `self.classes.index(name)`."""
    order = ListingOrder(model)
    for frame in model.run_by([entry]):
        for number in numbered_in_sample(frame, order, model) if frame.receiver == entry.receiver else ():
            yield from _class_numbers(number, frame, order)


def _class_numbers(number: int, frame: Frame, order: ListingOrder) -> Iterator[ListingUse]:
    for each in stable(order.of(number, frame)):
        if not each.sorted:
            yield ListingUse(each.listing, Severity.WARNING, "a class of {} may get another number:", relies="models")
