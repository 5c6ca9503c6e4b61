"""
# unsorted-listing (LDR503)

## What it does
Finds datasets whose order is that of an unsorted listing of a folder: `os.listdir`, `os.scandir`, `os.walk`,
`glob.glob`, `glob.iglob`, and `iterdir`, `glob` and `rglob` of paths.

## Why is this bad?
They give the names in the file system's order, which is neither that of the names nor that in which the files were
made. On ext4 it depends on hashes of the names: measured with 12 images `0.img` to `11.img` and 12 masks `0.msk` to
`11.msk`, none of the 12 pairs by position was right.

- Two listings paired by position (images and masks): samples with another's label. Nothing is said.
- A part by position (`names[:800]`): on another machine, or after a copy, training has seen what is validated on.
- A listing whose position becomes the class label: a saved model's classes are others on another machine.
- A set of names gives them in another order in each run, sorted before or not: training has seen what is validated on.
- One listing as the order of the samples is a hint: results differ between machines with the same seed.

## When it is not a bug
- The listing is sorted before or after, with any key, or shuffled without a seed. (A seed gives the same order only
  where the listing does.)
- Its names are looked up, counted, put into a set that is only asked, or kept in a dict by name.
- The second path is made from the first one's name.

## Example
```python
class Pairs(Dataset):
    def __init__(self, images, masks):
        self.images = glob.glob(f"{images}/*.jpg")
        self.masks = glob.glob(f"{masks}/*.png")

    def __getitem__(self, index):
        return load(self.images[index]), load(self.masks[index])
```

## Fixed
```python
class Pairs(Dataset):
    def __init__(self, images, masks):
        self.images = sorted(glob.glob(f"{images}/*.jpg"))
        self.masks = sorted(glob.glob(f"{masks}/*.png"))

    def __getitem__(self, index):
        return load(self.images[index]), load(self.masks[index])
```

## Fix safety
Safe: the same names in the order of the names. A model that was trained with class numbers from an unsorted listing
expects the order of the machine it was trained on: it has the fault already.

No fix for `os.walk`, whose folders and files both need sorting, and for `with os.scandir(...)`.

## References
- [os.listdir](https://docs.python.org/3/library/os.html#os.listdir): 'The list is in arbitrary order'
- [glob](https://docs.python.org/3/library/glob.html): whether results are sorted 'depends on the file system'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Finding, Fix, Place, Severity, Silence, Wrap
from loaderlint.project.evaluation.frames import Frame, step_expressions
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.listing_order import Listing, ListingOrder, Order, Orders, draws_with_seed
from loaderlint.rules.shared.silence_reasons import too_unsure
from loaderlint.rules.shared.wording import loaders_of

_MAX_FRAMES = 200
_PICKING = frozenset("choice choices sample permutation permuted shuffle".split())
#: An index that a helper is given: whatever its caller computed.
_ANY = "any"


@dataclass(frozen=True, slots=True)
class _Use:
    """How bad it is that a listing's order decides `what` (with {} for the loader)."""

    listing: Listing
    severity: Severity
    what: str


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a listing whose order a map-style dataset's samples have."""
    for frame in function.frames:
        receiver = frame.receiver
        if model.def_of(frame).name not in ("__getitem__", "__getitems__") or not isinstance(receiver, Instance):
            continue
        exposure = model.exposure(frame, 0, parts=("sample",))
        if exposure is None or model.dataset_kind(receiver.cls) == "iterable":
            continue
        taken = _taken(frame, receiver, ListingOrder(model), model)
        for place in _sorted(taken, model):
            yield Silence(RULE.name, place, "it is sorted before its order matters")
        uses: dict[tuple[Frame, int], _Use] = {}
        for use in (*_sampled(frame, model), *_uses(taken, receiver, model)):
            uses.setdefault((use.listing.frame, use.listing.expr), use)  # the gravest come first
        for use in uses.values():
            yield from _finding(use, frame, exposure, model)


