"""Which expressions are `bytes` objects, whose memory cannot be written."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import BYTES_MAKERS, BYTES_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.called_libraries import library_names

_BYTES = ir.Global("bytes")
#: How many choices, attributes and items lead to one.
_MAX_DEPTH = 4
#: Annotations of collections: `list[bytes]`, `Dict[str, bytes]`.
_COLLECTIONS = frozenset("list List tuple Tuple Sequence dict Dict Mapping".split())


def is_bytes(number: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression is known to be a bytes object: by what makes it, or by an annotation."""
    e = model.ev.expr(frame, number)
    if depth > _MAX_DEPTH:
        return False
    match e:
        case ir.Phi(choices):
            return all(is_bytes(choice, frame, model, depth + 1) for choice in choices)
        case ir.Const():
            return e.kind == "bytes"
        case ir.Call(func, _):
            return _makes_bytes(number, func, frame, model)
        case ir.Param(index):
            return _is_declared(index, frame)
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)):
            stores = _stores(name, frame, model)
            return bool(stores) and all(is_bytes(value, maker, model, depth + 1) for maker, value in stores)
        case ir.Index(base, index):
            return not isinstance(model.ev.expr(frame, index), ir.Slice) and _holds_bytes(base, frame, model, depth + 1)
    return False


def _makes_bytes(number: int, func: int, frame: Frame, model: Model) -> bool:
    if library_names(func, frame, model) & BYTES_MAKERS:
        return True
    method = model.ev.expr(frame, func)
    return isinstance(method, ir.Attr) and method.name in BYTES_METHODS and not model.ev.targets(number, frame)


def _holds_bytes(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether an expression is a collection of bytes objects."""
    e = model.ev.expr(frame, number)
    match e:
        case ir.Comp(_, element):
            return is_bytes(element, frame, model, depth)
        case ir.Param(index):
            return _is_declared_collection(index, frame)
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)) and depth < _MAX_DEPTH:
            stores = _stores(name, frame, model)
            return bool(stores) and all(_holds_bytes(value, maker, model, depth + 1) for maker, value in stores)
    return False


def _stores(name: str, frame: Frame, model: Model) -> list[tuple[Frame, int]]:
    """What is stored in an attribute of a frame's object: expressions, each with its frame."""
    if not isinstance(frame.receiver, Instance):
        return []
    found = []
    for store in model.ev.classes.stores(frame.receiver, name):
        step = model.def_of(store.frame).steps[store.step]
        found.append((store.frame, step.value if isinstance(step, ir.SetAttr) else NONE))
    return found


def _annotation(param: int, frame: Frame) -> int:
    """The annotation of a parameter."""
    one = frame.code.one
    return one.params[param].annotation if one is not None and param < len(one.params) else NONE


def _is_declared(param: int, frame: Frame) -> bool:
    """Whether a parameter is annotated as bytes."""
    annotation = _annotation(param, frame)
    return annotation != NONE and frame.code.exprs[annotation] == _BYTES


def _is_declared_collection(param: int, frame: Frame) -> bool:
    """Whether a parameter is annotated as a collection of bytes: `list[bytes]`, `dict[str, bytes]`."""
    exprs, number = frame.code.exprs, _annotation(param, frame)
    annotation = exprs[number] if number != NONE else None
    if not isinstance(annotation, ir.Index) or _last_name(exprs[annotation.base]) not in _COLLECTIONS:
        return False
    items = exprs[annotation.index] if annotation.index != NONE else None
    held = exprs[items.items[:2][-1]] if isinstance(items, ir.Seq) and items.items else items
    return held == _BYTES


def _last_name(e: ir.Expr) -> str:
    return e.name or "" if isinstance(e, ir.Global | ir.Attr | ir.Imported) else ""
