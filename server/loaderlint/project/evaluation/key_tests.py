"""Tests of the keywords that a call passes as `**kwargs`: `if "path" in kwargs`, where no caller passes a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ABSENT, MapOf, is_absent

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Methods of dicts that may add an item, and that may remove one. The first argument of some names it.
_ADDING = frozenset({"setdefault", "update"})
_REMOVING = frozenset({"clear", "pop", "popitem"})
_NAMING = frozenset({"pop", "setdefault"})


def has_key(ev: Evaluator, key: int, mapping: int, frame: Frame) -> bool | None:
    """Whether `**kwargs` always has a key, or never; None if it may have it, if that is not known, or if the def
    changes the key."""
    name = ev.expr(frame, key)
    if not isinstance(name, ir.Const) or not isinstance(name.value, str) or not _is_keywords(ev, mapping, frame):
        return None
    (only,) = atoms if len(atoms := ev.eval(mapping, frame).atoms) == 1 else (None,)
    if not isinstance(only, MapOf) or only.options or None in only.keys:
        return None
    value = dict(zip(only.keys, only.values, strict=True)).get(name.value)
    if _is_added(name.value, mapping, frame):
        return None  # perhaps only after the test
    if value is None or is_absent(value):
        return False
    return None if ABSENT in value.atoms or _is_removed(name.value, mapping, frame) else True


def _is_keywords(ev: Evaluator, number: int, frame: Frame) -> bool:
    """Whether an expression is the parameter `**kwargs`."""
    e, one = ev.expr(frame, number), frame.code.one
    return isinstance(e, ir.Param) and one is not None and one.params[e.index].kind == "starstar"


def _is_added(key: str, mapping: int, frame: Frame) -> bool:
    """Whether a def may store something under a key of a mapping, or passes the mapping on as it is."""
    exprs = frame.code.exprs
    steps = frame.code.one.steps if frame.code.one is not None else ()
    stored = (step.index for step in steps if isinstance(step, ir.SetItem) and step.base == mapping)
    return any(_may_be(key, exprs[one]) for one in stored) or _is_called_on(key, mapping, _ADDING, frame)


def _is_removed(key: str, mapping: int, frame: Frame) -> bool:
    """Whether a def may remove what is under a key of a mapping, or passes the mapping on as it is."""
    steps = frame.code.one.steps if frame.code.one is not None else ()
    return any(isinstance(step, ir.Delete) for step in steps) or _is_called_on(key, mapping, _REMOVING, frame)


def _is_called_on(key: str, mapping: int, methods: frozenset[str], frame: Frame) -> bool:
    """Whether a def calls one of these methods for a key of a mapping, or passes the mapping on as it is."""
    exprs = frame.code.exprs
    for _, call in frame.code.calls:
        func = exprs[call.func]
        if any(arg.value == mapping for arg in call.args if arg.kind in ("pos", "kw")):
            return True
        if isinstance(func, ir.Attr) and func.base == mapping and func.name in methods:
            if func.name not in _NAMING or not call.args or _may_be(key, exprs[call.args[0].value]):
                return True
    return False


def _may_be(key: str, e: ir.Expr) -> bool:
    return not isinstance(e, ir.Const) or e.value == key
