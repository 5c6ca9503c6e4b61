"""Other calls of a project that list the same folder and take names by position: they agree while none is sorted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.knowledge.listings import LISTINGS
from loaderlint.knowledge.plain_records import JOINS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import Listing, listing_name

#: At most this many callers of a function are looked at.
_MAX_FRAMES = 8
_MAX_DEPTH = 8
#: Builtin functions that count with the names of a listing.
_COUNTING = frozenset({"enumerate", "zip"})
_SORTING = frozenset({"sort", "sorted", "natsorted"})


def listed_again(listings: Iterable[Listing], model: Model) -> set[Listing]:
    """The other listings of the project with the same folder as one of these, whose names are taken by position: an
    item, an attribute, the argument of `enumerate` or `zip`. Not those in datasets of loaders: they have findings and
    fixes of their own, with all that they are paired with."""
    found: set[Listing] = set()
    for one in listings:
        if one.how in LISTINGS and _folder(one, model) is not None:
            for other in model.remembered(_positional, one.how):
                if (other.frame.path, other.frame.piece, other.expr) != (one.frame.path, one.frame.piece, one.expr):
                    found.update([other] if _lists_same(one, other, model) else [])
    return found


def listed_by_others(listings: Iterable[Listing], model: Model) -> set[Listing]:
    """The other listings of the same folder, or of the folders in it, by other datasets of loaders in the same file,
    which sort nothing: one may take the files for training by position, and another those for tests."""
    found: set[Listing] = set()
    for one in listings:
        for other in model.remembered(_of_datasets, one.frame.path) if one.how in LISTINGS else ():
            is_other = (other.frame.piece, other.expr) != (one.frame.piece, one.expr)
            if is_other and other.how == one.how and _lists_same(one, other, model):
                found.add(other)
    return found


def has_copy(listing: Listing, model: Model) -> bool:
    """Whether another file has a function of the same name that lists the folder in its parameter of the same name, and
    sorts nothing: a copy, which may draw the same parts of the same folder."""
    one, number = model.def_of(listing.frame), _folder(listing, model)
    folder = model.ev.expr(listing.frame, number) if number is not None else None
    if not isinstance(folder, ir.Param) or one.kind != "function" or one.name.startswith("__"):
        return False
    head, call = f"def {one.name}(", f"{listing.how.rpartition('.')[2]}({one.params[folder.index].name})"
    files = (model.files.file(path) for path in model.files.containing(head) if path != listing.frame.path)
    pieces = (file.pieces[index] for file in files if file is not None for index in file.all_asking(holds, head))
    return any(piece.holds(call) and not piece.holds("sort") for piece in pieces)


def _of_datasets(path: Path, model: Model) -> tuple[Listing, ...]:
    """The unsorted listings that the datasets of loaders make while they are created, of the classes in one file."""
    held = (dataset for loader in model.loaders for dataset in loader.datasets)
    ours = dict.fromkeys(one for one in held if isinstance(one, Instance) and one.cls.path == path)
    made = dict.fromkeys(frame for one in ours for frame in model.run_by(model.ev.classes.construction(one)))
    return tuple(one for frame in made if frame.path == path for one in _unsorted(frame, model))


def _unsorted(frame: Frame, model: Model) -> Iterator[Listing]:
    for call in model.frame_calls(frame):
        name = listing_name(call.call, frame, model)
        if name and not is_sorted(call.number, frame):
            yield Listing(frame, call.number, name)


def is_only_one(listing: Listing, known: Collection[Listing], model: Model) -> bool:
    """Whether the class of a listing makes no other one that nobody sorts, with which its files may be paired. `known`:
    those that are sorted with it."""
    frame = listing.frame
    sites = {(one.frame.piece, one.expr) for one in known if one.frame.path == frame.path}
    others = (one for one in model.remembered(_of_datasets, frame.path) if one.frame.receiver == frame.receiver)
    return all((one.frame.piece, one.expr) in sites for one in others)


def _positional(how: str, model: Model) -> tuple[Listing, ...]:
    """The listings by this function in the project whose names are taken by position."""
    word = f"{how.rpartition('.')[2]}("
    return tuple(
        Listing(frame, number, how)
        for file in model.files.containing(word)
        for piece in _pieces(file, word, model)
        if not _is_of_dataset(file, piece, model)
        for frame in _frames(file, piece, model)
        for number in _calls(how, frame, model)
        if _is_positional(number, frame, model)
    )


def _pieces(path: Path, word: str, model: Model) -> Iterator[int]:
    file = model.files.file(path)
    yield from file.all_asking(holds, word) if file is not None and model.files.library_name(path) is None else ()


def _is_of_dataset(path: Path, piece: int, model: Model) -> bool:
    file = model.files.file(path)
    around = model.ev.names.class_around(file, piece) if file is not None else None
    return around is not None and (path, around) in model.once(_datasets)


def _datasets(model: Model) -> frozenset[tuple[Path, int]]:
    """The classes of the datasets of loaders, each with its piece."""
    held = (dataset for loader in model.loaders for dataset in loader.datasets)
    return frozenset((one.cls.path, one.cls.piece) for one in held if isinstance(one, Instance))


def _frames(path: Path, piece: int, model: Model) -> Iterator[Frame]:
    facts = model.ev.facts(path, piece)
    for def_ in range(len(facts.ir.defs) if facts is not None else 0):
        yield from model.callers.frames(path, piece, def_)[:_MAX_FRAMES]


def _calls(how: str, frame: Frame, model: Model) -> Iterator[int]:
    for _, call in frame.code.calls:
        if model.ev.eval(call.func, frame).atoms == {Lib(how)}:
            yield frame.code.exprs.index(call)


def _is_positional(number: int, frame: Frame, model: Model) -> bool:
    """Whether the names of a listing are taken by position, and not sorted before."""
    if is_sorted(number, frame):
        return False
    exprs, taken = frame.code.exprs, False
    for e in exprs:
        match e:
            case ir.Call(func, args):
                is_passed = any(arg.value == number for arg in args)
                taken = taken or (is_passed and _name(exprs[func]) in _COUNTING)
            case ir.Index(base, index) if base == number:
                taken = taken or not isinstance(exprs[index], ir.Slice)
    return taken or any(step.value == number for _, step in model.steps_of(frame, ir.SetAttr))


def is_sorted(number: int, frame: Frame) -> bool:
    """Whether a def sorts a listing: `sorted(names)`, `names.sort()`."""
    exprs = frame.code.exprs
    calls = (e for e in exprs if isinstance(e, ir.Call) and _name(exprs[e.func]) in _SORTING)
    return any(any(arg.value == number for arg in e.args) or ir.operands(exprs[e.func])[:1] == (number,) for e in calls)


def sorts_sometimes(listing: Listing) -> bool:
    """Whether the def that lists a folder sorts the names further down, in some branch: `if is_sort: names =
    sorted(names)`. It means to keep them as they are otherwise."""
    exprs, one = listing.frame.code.exprs, listing.frame.code.one
    for step, call in listing.frame.code.calls if one is not None else ():
        func = exprs[call.func]
        is_sometimes = one is not None and any(here.kind == "if" for here in one.around(step.context))
        taken = [*ir.operands(func)[:1], *(arg.value for arg in call.args[:1])]
        if _name(func) in _SORTING and is_sometimes and listing.expr in ir.made_of(exprs, taken):
            return True
    return False


def _name(func: ir.Expr) -> str:
    return func.name if isinstance(func, ir.Attr | ir.Global) else ""


def _lists_same(one: Listing, other: Listing, model: Model) -> bool:
    first, second = _folder(one, model), _folder(other, model)
    return first is not None and second is not None and _is_same_path(first, one.frame, second, other.frame, model, 0)


def _folder(listing: Listing, model: Model) -> int | None:
    """The only argument of a listing."""
    call = model.ev.expr(listing.frame, listing.expr)
    is_plain = isinstance(call, ir.Call) and [arg.kind for arg in call.args] == ["pos"]
    return call.args[0].value if isinstance(call, ir.Call) and is_plain else None


def _is_same_path(one: int, mine: Frame, two: int, yours: Frame, model: Model, depth: int) -> bool:
    """Whether two expressions are known to be one path: the same constant, the same option, or joined of the same
    parts."""
    first, second = model.ev.eval(one, mine), model.ev.eval(two, yours)
    if first.literal is not None and second.literal is not None:
        return first.literal.value == second.literal.value
    match model.ev.expr(mine, one), model.ev.expr(yours, two):
        case ir.Element(), ir.Element() if depth > 0:
            return True  # any folder in the same one
        case ir.Bin(op, left, right), ir.Bin(other_op, other_left, other_right) if op == other_op:
            parts, others = [left, right], [other_left, other_right]
        case ir.Call(func, args), ir.Call(other_func, other_args) if len(args) == len(other_args):
            names = {atom.name for atom in model.ev.eval(func, mine).only(Lib)}
            if not names & JOINS or names != {atom.name for atom in model.ev.eval(other_func, yours).only(Lib)}:
                return False
            parts, others = [arg.value for arg in args], [arg.value for arg in other_args]
        case _:
            made = first.only(LibObject)
            return bool(made) and first.atoms == second.atoms and len(first.atoms) == 1
    pairs = zip(parts, others, strict=True)
    return depth < _MAX_DEPTH and all(_is_same_path(a, mine, b, yours, model, depth + 1) for a, b in pairs)
