"""Source text for expressions that a fix writes again in another method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance
from loaderlint.project.reach.model import Model


class _Unwritable(Exception):
    """The expression cannot be written again somewhere else."""


def source_of(number: int, frame: Frame, model: Model) -> tuple[str | None, list[str]]:
    """The source of expression `number` of a constructor for another method of the class, and the statements that the
    constructor needs for it (a parameter that no attribute keeps is stored on self). (None, []) if it cannot be written
    there. A parameter alone cannot: its value is created elsewhere."""
    if isinstance(model.ev.expr(frame, number), ir.Param):
        return None, []
    kept: list[str] = []
    try:
        return _write(number, frame, model, kept), list(dict.fromkeys(kept))
    except _Unwritable:
        return None, []


def _write(number: int, frame: Frame, model: Model, kept: list[str]) -> str:
    e = model.ev.expr(frame, number)
    match e:
        case ir.Const(kind, value):
            if kind in ("str", "int", "float", "bool", "NoneType"):
                return repr(value) if kind != "str" else _quoted(str(value))
        case ir.Global(name):
            return name
        case ir.Param(0):
            return "self"
        case ir.Param(index):
            return _parameter(index, frame, model, kept)
        case ir.Attr(base, name):
            if ir.is_self(model.ev.expr(frame, base)) and not _is_stored_once(name, frame, model):
                raise _Unwritable
            return f"{_operand(base, frame, model, kept)}.{name}"
        case ir.Bin(op, left, right):
            return f"{_operand(left, frame, model, kept)} {op} {_operand(right, frame, model, kept)}"
        case ir.Call(func, args):
            inner = [_argument(arg, frame, model, kept) for arg in args]
            return f"{_write(func, frame, model, kept)}({', '.join(inner)})"
    raise _Unwritable


def _operand(number: int, frame: Frame, model: Model, kept: list[str]) -> str:
    text = _write(number, frame, model, kept)
    return f"({text})" if isinstance(model.ev.expr(frame, number), ir.Bin) else text


def _quoted(text: str) -> str:
    if any(sign in text for sign in '"\\{}\n\r') or len(text) >= 1000:
        raise _Unwritable
    return f'"{text}"'


def _argument(arg: ir.Arg, frame: Frame, model: Model, kept: list[str]) -> str:
    if arg.kind not in ("pos", "kw"):
        raise _Unwritable
    text = _write(arg.value, frame, model, kept)
    return f"{arg.name}={text}" if arg.kind == "kw" else text


def _parameter(index: int, frame: Frame, model: Model, kept: list[str]) -> str:
    """The attribute that stores a parameter unchanged; a new one if there is none."""
    name = model.def_of(frame).params[index].name
    if model.remembered(_is_bound_again, name, frame):
        raise _Unwritable  # the name has another value where the new statement would go
    attribute = model.remembered(_keeper, index, frame)
    if attribute is None:
        kept.append(f"self._{name} = {name}")
    return f"self.{attribute or f'_{name}'}"


def _is_bound_again(name: str, frame: Frame, model: Model) -> bool:
    return any(step.name == name for _, step in frame.code.steps_of(ir.Bind))


def _keeper(index: int, frame: Frame, model: Model) -> str | None:
    """The attribute that stores a parameter unchanged."""
    for _, step in frame.code.steps_of(ir.SetAttr):
        if step.context == 0 and _is_stored_once(step.name, frame, model):
            value = model.ev.expr(frame, step.value)
            if type(value) is ir.Param and value.index == index and ir.is_self(model.ev.expr(frame, step.base)):
                return step.name
    return None


def _is_stored_once(name: str, frame: Frame, model: Model) -> bool:
    """Whether attribute `name` keeps its first value: no other assignment is known."""
    if not isinstance(frame.receiver, Instance):
        return False
    return len(model.ev.classes.stores(frame.receiver, name)) <= 1


def read_elsewhere(cls: ClassRef, name: str, model: Model, frames: Iterable[Frame] | None = None) -> Iterator[Frame]:
    """The frames in workers (or among `frames`), outside the class's own methods, that read attribute `name` of objects
    of the class, or the class's own: `type(self).rng`."""
    if frames is None:
        reads: Iterable[tuple[Frame, int]] = model.once(_reads_in_workers).get(name, ())
    else:
        reads = ((frame, base) for frame in frames for base in _reads(frame, name, model))
    for frame, base in reads:
        if _is_own_self(base, cls, frame, model):
            continue
        owners = model.ev.eval(base, frame).only(Instance, ClassRef)
        classes = (one.cls if isinstance(one, Instance) else one for one in owners)
        if any(cls in model.ev.classes.mro(one) for one in classes):
            yield frame


def _reads(frame: Frame, name: str, model: Model) -> Iterator[int]:
    """The expressions of which a frame reads attribute `name`."""
    file = model.files.file(frame.path)
    if file is not None and file.pieces[frame.piece].holds(name):
        yield from (e.base for e in _attributes(frame, model) if e.name == name)


def _reads_in_workers(model: Model) -> Mapping[str, Sequence[tuple[Frame, int]]]:
    """The attributes that workers read, by name: the reading frames, each with the expression of the object."""
    found: dict[str, list[tuple[Frame, int]]] = {}
    for frame in model.reached:
        for e in _attributes(frame, model):
            found.setdefault(e.name, []).append((frame, e.base))
    return found


def _attributes(frame: Frame, model: Model) -> Iterator[ir.Attr]:
    expressions = (model.ev.expr(frame, number) for number in sorted(model.ev.evaluated(frame)))
    return (e for e in expressions if isinstance(e, ir.Attr))


def _is_own_self(base: int, cls: ClassRef, frame: Frame, model: Model) -> bool:
    """Whether an expression is `self` in a method of the class, or in a function nested in one."""
    e = model.ev.expr(frame, base)
    here: Frame | None = frame
    while here is not None and isinstance(e, ir.Capture) and here.owner is None:
        here = here.scope
    return here is not None and here.owner == cls and isinstance(e, ir.Param | ir.Capture)


def constant_source(number: int, frame: Frame, model: Model) -> str | None:
    """A constant as it can be written anywhere: literals, also in lists, tuples and dicts; None for anything else."""
    try:
        return _constant(number, frame, model)
    except _Unwritable:
        return None


def _constant(number: int, frame: Frame, model: Model) -> str:
    e = model.ev.expr(frame, number)
    match e:
        case ir.Const(kind, _) if kind in ("str", "int", "float", "bool", "NoneType"):
            return _write(number, frame, model, [])
        case ir.Unary("-", operand):
            return f"-{_constant(operand, frame, model)}"
        case ir.Seq("list", items):
            return f"[{', '.join(_constant(item, frame, model) for item in items)}]"
        case ir.Seq("tuple", items) if items:
            inner = ", ".join(_constant(item, frame, model) for item in items)
            return f"({inner},)" if len(items) == 1 else f"({inner})"
        case ir.Map(keys, values) if NONE not in keys:
            pairs = zip(keys, values, strict=True)
            inner = ", ".join(
                f"{_constant(key, frame, model)}: {_constant(value, frame, model)}" for key, value in pairs
            )
            return f"{{{inner}}}"
    raise _Unwritable