def _finding(use: _Use, frame: Frame, exposure: Exposure, model: Model) -> Iterator[Finding | Silence]:
    severity = loudness(use.severity, exposure.certainty)
    if severity is None and _is_choice(exposure.lead):
        severity = Severity.HINT  # the branch that makes this dataset is in sight: it is taken some time
    if severity is None:
        place = model.place(use.listing.frame, use.listing.expr)
        yield Silence(RULE.name, place, too_unsure(exposure.certainty))
        return
    where = loaders_of(exposure)
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{use.what.format(where)} {_cause(use.listing)}; sort them",
        model.place(use.listing.frame, use.listing.expr),
        use.listing.how,
        model.why(frame, exposure),
        _fixes(use.listing, model),
    )


def _is_choice(loader: Loader) -> bool:
    """Whether the loader holds one of several datasets, all of which are in sight."""
    return bool(loader.guessed) and not loader.late


def _cause(listing: Listing) -> str:
    if listing.how == "set":
        return "a set gives names in another order in each run"
    return f"`{listing.how}` lists files in the file system's order, not in that of their names"


# --- what the order decides -------------------------------------------------------------------------------------------


def _uses(taken: dict[tuple[str, str], Orders], inst: Instance, model: Model) -> Iterator[_Use]:
    made = _making(inst, model)
    for (one, shape), (other, other_shape) in combinations(taken, 2):
        if one != other and (shape == other_shape or _ANY in (shape, other_shape)):
            yield from _mismatch(taken[one, shape], taken[other, other_shape], f"`self.{one}` and `self.{other}`")
    for maker in made:
        yield from model.remembered(_uses_in, maker)
    for (name, _), orders in taken.items():
        for each in orders:
            if each.cut:
                what = f"which samples {{}} has is chance: `self.{name}` is a part by position, and"
                yield _Use(each.listing, Severity.WARNING, what)
    for orders in taken.values():
        for each in orders:
            if not each.sorted:
                yield _Use(each.listing, Severity.HINT, "the order of the samples of {} is chance:")


def _sampled(entry: Frame, model: Model) -> Iterator[_Use]:
    """What a sample draws from a listing by a generator with a seed, which gives the same only where the listing
    does."""
    order = ListingOrder(model)
    for frame in model.run_by([entry]):
        for call in model.calls_named(frame, _PICKING):
            if not call.call.args or not draws_with_seed(call.call, frame, model):
                continue
            for each in _stable(order.of(call.call.args[0].value, frame)):
                if not each.sorted:
                    what = "which files a sample of {} draws is chance, in spite of the seed:"
                    yield _Use(each.listing, Severity.WARNING, what)


def _sorted(taken: dict[tuple[str, str], Orders], model: Model) -> list[Place]:
    """The listings that samples are taken from by position, and that are sorted."""
    found = (one.listing for orders in taken.values() for one in orders if one.sorted)
    return list(dict.fromkeys(model.place(listing.frame, listing.expr) for listing in found))


def _taken(entry: Frame, inst: Instance, order: ListingOrder, model: Model) -> dict[tuple[str, str], Orders]:
    """The attributes of the dataset from which a sample takes the item at some index, by name and index, with the
    orders of their items."""
    found: dict[tuple[str, str], Orders] = {}
    for frame in model.run_by([entry]):
        if frame.receiver != inst:
            continue
        exprs = frame.code.exprs
        for number in sorted(n for n in frame.memo if type(exprs[n]) is ir.Index):
            e = exprs[number]
            base = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
            if not isinstance(e, ir.Index) or base is None or not _is_from_parameter(e.index, frame, model, 0):
                continue
            name = _kept_as(base, frame, model)
            if not name:
                continue
            orders = order.of(e.base, frame)
            if orders:
                helped = frame is not entry and isinstance(model.ev.expr(frame, e.index), ir.Param)
                found[name, _ANY if helped else _shape(e.index, frame, model, 0)] = orders
    return found


def _kept_as(e: ir.Expr, frame: Frame, model: Model) -> str:
    """How a dataset has a sequence, as written after `self.`: `images`, `files["train"]`, `files[...]`; else ''."""
    if isinstance(e, ir.Attr):
        return e.name if ir.is_self(model.ev.expr(frame, e.base)) else ""
    kept = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
    if not isinstance(e, ir.Index) or not isinstance(kept, ir.Attr):
        return ""
    key, name = model.ev.expr(frame, e.index), _kept_as(kept, frame, model)
    written = f'"{key.value}"' if isinstance(key, ir.Const) and key.kind == "str" else "..."
    return f"{name}[{written}]" if name else ""


