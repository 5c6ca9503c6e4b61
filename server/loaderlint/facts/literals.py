"""Literals of the source to `Const`."""

from __future__ import annotations

import ast
import re

import libcst as cst

from loaderlint.facts.ir import Const, Expr, Opaque

#: Longer strings are cut: nobody reads more of them, and facts are kept in memory.
MAX_TEXT = 1000

#: The names that are literals.
CONSTANTS = {"None": Const("NoneType", None), "True": Const("bool", True), "False": Const("bool", False)}
ELLIPSIS = Const("ellipsis", None)

_PREFIX = re.compile(r"[A-Za-z]*")


def string(node: cst.SimpleString) -> Const | Opaque:
    """The string or bytes literal `node`."""
    return _const(_value(node.value))


def joined(nodes: list[cst.SimpleString]) -> Const | Opaque:
    """The literals `nodes`, written next to each other, as one."""
    values = [_value(node.value) for node in nodes]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return _const("".join(texts))
    parts = [value for value in values if isinstance(value, bytes)]
    return _const(b"".join(parts) if len(parts) == len(values) else None)


def number(node: cst.Integer | cst.Float | cst.Imaginary, sign: int = 1) -> Expr:
    """The number `node`, negated if `sign` is -1. A complex number's value is its `repr`."""
    text = node.value
    try:
        if isinstance(node, cst.Integer):
            return Const("int", sign * int(text, 0))
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):  # an integer with more digits than Python converts
        return Opaque("number")
    if isinstance(value, float):
        return Const("float", sign * value)
    return Const("complex", repr(sign * value))


def _value(text: str) -> str | bytes | None:
    if "\\" not in text:
        first = text[0]
        if first == '"' or first == "'":
            return _inside(text)
        prefix = _PREFIX.match(text)[0]  # type: ignore[index]  # matches always
        if "b" not in prefix and "B" not in prefix:
            return _inside(text[len(prefix) :])
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str | bytes) else None


def _inside(quoted: str) -> str:
    """What stands between the quotes."""
    if quoted[:3] in ('"""', "'''") and len(quoted) >= 6:
        inside = quoted[3:-3]
        return inside.replace("\r\n", "\n").replace("\r", "\n") if "\r" in inside else inside
    return quoted[1:-1]


def _const(value: str | bytes | None) -> Const | Opaque:
    if value is None:
        return Opaque("string")
    if isinstance(value, bytes):
        return Const("bytes", repr(value)[:MAX_TEXT])
    return Const("str", value[:MAX_TEXT] if len(value) > MAX_TEXT else value)
