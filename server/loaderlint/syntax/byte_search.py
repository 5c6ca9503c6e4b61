"""Searches in the bytes of a file, without cutting or parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: How far after the name of a class its bases are searched for, in bytes.
_REACH = 4_000
#: How far an edit may be from the `class` of a statement whose bases it changes.
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
#: The start of a line that begins with an import, and other text that may precede an import.
_FIRST = (b"from", b"import", b"\xef\xbb\xbf")
_JOINING = (b";", b":", b"\\")
_QUOTED = re.compile(rb"[\"'](%(n)s+\.%(n)s*)" % {b"n": _NAME})
_GIVEN = re.compile(rb"(?:import_module|__import__)\(\s*f?[\"'](%(n)s+(?:\.%(n)s+)?)" % {b"n": _NAME})


def bases(data: bytes) -> frozenset[bytes]:
    """The ASCII words in the heads of all classes that have bases, up to the first line that ends with a colon. A
    superset of the words that the cutter finds there."""
    if b"class" not in data:
        return frozenset()
    return frozenset(word for head in _HEAD.findall(data) for part in head for word in _WORD.findall(part))


def imported(data: bytes) -> frozenset[str]:
    """The modules that a file imports, up to the second part of their names; relative ones begin with dots. A superset:
    it includes what looks like an import on a line of a string, and, in a file that imports by a string, all dotted
    names in quotes."""
    found: set[bytes] = set()
    for match in _imports(data):
        dots, module, modules = match.groups(b"")
        if dots or module:
            found.add(dots or module)
        else:
            found.update(one.split()[0] for one in modules.replace(b"\\", b" ").split(b",") if one.strip())
    if b"import_module(" in data or b"__import__(" in data:
        found.update(name.rstrip(b".") for name in (*_QUOTED.findall(data), *_GIVEN.findall(data)))
    short = (one if one[:1] == b"." else b".".join(one.split(b".")[:2]) for one in found)
    return frozenset(one.decode("utf-8", "replace") for one in short)


def _imports(data: bytes) -> Iterator[re.Match[bytes]]:
    """The texts that look like an import where a statement may begin. Only lines with the word are examined: finding a
    word takes a tenth of the time of finding a statement."""
    at = data.find(b"import")
    while at >= 0:
        start, end = _line_around(data, at)
        line = data[start:end].lstrip()
        if line.startswith(_FIRST) or any(sign in line for sign in _JOINING):
            yield from (one for one in _IMPORT.finditer(data, start, end) if _begins(data, one.start()))
        at = data.find(b"import", end)


def _line_around(data: bytes, at: int) -> tuple[int, int]:
    """The start and end of the line with an offset, including lines that a backslash joins to it."""
    start = _line_start(data, at)
    while data.endswith((b"\\\n", b"\\\r\n"), 0, start):
        start = _line_start(data, start - 2)
    end = _line_end(data, at)
    while data.endswith((b"\\", b"\\\r"), start, end) and end < len(data):
        end = _line_end(data, end + 1)
    return start, end


def _line_start(data: bytes, at: int) -> int:
    start = data.rfind(b"\n", 0, at) + 1
    return max(start, data.rfind(b"\r", start, at) + 1)


def _line_end(data: bytes, at: int) -> int:
    """The offset of the next line end, including a carriage return before it."""
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    alone = data.find(b"\r", at, end - 1)
    return end if alone < 0 else alone


def _begins(data: bytes, at: int) -> bool:
    """Whether a statement may begin here: on a line of its own, or after another one or its head."""
    before = data[_line_start(data, at) : at].strip()
    return before in (b"", b"\xef\xbb\xbf") or before[-1:] in b";:"


#: The separator between the words of an index (see `called`).
SEPARATOR = b"\n"
_DEFINES = b" fed"
_CALLED = re.compile(rb"\( ?(%(n)s+)(%(d)s)?" % {b"n": _NAME, b"d": _DEFINES})
_NO_NAMES = bytes(sign if sign >= 0x80 or chr(sign).isalnum() or sign == ord("_") else 0x20 for sign in range(256))


def index(words: Iterable[bytes]) -> bytes:
    """The distinct words with separators around: the index contains a word if it contains `SEPARATOR + word +
    SEPARATOR`. It takes a tenth of the memory of a set, and `in` searches a kilobyte in 50 ns."""
    return SEPARATOR + SEPARATOR.join(set(words)) + SEPARATOR


def entry(word: str) -> bytes:
    """The entry of a word in an `index`."""
    return SEPARATOR + word.encode("utf-8", "surrogatepass") + SEPARATOR


def called(data: bytes) -> bytes:
    """The index of the names that a file may call: those before a bracket, perhaps with one space between. A definition
    is not a call."""
    # Search backwards, because brackets are rare and come after the names: the regular expression jumps to them.
    return index([name for name, defines in _CALLED.findall(data[::-1]) if not defines])[::-1]


def words(data: bytes) -> bytes:
    """The index of all runs of letters, digits, underscores and non-ASCII bytes."""
    return index(data.translate(_NO_NAMES).split())


def calls(text: str, name: str) -> bool:
    """Whether a text calls something called `name`, an identifier: whether `called` has it."""
    return _calls(text, name + "(") or _calls(text, name + " (")


def _calls(text: str, wanted: str) -> bool:
    at = text.find(wanted)
    while at >= 0:
        if not _is_in_name(text[at - 1 : at]) and not text.endswith("def ", 0, at):
            return True
        at = text.find(wanted, at + 1)
    return False


def _is_in_name(sign: str) -> bool:
    """Whether this character may be part of a name; every non-ASCII character counts."""
    return sign.isalnum() or sign == "_" or sign > "\x7f"
