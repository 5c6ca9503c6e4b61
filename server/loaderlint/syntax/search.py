"""What is found in the bytes of a file that nobody cuts or parses."""

from __future__ import annotations

import re
from typing import AnyStr

#: How far behind the name of a class its bases are looked for.
_REACH = 4_000
#: How far an edit may stand from the `class` of a statement whose bases it changes.
BASES_SPAN = _REACH + 500

_HEAD = re.compile(
    rb"class[ \t]+\w+[ \t]*(?:\[[^\]\r\n]{0,400}\][ \t]*)?"
    rb"\(([\s\S]{0,%d}?)(?::[ \t]*(?:#[^\r\n]*)?[\r\n]|\Z)|class[ \t]+\w+[ \t]*\(([\s\S]{0,%d})" % (_REACH, _REACH)
)
_WORD = re.compile(rb"\w+")


def bases(data: bytes) -> frozenset[bytes]:
    """The ASCII words in the heads of all classes that have bases, up to the first line that ends with a colon; some
    others too. None that the cutter would see in the head of a class is missing."""
    if b"class" not in data:
        return frozenset()
    return frozenset(word for head in _HEAD.findall(data) for part in head for word in _WORD.findall(part))


def calls(text: str, name: str) -> bool:
    """Whether a text may call something called `name`; that it defines it is no call."""
    return _found(text, f"{name}(", "def ") or _found(text, f"{name} (", "def ")


def calls_in(data: bytes, name: bytes) -> bool:
    """The same of the bytes of a file."""
    return _found(data, name + b"(", b"def ") or _found(data, name + b" (", b"def ")


def _found(text: AnyStr, wanted: AnyStr, before: AnyStr) -> bool:
    """Whether `wanted` is somewhere in `text` where it does not follow `before`."""
    at = text.find(wanted)
    while at >= 0:
        if not text.endswith(before, 0, at):
            return True
        at = text.find(wanted, at + 1)
    return False
