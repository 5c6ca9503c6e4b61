"""Edits of what is under a key of a dict, and the key under which stored data is put there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import MapOf, Origin, extended
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.unresolved_places import Spot


def may_be_under_another_key(target: int, origin: Origin, frame: Frame, model: Model) -> bool:
    """Whether an edited expression reads a constant key of a dict in which stored data is only known to be under keys
    that are not constant: `data[key] = self.grid` may store it there or not."""
    for read in _reads(target, frame, model):
        name, keys = _constant(read.index, frame, model), _keys_of(read, origin, frame, model)
        if isinstance(name, str) and None in keys and name not in keys:
            dicts = model.ev.eval(read.base, frame).only(MapOf)
            return not any(_begins_with_it(one, origin, model) for one in dicts)
    return False


def is_left_out(target: int, origin: Origin, spot: Spot, model: Model) -> bool:
    """Whether a test of the key around an edit leaves out all the keys under which stored data is: an edit under
    `if "past/" in key:` of what is only under "path"."""
    frame = spot.frame
    for read in _reads(target, frame, model):
        tests = list(_tests_of(read.index, spot, model))
        keys = _keys_of(read, origin, frame, model) if tests else {}
        if keys and all(key is not None and any(_fails(key, *test) for test in tests) for key in keys):
            return True
    return False


def _reads(target: int, frame: Frame, model: Model) -> Iterator[ir.Index]:
    """The items that an expression is read through: `data["a"]` and `data["a"]["b"]` of `data["a"]["b"][0]`."""
    while isinstance(e := model.ev.expr(frame, target), ir.Index | ir.Attr | ir.Augmented):
        if isinstance(e, ir.Index):
            yield e
        target = e.target if isinstance(e, ir.Augmented) else e.base


def _keys_of(read: ir.Index, origin: Origin, frame: Frame, model: Model) -> Mapping[str | None, None]:
    """The keys under which stored data is in a dict, None for one that is not constant; empty if the dict itself is
    stored, or is not known."""
    base = model.ev.eval(read.base, frame)
    dicts = base.only(MapOf)
    if len(dicts) < len(base.atoms) or origin in extended(base.origins, "[]", "element"):
        return {}
    pairs = (pair for one in dicts for pair in zip(one.keys, one.values, strict=True))
    return dict.fromkeys(key for key, value in pairs if origin in value.origins)


def _begins_with_it(one: MapOf, origin: Origin, model: Model) -> bool:
    """Whether a dict holds stored data since it was made, under all keys: as a copy of a stored dict, or by a
    comprehension."""
    if one.site is None:
        return True
    frame = one.site.frame
    match model.ev.expr(frame, one.site.expr):
        case ir.Call(func, args):
            method = model.ev.expr(frame, func)
            copied = [arg.value for arg in args] + ([method.base] if isinstance(method, ir.Attr) else [])
        case ir.Map(keys, values):
            copied = [value for key, value in zip(keys, values, strict=True) if key == NONE]
        case _:
            return True
    return any(origin in extended(model.ev.eval(part, frame).origins, "[]", "element") for part in copied)


def _constant(number: int, frame: Frame, model: Model) -> object:
    literal = model.ev.eval(number, frame).literal
    return literal.value if literal is not None else None


def _tests_of(key: int, spot: Spot, model: Model) -> Iterator[tuple[str, str, bool]]:
    """The tests around an edit that ask whether its key is a text or holds it: the operator, the text, and whether the
    edit is where the test is false."""
    one, frame = model.def_of(spot.frame), spot.frame
    for context in one.around(spot.context):
        if context.kind == "if":
            match model.ev.expr(frame, context.expr):
                case ir.Compare(left, ("in" | "==" | "!=" | "not in" as op,), (right,)):
                    for part, other in pairwise((left, right, left)):
                        text = _constant(part, frame, model)
                        if other == key and isinstance(text, str) and (part == left or "in" not in op):
                            yield op, text, context.negated


def _fails(key: str, op: str, text: str, negated: bool) -> bool:
    """Whether an edit under a test does not run for a key."""
    holds = text in key if "in" in op else key == text
    return (holds is not (op in ("in", "=="))) is not negated
