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

_SPACE = rb"(?:[ \t\f]|\\\r?\n)"
_NAME = rb"[\w\x80-\xff]"
_IMPORT = re.compile(
    rb"from%(s)s*(\.*)%(s)s*(%(n)s*(?:\.%(n)s+)?)[\w.\x80-\xff]*%(s)s+import\b"
    rb"|import%(s)s+((?:[.,]|%(n)s|%(s)s)+)" % {b"s": _SPACE, b"n": _NAME}
)
_QUOTED = re.compile(rb"[\"'](%(n)s+(?:\.%(n)s+)?)" % {b"n": _NAME})


def bases(data: bytes) -> frozenset[bytes]:
    """The ASCII words in the heads of all classes that have bases, up to the first line that ends with a colon; some
    others too. None that the cutter would see in the head of a class is missing."""
    if b"class" not in data:
        return frozenset()
    return frozenset(word for head in _HEAD.findall(data) for part in head for word in _WORD.findall(part))


def imported(data: bytes) -> frozenset[str]:
    """The modules that a file imports, as far as the second part of their names; dots for one that is named from the
    file's own folder. Some others too: what is written like an import in a text, and all words in quotes of a file that
    imports by a text."""
    if b"import" not in data:
        return frozenset()
    found = set()
    for dots, module, modules in _IMPORT.findall(data):
        if dots:
            found.add(dots)
        elif module:
            found.add(module)
        else:
            found.update(one.split()[0] for one in modules.replace(b"\\", b" ").split(b",") if one.strip())
    if b"import_module(" in data or b"__import__(" in data:
        found.update(_QUOTED.findall(data))
    return frozenset(
        b".".join(one.split(b".")[:2]).decode("utf-8", "replace") if one[:1] != b"." else one.decode() for one in found
    )


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
