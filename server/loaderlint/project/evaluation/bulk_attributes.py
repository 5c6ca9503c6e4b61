"""Attributes that an object takes from a dict or from parsed options, whatever their names:
`self.__dict__.update(options)`, `for name, value in options.items(): setattr(self, name, value)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.library_calls import passed_to_library
from loaderlint.project.evaluation.taken_over_options import items_gone_through
from loaderlint.project.evaluation.values import (
    BOTTOM,
    Atom,
    Instance,
    Lib,
    LibMember,
    LibObject,
    MapOf,
    Namespace,
    Unknown,
    Val,
    present_or,
)
from loaderlint.project.evaluation.yaml_configurations import is_node

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_SETATTR = Lib("builtins.setattr")
#: Classes whose constructor stores each keyword argument under its name.
_NAMESPACES = frozenset({"argparse.Namespace", "types.SimpleNamespace"})


def taken_in_bulk(ev: Evaluator, frame: Frame, source: int, name: str) -> Iterator[Val]:
    """What attribute `name` of an object takes from the dicts and options that expression `source` may be."""
    for atom in ev.eval(source, frame).ordered():
        match atom:
            case MapOf(keys, values) if name in keys:
                yield present_or(values[keys.index(name)], BOTTOM)
            case MapOf() | Namespace():
                yield from ev.user_options.among((atom,) if isinstance(atom, Namespace) else atom.options, name)
            case LibObject() | LibMember():
                yield from ev.file_values.attribute(atom, name)


def may_hold_more(ev: Evaluator, frame: Frame, source: int) -> bool:
    """Whether the dicts and options that expression `source` may be have items that the code does not show."""
    return any(map(_is_open, ev.eval(source, frame).atoms))


def _is_open(atom: Atom) -> bool:
    if isinstance(atom, MapOf):
        return None in atom.keys
    return is_node(atom) if isinstance(atom, Namespace) else isinstance(atom, Unknown)


def taken_as_keywords(ev: Evaluator, inst: Instance, name: str) -> Iterator[Val]:
    """What attribute `name` of an object of a namespace's class is because the constructor is passed it."""
    if not _NAMESPACES.isdisjoint(ev.classes.library_bases(inst.cls)):
        passed = ev.calls.with_options(passed_to_library(ev, inst), (name,)).get(name)
        if passed is not None:
            yield present_or(passed, BOTTOM)


def bulk_sources(ev: Evaluator, inst: Instance) -> Iterator[tuple[Frame, int]]:
    """The dicts and options that the constructor stores in bulk: each with its frame."""
    for frame in ev.classes.constructing(inst, "__dict__"):
        yield from ((frame, step.value) for _, step in frame.code.stores_of("__dict__"))
        yield from _updates(frame)
    for frame in ev.classes.constructing(inst, "vars("):
        yield from _updates(frame)
    for frame in ev.classes.constructing(inst, "setattr("):
        yield from _loops(ev, frame)


def _updates(frame: Frame) -> Iterator[tuple[Frame, int]]:
    """The argument of `self.__dict__.update(...)` and `vars(self).update(...)`."""
    exprs = frame.code.exprs
    for step, base in frame.code.attribute_calls({"update"}):
        call, owner = exprs[step.call], exprs[base]
        is_vars = isinstance(owner, ir.Call) and exprs[owner.func] == ir.Global("vars") and len(owner.args) == 1
        if isinstance(owner, ir.Call) and is_vars:
            is_own = ir.is_self(exprs[owner.args[0].value])
        else:
            is_own = isinstance(owner, ir.Attr) and owner.name == "__dict__" and ir.is_self(exprs[owner.base])
        if is_own and isinstance(call, ir.Call):
            yield from ((frame, arg.value) for arg in call.args if arg.kind in ("pos", "starstar"))


def _loops(ev: Evaluator, frame: Frame) -> Iterator[tuple[Frame, int]]:
    """What `for name, value in options.items(): setattr(self, name, value)` stores: `options`."""
    exprs = frame.code.exprs
    for _, call in frame.code.calls:
        if len(call.args) != 3 or not ir.is_self(exprs[call.args[0].value]):
            continue
        for items in items_gone_through(call, frame):
            if _SETATTR in ev.eval(call.func, frame).atoms:
                yield frame, items
