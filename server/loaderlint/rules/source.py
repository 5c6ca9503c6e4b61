"""Source text for expressions that a fix writes again in another method."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.frames import Frame
from loaderlint.project.model import Model


class _Unwritable(Exception):
    """The expression cannot be written again somewhere else."""


def source_of(number: int, frame: Frame, model: Model) -> tuple[str | None, list[str]]:
    """Expression `number` of a constructor as it can be written in another method of the class, and the statements that
    the constructor needs for it (a parameter that nothing keeps is stored on self); (None, []) where it cannot."""
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
            return f"{_write(base, frame, model, kept)}.{name}"
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
    """The attribute that keeps a parameter unchanged; a new one if none does."""
    one = model.def_of(frame)
    for step in one.steps:
        if isinstance(step, ir.SetAttr) and step.value != NONE and step.context == 0:
            if model.ev.expr(frame, step.value) == ir.Param(index) and model.ev.expr(frame, step.base) == ir.Param(0):
                return f"self.{step.name}"
    name = one.params[index].name
    kept.append(f"self._{name} = {name}")
    return f"self._{name}"