def _mismatch(first: Orders, second: Orders, what: str) -> Iterator[_Use]:
    """Two sequences that are taken apart by one position, in the order of two listings."""
    if {o.listing for o in first} & {o.listing for o in second}:
        return
    for each in (*_stable(first), *_stable(second)):
        if not each.sorted:
            yield _Use(
                each.listing, Severity.WARNING, f"samples of {{}} are paired wrongly: {what} go by position, and"
            )


def _stable(orders: Orders) -> list[Order]:
    return sorted(orders, key=lambda o: (o.listing.frame.order, o.listing.expr))


def _making(inst: Instance, model: Model) -> tuple[Frame, ...]:
    """The frames that make a dataset: its construction with all that it calls, and where it is made."""
    frames = model.run_by(model.ev.classes.construction(inst))[:_MAX_FRAMES]
    return frames if inst.site is None else (*frames, inst.site.frame)


def _zipped(frame: Frame, order: ListingOrder, model: Model) -> Iterator[_Use]:
    for call in model.calls_named(frame, ("zip",)):
        if Lib("builtins.zip") not in call.callee.atoms:
            continue
        orders = [order.of(arg.value, frame) for arg in call.call.args]
        for first, second in combinations([each for each in orders if each], 2):
            yield from _mismatch(first, second, "the files of two listings")


def _uses_in(maker: Frame, model: Model) -> tuple[_Use, ...]:
    """What a def that makes datasets lets the order decide: it may make thousands of them."""
    order = ListingOrder(model)
    return (*_zipped(maker, order, model), *_numbered(maker, order, model))


def _numbered(frame: Frame, order: ListingOrder, model: Model) -> Iterator[_Use]:
    """Class numbers: `{name: number for number, name in enumerate(names)}`, `names.index(name)`, a counted folder."""
    for number in _label_sources(frame, model):
        for each in _stable(order.of(number, frame)):
            if not each.sorted:
                yield _Use(each.listing, Severity.WARNING, "which number a class of {} has is chance:")


def _dict_comprehensions(path: Path, piece: int, model: Model) -> list[tuple[int, ir.Comp]]:
    """The dictionaries that comprehensions make in a piece: it may hold thousands of functions."""
    facts = model.ev.facts(path, piece)
    exprs = facts.ir.exprs if facts else ()
    return [(number, e) for number, e in enumerate(exprs) if isinstance(e, ir.Comp) and e.kind == "dict"]


def _label_sources(frame: Frame, model: Model) -> Iterator[int]:
    """The sequences by whose position something is numbered."""
    dicts = model.remembered(_dict_comprehensions, frame.path, frame.piece)
    written = {n for _, step in model.steps(frame) for n in step_expressions(step)} if dicts else set()
    for number, e in dicts:
        if number in written or number in frame.memo:
            yield _enumerated(e.element, frame, model)
    for _, step in model.steps_of(frame, ir.SetItem):
        yield _enumerated(step.value, frame, model)
    yield from _counted(frame, model)
    contexts = model.def_of(frame).contexts
    for perform, base in frame.code.attribute_calls({"index"}):
        call = model.ev.expr(frame, perform.call)
        if isinstance(call, ir.Call) and len(call.args) == 1:
            yield base
    for perform, _ in frame.code.attribute_calls({"append"}):
        call = model.ev.expr(frame, perform.call)
        if not isinstance(call, ir.Call) or not call.args or len(_loops(perform.context, contexts)) < 2:
            continue
        for part in _items(call.args[0].value, frame, model):
            if (source := _enumerated(part, frame, model)) != NONE:
                yield source


def _counted(frame: Frame, model: Model) -> Iterator[int]:
    """What loops go over that count their turns, `number += 1`, and give the files of each turn its number."""
    one, exprs = model.def_of(frame), model.facts(frame).ir.exprs
    for _, step in model.steps_of(frame, ir.Bind):
        counter = _counter(exprs[step.value], exprs) if step.value != NONE else NONE
        loop = next(iter(_loops(step.context, one.contexts)), 0)
        if counter != NONE and loop and _gives_number(counter, loop, frame, model):
            yield one.contexts[loop].expr


