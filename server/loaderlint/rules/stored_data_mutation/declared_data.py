"""Stored data of which annotations say what it is: `self.records: list[dict[str, int]]`, a parameter, a field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.plain_records import (
    ARRAY_CLASSES,
    HOLDS_OBJECTS,
    INDEXED_CONTAINERS,
    PLAIN_CLASSES,
    PLAIN_CONTAINERS,
    TYPE_QUALIFIERS,
    TYPED_DICTS,
    declared_items,
)
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance, Lib, Origin, Val
from loaderlint.project.reach.model import Model

#: How deep annotations are read: a class may contain itself.
_MAX_DEPTH = 8


class _Annotation(NamedTuple):
    """An expression that says what an object is, and the frame to evaluate it in."""

    frame: Frame
    number: int


def is_declared_plain(value: Val, model: Model) -> bool:
    """Whether annotations say that what is stored is a container of Python, a text, a number or an array of NumPy, and
    holds nothing else."""
    return bool(value.origins) and all(_is_plain_origin(origin, model) for origin in value.origins)


def _is_plain_origin(origin: Origin, model: Model) -> bool:
    if not isinstance(origin.owner, Instance):
        return False
    said = _declared(origin.owner, origin.path[0], model)
    for part in origin.path[1:]:
        said = [item for one in said for item in _items(one, model, _MAX_DEPTH)] if part == "[]" else []
    return bool(said) and all(_is_plain(one, model, _MAX_DEPTH) for one in said)


# --- where annotations are --------------------------------------------------------------------------------------------


def _declared(owner: Instance, name: str, model: Model) -> list[_Annotation]:
    """What is said about an attribute: where it is declared, or else about each parameter that is stored in it. Empty
    if nothing is said of one of them."""
    in_class = model.ev.classes.declared(owner.cls, name)
    if in_class is not None:
        return [_Annotation(*in_class)]
    stores = model.ev.classes.stores(owner, name)
    steps = [(store, model.def_of(store.frame).steps[store.step]) for store in stores]
    for store, step in steps:
        if isinstance(step, ir.SetAttr) and step.annotation != NONE:
            return [_Annotation(store.frame, step.annotation)]
    said = [_of_parameter(store, step, model) for store, step in steps]
    return [one for one in said if one is not None] if None not in said else []


def _of_parameter(store: Store, step: ir.Step, model: Model) -> _Annotation | None:
    value = model.ev.expr(store.frame, step.value) if isinstance(step, ir.SetAttr) else None
    if not isinstance(value, ir.Param):
        return None
    param = model.def_of(store.frame).params[value.index]
    if param.annotation == NONE or param.kind in ("star", "starstar"):  # that of `*records` is about each of them
        return None
    return _Annotation(model.ev.body(store.frame.path, store.frame.piece), param.annotation)


# --- what they say ----------------------------------------------------------------------------------------------------


def _is_plain(said: _Annotation, model: Model, depth: int) -> bool:
    if depth == 0:
        return False
    frame, number = said
    match model.ev.expr(frame, number):
        case ir.Const("NoneType"):
            return True
        case ir.Bin("|", left, right):
            return all(_is_plain(_Annotation(frame, one), model, depth - 1) for one in (left, right))
        case ir.Index(base):
            name, arguments = _name(base, frame, model), _arguments(said, model)
            if name in ARRAY_CLASSES:
                return not any(_holds_objects(one, frame, model) for one in arguments)
            if name not in PLAIN_CONTAINERS | TYPE_QUALIFIERS:
                return False
            return all(_is_plain(_Annotation(frame, one), model, depth - 1) for one in arguments)
        case ir.Const("ellipsis"):
            return True  # `tuple[int, ...]`
    return _name(number, frame, model) in PLAIN_CLASSES or any(
        _is_plain_record(cls, model, depth - 1) for cls in model.ev.eval(number, frame).only(ClassRef)
    )


def _is_plain_record(cls: ClassRef, model: Model, depth: int) -> bool:
    """Whether a class is a `TypedDict`, so that its objects are dictionaries, with plain values."""
    if TYPED_DICTS.isdisjoint(model.ev.classes.library_bases(cls)):
        return False
    said = [model.ev.classes.declared(cls, name) for name in model.ev.classes.fields(cls)]
    return all(one is not None and _is_plain(_Annotation(*one), model, depth) for one in said)


def _holds_objects(number: int, frame: Frame, model: Model) -> bool:
    """Whether what is in the brackets of an array says that it holds objects: `NDArray[np.object_]`."""
    exprs = frame.code.exprs
    return any(_name(one, frame, model) in HOLDS_OBJECTS for one in ir.made_of(exprs, [number]))


def _items(said: _Annotation, model: Model, depth: int) -> Iterator[_Annotation]:
    """What is said about the items of a container. An array or a `TypedDict` stands for its items: they are plain if it
    is."""
    frame, number = said
    parts: tuple[int, ...] = ()
    match model.ev.expr(frame, number):
        case ir.Bin("|", left, right):
            parts = (left, right)
        case ir.Index(base):
            name, arguments = _name(base, frame, model), _arguments(said, model)
            if name in INDEXED_CONTAINERS:
                yield from (_Annotation(frame, one) for one in declared_items(name, arguments))
                return
            parts = arguments if name in TYPE_QUALIFIERS else ()
    if not parts or depth == 0:
        yield said
        return
    for one in parts:
        yield from _items(_Annotation(frame, one), model, depth - 1)


def _arguments(said: _Annotation, model: Model) -> tuple[int, ...]:
    """What an annotation has in its brackets."""
    e = model.ev.expr(*said)
    index = e.index if isinstance(e, ir.Index) else NONE
    inner = model.ev.expr(said.frame, index) if index != NONE else None
    return inner.items if isinstance(inner, ir.Seq) else (index,)


def _name(number: int, frame: Frame, model: Model) -> str:
    """The full name of a library's class; '' if it is not one alone."""
    atoms = model.ev.eval(number, frame).atoms
    named = [atom.name for atom in atoms if isinstance(atom, Lib)]
    return named[0] if len(atoms) == len(named) == 1 else ""
