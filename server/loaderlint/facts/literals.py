"""Literals of the source as `Const`."""

from __future__ import annotations

from loaderlint.facts.ir import Const

#: Longer strings are cut: the rest is not needed, and facts are kept in memory.
MAX_TEXT = 1000
#: Larger integers are cut: no rule distinguishes them, and those of many digits cannot be converted to text or float.
MAX_INTEGER = 10**300

_NONE, _TRUE, _FALSE = Const("NoneType", None), Const("bool", True), Const("bool", False)
_ELLIPSIS = Const("ellipsis", None)


def constant(value: object, sign: int = 1) -> Const:
    """The constant `value`, a number negated if `sign` is -1. A complex number's or bytes' value is its `repr`."""
    if isinstance(value, str):
        return Const("str", value[:MAX_TEXT] if len(value) > MAX_TEXT else value)
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, int):
        return Const("int", sign * min(value, MAX_INTEGER))
    if isinstance(value, float):
        return Const("float", sign * value)
    if isinstance(value, complex):
        return Const("complex", repr(sign * value))
    return Const("bytes", repr(value)[:MAX_TEXT]) if isinstance(value, bytes) else _ELLIPSIS


def is_number(value: object) -> bool:
    """Whether a literal's value is a number."""
    return isinstance(value, int | float | complex) and not isinstance(value, bool)