def _counter(e: ir.Expr, exprs: tuple[ir.Expr, ...]) -> int:
    """The number that `number += 1` counts on, NONE for anything else."""
    match e:
        case ir.Augmented("+", counted, by) | ir.Bin("+", counted, by):
            return counted if exprs[by] == ir.Const("int", 1) and isinstance(exprs[counted], ir.Phi) else NONE
    return NONE


def _gives_number(counter: int, loop: int, frame: Frame, model: Model) -> bool:
    """Whether tuples that are made in a loop inside of `loop`, one for each file, hold the number of its turn."""
    one, exprs = model.def_of(frame), model.facts(frame).ir.exprs
    for _, step in model.steps(frame):
        if not one.is_within(step.context, loop):
            continue
        inner = _loops(step.context, one.contexts)[:1] != [loop]
        for part in ir.made_of(exprs, step_expressions(step)):
            e = exprs[part]
            given = exprs[e.element] if isinstance(e, ir.Comp) else e if inner else None
            if isinstance(given, ir.Seq) and given.kind == "tuple" and counter in given.items:
                return True
    return False


def _enumerated(value: int, frame: Frame, model: Model) -> int:
    """What is gone over, if a value is the number that `enumerate` gives; else NONE."""
    e = model.ev.expr(frame, value)
    item = model.ev.expr(frame, e.value) if isinstance(e, ir.Unpack) and e.index == 0 else None
    call = model.ev.expr(frame, item.iterable) if isinstance(item, ir.Element) else None
    if isinstance(call, ir.Call) and call.args and Lib("builtins.enumerate") in model.ev.eval(call.func, frame).atoms:
        return call.args[0].value
    return NONE


def _loops(context: int, contexts: tuple[ir.Context, ...]) -> list[int]:
    found = []
    while context > 0:
        if contexts[context].kind == "loop":
            found.append(context)
        context = contexts[context].parent
    return found


def _items(value: int, frame: Frame, model: Model) -> tuple[int, ...]:
    e = model.ev.expr(frame, value)
    return (value, *e.items) if isinstance(e, ir.Seq) else (value,)


# --- indexes ----------------------------------------------------------------------------------------------------------


def _operands(e: ir.Expr | None) -> tuple[int, ...]:
    match e:
        case ir.Bin(_, left, right):
            return (left, right)
        case ir.Call(_, args):
            return tuple(arg.value for arg in args)
        case ir.Unary(_, operand) | ir.Augmented(_, operand, _):
            return (operand,)
        case ir.IfExp(_, left, right):
            return (left, right)
        case ir.Phi(choices):
            return choices
    return ()


def _is_from_parameter(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether an index is computed from the index that is asked for."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Param):
        return e.index > 0
    return depth < 6 and any(_is_from_parameter(part, frame, model, depth + 1) for part in _operands(e))


def _shape(number: int, frame: Frame, model: Model, depth: int) -> str:
    """An index as text, the same for the same computation."""
    e = model.ev.expr(frame, number)
    parts = _operands(e)
    if isinstance(e, ir.Param) or depth > 6:
        return "index"
    if isinstance(e, ir.Const):
        return str(e.value)
    name = e.op if isinstance(e, ir.Bin) else type(e).__name__
    return f"{name}({', '.join(_shape(part, frame, model, depth + 1) for part in parts)})" if parts else name


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(listing: Listing, model: Model) -> tuple[Fix, ...]:
    if listing.how == "os.walk":
        return ()
    place = model.place(listing.frame, listing.expr)
    if listing.how != "os.scandir":
        return (Fix("Sort the listing", "safe", (Wrap(place, "sorted(", ")"),)),)
    managers = {step.manager for _, step in model.steps(listing.frame) if isinstance(step, ir.Enter)}
    if listing.expr in managers:
        return ()
    return (Fix("Sort the listing", "safe", (Wrap(place, "sorted(", ", key=lambda entry: entry.name)"),)),)


RULE = Rule(
    code="LDR503",
    name="unsorted-listing",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
