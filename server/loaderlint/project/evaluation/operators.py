"""What operators and comparisons give: arithmetic, joined texts and lists, and tests that two values decide."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.higher_order import PIPELINES
from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS
from loaderlint.knowledge.paths import PATH, PATH_MAKERS
from loaderlint.knowledge.value_types import type_made_by
from loaderlint.project.evaluation.argument_binding import overlaid
from loaderlint.project.evaluation.drawn_numbers import compared_with, is_drawn, limits_of
from loaderlint.project.evaluation.limits import NOT_NONE
from loaderlint.project.evaluation.values import (
    ABSENT,
    AUTO,
    INDEX,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    Namespace,
    PartialOf,
    SeqOf,
    Site,
    Unknown,
    Val,
    choices_of,
    join,
    of,
    unknown,
)
from loaderlint.project.modules.module_refs import ModuleRef

if TYPE_CHECKING:
    pass

_ARITHMETIC: dict[str, Callable[..., object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "/": operator.truediv,
    "%": operator.mod,
}
_COMPARISONS: dict[str, Callable[..., bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: The answers to a comparison with an object that equals nothing else.
_EQUALITY = {"==": False, "!=": True}
#: The comparisons with the sides exchanged.
EXCHANGED = {"!=": "!=", "==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: The number of items of a sum of lists that are distinguished, and of ways to make one.
_MAX_ITEMS = 64
_MAX_WAYS = 4
#: At most this many parts of a text are told apart.
_MAX_PARTS = 64
#: The reason of an `Unknown` that stands for the `transforms` of a dataset of torchvision, made of others.
COMBINED = "transform and target_transform, combined"
#: Calls that return only numbers, strings and truth values.
_NEVER_NONE = frozenset(f"builtins.{name}" for name in "operation str int float bool len abs sum round".split()) | (
    NUMPY_GLOBAL_DRAWS - {"numpy.random.shuffle", "numpy.random.choice"}
)


def binary(op: str, left: Val, right: Val, site: Site) -> Val:
    """`left op right`: constants are computed, lists joined, anything else is a fresh object."""
    a, b = left.literal, right.literal
    if a is not None and b is not None and op in _ARITHMETIC:
        return _computed(op, a, b) or of(LibObject("builtins.operation", site))
    if op == "+" and (joined := _concatenated(left, right, site) or _texts(left, right)) is not None:
        return joined
    if op == "|":
        first, second = left.only(MapOf), right.only(MapOf)
        are_known = len(first) == len(left.atoms) and len(second) == len(right.atoms)
        if first and second and are_known and len(first) * len(second) <= _MAX_WAYS:
            return of(*(_united(one, other, site) for one in first for other in second))
    if op == "*" and len(left.atoms) == 1 and left.only(SeqOf):
        return left.without_origins()
    if op == "%" and a is not None and a.kind == "str":
        return of(LibObject("builtins.str", site))
    if op == "/" and (_is_path(left) or _is_path(right)):
        return of(LibObject(PATH, site))
    return of(LibObject("builtins.operation", site))


def _is_path(value: Val) -> bool:
    return bool(value.atoms) and all(is_path_atom(atom) for atom in value.atoms)


def is_path_atom(atom: Atom) -> bool:
    match atom:
        case LibObject(name, _):
            return name in PATH_MAKERS
        case LibMember(owner, "parent"):
            return is_path_atom(owner)
    return False


def _concatenated(left: Val, right: Val, site: Site) -> Val | None:
    """`left + right` for lists and tuples; None for anything else. A list that grows in branches may be one of
    several."""
    first = left.only(SeqOf)
    second = right.only(SeqOf)
    if not first and not second:
        return None
    if not first or not second:
        return _partly_known(left, right, (*first, *second), site)
    ways = [(a, b) for a in first for b in second]
    if len(ways) > _MAX_WAYS or not all(map(_has_known_length, first)):
        return of(SeqOf(first[0].kind, (join(item for one in (*first, *second) for item in one.items),), site))
    both = {(a.kind, (*a.items, *b.items)) for a, b in ways}
    return of(*(SeqOf(kind, items if len(items) <= _MAX_ITEMS else (join(items),), site) for kind, items in both))


def _texts(left: Val, right: Val) -> Val | None:
    """`"data." + name`, where the name is one of a few constant texts; None for anything else."""
    first, second = left.only(Literal_), right.only(Literal_)
    are_known = len(first) == len(left.atoms) and len(second) == len(right.atoms)
    if not are_known or not first or not second or any(one.kind != "str" for one in (*first, *second)):
        return None
    if len(first) * len(second) > _MAX_WAYS:
        return None
    return join(_computed("+", one, other) or of(one) for one in first for other in second)


def split_text(text: Literal_, separator: str | None) -> tuple[Val, ...]:
    """The parts of a constant text, `"DIV2K+Flickr".split("+")`; at white space if the separator is None."""
    parts = str(text.value).split(separator)[:_MAX_PARTS]
    return tuple(of(replace(text, value=part, choices=())) for part in parts)


def _has_known_length(one: SeqOf) -> bool:
    """Whether each item has a place of its own. A single one may stand for all items of `list(x)`."""
    return len(one.items) != 1 or one.site is None or isinstance(one.site.frame.code.exprs[one.site.expr], ir.Seq)


def _partly_known(left: Val, right: Val, known: Sequence[SeqOf], site: Site) -> Val | None:
    """What is known about a sum with one unknown side: it holds the objects and functions of the other."""
    items = [item for one in known for item in one.items]
    is_unknown = all(isinstance(atom, Unknown) for value in (left, right) for atom in value.atoms if atom not in known)
    if not is_unknown or not any(item.only(Instance, Method, FunctionRef, PartialOf) for item in items):
        return None
    return of(SeqOf(known[0].kind, (join((*items, unknown("operation"))),), site))


def _united(first: MapOf, second: MapOf, site: Site) -> MapOf:
    """`first | second`: the items of both; those of the second win."""
    pairs = [*zip(first.keys, first.values, strict=True), *zip(second.keys, second.values, strict=True)]
    entries = overlaid((key, value) for key, value in pairs if key is not None)
    rest = [value for key, value in pairs if key is None]
    return MapOf((*entries, *[None] * len(rest)), (*entries.values(), *rest), site)


def _computed(op: str, a: Literal_, b: Literal_) -> Val | None:
    if isinstance(a.value, int | float) and isinstance(b.value, int | float):
        if abs(a.value) > 2**64 or abs(b.value) > 2**64:
            return None
    elif not (isinstance(a.value, str) and isinstance(b.value, str) and op == "+" and len(a.value + b.value) < 1000):
        return None
    try:
        result = _ARITHMETIC[op](a.value, b.value)
    except (ArithmeticError, TypeError, ValueError):
        return None
    if not isinstance(result, int | float | str):
        return None
    return of(Literal_(type(result).__name__, result, a.configured or b.configured))


def unary(op: str, operand: Val, site: Site) -> Val:
    """`op operand`."""
    literal = operand.literal
    if literal is not None and op == "not":
        return of(Literal_("bool", not literal.value, literal.configured))
    if literal is not None and op == "-" and isinstance(literal.value, int | float):
        return of(Literal_(literal.kind, -literal.value, literal.configured))
    return of(LibObject("builtins.operation", site))


def compared(op: str, left: Val, right: Val, site: Site) -> Val:
    """`left op right`. Of configured values it is the usual answer: `workers > 0` where a user may set `workers`."""
    answer, configured = compare(op, left, right), ""
    a, b = left.literal, right.literal
    if answer is None and a is not None and b is not None and op in _COMPARISONS:
        configured = a.configured or b.configured
        answer = _answer(op, replace(a, configured=""), replace(b, configured=""))
    return of(LibObject("builtins.bool", site) if answer is None else Literal_("bool", answer, configured))


def truth(value: Val) -> bool | None:
    """Whether a value is always true or always false; None if it may be either or may be configured."""
    answers: set[bool | None] = set()
    for atom in value.atoms:
        match atom:
            case Literal_(_, constant, ""):
                answers.add(bool(constant))
            case FunctionRef() | ClassRef() | Method() | ModuleRef() | PartialOf():
                answers.add(True)
            case SeqOf():
                answers.add(True if _is_never_empty(atom) else None)
            case MapOf():
                answers.add(True if _has_sure_key(atom) else None)
            case LibObject(name, site) if name in PIPELINES and _is_given_items(site):
                answers.add(True)
            case _:
                answers.add(None)
    return answers.pop() if len(answers) == 1 else None


def _is_never_empty(one: SeqOf) -> bool:
    """Whether a list or tuple is written out with its items: not one that begins empty and that a loop fills, nor
    `list(x)` and a comprehension, whose only item stands for all of them."""
    if one.site is None:
        return bool(one.items)
    exprs = one.site.frame.code.exprs
    written = exprs[one.site.expr]
    return isinstance(written, ir.Seq) and not all(isinstance(exprs[item], ir.Star) for item in written.items)


def _has_sure_key(one: MapOf) -> bool:
    """Whether a dict certainly has an item: under a name, or because it is written out with one."""
    if any(key is not None and ABSENT not in value.atoms for key, value in zip(one.keys, one.values, strict=True)):
        return True
    written = one.site.frame.code.exprs[one.site.expr] if one.site is not None else None
    return isinstance(written, ir.Map) and any(key != ir.NONE for key in written.keys)


def holds_items(value: Val) -> bool | None:
    """Whether the length of a value is always more than 0, or always 0; None if it may be either, or has none."""
    has_length = all(isinstance(atom, SeqOf | MapOf) or _is_text(atom) for atom in value.atoms)
    return truth(value) if has_length else None


def _is_text(atom: Atom) -> bool:
    return isinstance(atom, Literal_) and atom.kind in ("str", "bytes")


def _is_given_items(made: Site) -> bool:
    """Whether the call that created an object passes a list or tuple with explicit items first."""
    call = made.frame.code.exprs[made.expr]
    first = made.frame.code.exprs[call.args[0].value] if isinstance(call, ir.Call) and call.args else None
    return isinstance(first, ir.Seq) and bool(first.items)


#: The comparisons that two values may decide.
COMPARED = frozenset({"is", "is not", *_COMPARISONS})


def is_telling(op: str, right: Val) -> bool:
    """Whether a comparison with `right` may be decided, whatever is on its left."""
    if is_drawn(right):
        return True
    literal = right.literal
    return literal is not None and not literal.configured


def compare(op: str, left: Val, right: Val) -> bool | None:
    """Whether a comparison is always true or always false."""
    if op in EXCHANGED and is_drawn(right) and left.literal is not None:
        return compare(EXCHANGED[op], right, left)
    b = right.literal
    if op in ("is", "is not"):
        if b is not None and b.kind != "NoneType":
            return _is_same(left, b, op)
        if b is None:
            return None
        nones = set(map(is_none_or_not, left.atoms))
        if len(nones) != 1 or None in nones:
            return None
        return nones.pop() is (op == "is")
    if b is None or b.configured or op not in _COMPARISONS:
        return None
    chosen = choices_of(left) if op in ("==", "!=") else None
    if chosen is not None and b.value not in (*chosen[0], *chosen[1]):
        return op == "!="
    answers = {_answer(op, one, b) for one in left.atoms}
    return answers.pop() if len(answers) == 1 else None


def _is_same(left: Val, right: Literal_, op: str) -> bool | None:
    """Whether `x is True` and the like are always true or always false. Constants that differ are never one object;
    of equal ones, only True, False and the members of an `Enum` certainly are."""
    answers = {
        _is_one(one, right) if isinstance(one, Literal_) and not one.configured and not right.configured else None
        for one in left.atoms
    }
    answer = answers.pop() if len(answers) == 1 else None
    return None if answer is None else answer is (op == "is")


def _is_one(left: Literal_, right: Literal_) -> bool | None:
    if AUTO in (left.kind, right.kind) and left.kind != right.kind:
        return False if "NoneType" in (left.kind, right.kind) else None
    if (left.kind, left.value) != (right.kind, right.value):
        return False
    return True if right.kind in ("bool", AUTO) else None


def _answer(op: str, left: Atom, right: Literal_) -> bool | None:
    if isinstance(left, LibObject) and isinstance(right.value, int | float):
        limits = limits_of(left)
        return compared_with(op, limits, right.value) if limits is not None else None
    if isinstance(left, Namespace) and left.how == "argparse" and op in _EQUALITY:
        return _EQUALITY[op]
    if not isinstance(left, Literal_) or left.configured:
        return None
    if AUTO in (left.kind, right.kind) and (left.kind != right.kind or op not in ("==", "!=")):
        return None
    try:
        return bool(_COMPARISONS[op](left.value, right.value))
    except TypeError:
        return None


def is_none_or_not(atom: Atom) -> bool | None:
    match atom:
        case Unknown(reason):
            return False if reason in (NOT_NONE, INDEX.reason, COMBINED) else None
        case Literal_(kind, _, configured):
            return None if configured else kind == "NoneType"
        case Instance() | FunctionRef() | ClassRef() | Method() | SeqOf() | MapOf() | PartialOf() | ModuleRef():
            return False
        case LibObject("torch.utils.data.get_worker_info", _):
            return False  # this code matters only because workers run it
        case LibObject(name, _) if name in _NEVER_NONE or type_made_by(name):
            return False
        case LibObject(name, _):
            return False if name.rpartition(".")[2][:1].isupper() else None  # a class: its objects are never None
    return None
