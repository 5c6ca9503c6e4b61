"""Listings that have one order although neither is sorted: a folder is listed in the same order each time. That holds
for a listing that is made twice, and where each names one file of every folder that a pattern matches
(`glob(root + "/*/left.png")`, `.../*/right.png`)."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.plain_records import JOINS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import is_alike
from loaderlint.rules.shared.listing_order import Listing

_WILDCARDS = frozenset("*?[")
#: A path as its texts, which say `/` between folders, and the expressions between them.
Parts = list[str | int]


def names_files_of_same_folders(one: Listing, other: Listing, model: Model) -> bool:
    """Whether two listings list the same, or name another file of the same folders."""
    if _are_of_one_folder(one, other, model):
        return True
    if one.frame is not other.frame or one.via != other.via or one.how != other.how:
        return False
    if is_alike(one.expr, other.expr, one.frame.code.exprs):
        return one.how != "set"
    first, second = _pattern(one, model), _pattern(other, model)
    if not first or not second or len(first) != len(second):
        return False
    exprs = one.frame.code.exprs
    return all(_is_same(mine, yours, exprs) for mine, yours in zip(first, second, strict=True))


def _are_of_one_folder(one: Listing, other: Listing, model: Model) -> bool:
    """Whether two calls list the folder that one attribute keeps: `os.listdir(self.root)`."""
    first, second = _folder(one, model), _folder(other, model)
    return one.how == other.how and first is not None and first == second and len(first.origins) == 1


def _folder(listing: Listing, model: Model) -> Val | None:
    """The only argument of a listing."""
    call = model.ev.expr(listing.frame, listing.expr)
    if listing.how == "set" or not isinstance(call, ir.Call) or [arg.kind for arg in call.args] != ["pos"]:
        return None
    return model.ev.eval(call.args[0].value, listing.frame)


def _is_same(mine: str | int, yours: str | int, exprs: tuple[ir.Expr, ...]) -> bool:
    if isinstance(mine, str) or isinstance(yours, str):
        return mine == yours
    return is_alike(mine, yours, exprs)


def _pattern(listing: Listing, model: Model) -> Parts:
    """The folders of a pattern whose last part is the name of one file; empty for others."""
    call = model.ev.expr(listing.frame, listing.expr)
    if not isinstance(call, ir.Call) or len(call.args) == 0 or call.args[0].kind != "pos" or "glob" not in listing.how:
        return []
    parts = _merged(_parts(call.args[0].value, listing.frame, model))
    func = model.ev.expr(listing.frame, call.func)
    if listing.how.startswith("Path.") and isinstance(func, ir.Attr):
        parts = _merged([func.base, "/", *parts])
    last = parts[-1] if parts else ""
    if not isinstance(last, str) or "/" not in last:
        return []
    folders, _, name = last.rpartition("/")
    return [*parts[:-1], folders] if name and not _WILDCARDS & set(name) else []


def _parts(number: int, frame: Frame, model: Model) -> Parts:
    e = model.ev.expr(frame, number)
    match e:
        case ir.Const("str", str(value)):
            return [value]
        case ir.Bin("+", left, right):
            return [*_parts(left, frame, model), *_parts(right, frame, model)]
        case ir.Bin("/", left, right):
            return [*_parts(left, frame, model), "/", *_parts(right, frame, model)]
        case ir.Call(func, args) if args and any(one.name in JOINS for one in model.ev.eval(func, frame).only(Lib)):
            joined = [part for arg in args for part in ("/", *_parts(arg.value, frame, model))]
            return joined[1:]
        case ir.Text(inserted, texts, formats) if texts and not formats:
            pairs = zip(inserted, texts[1:], strict=True)
            between = [part for one, text in pairs for part in (*_parts(one, frame, model), text)]
            return [part for part in (texts[0], *between) if part != ""]
    return [number]


def _merged(parts: Parts) -> Parts:
    """The parts with texts that follow each other made one."""
    found: Parts = []
    for part in parts:
        if found and isinstance(part, str) and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return found
