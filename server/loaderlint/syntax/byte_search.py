"""Searches in the bytes of a file that is neither cut nor parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
#: How a line begins that begins with an import, and what else stands in front of one.
_FIRST = (b"from", b"import", b"\xef\xbb\xbf")
_JOINING = (b";", b":", b"\\")
_QUOTED = re.compile(rb"[\"'](%(n)s+\.%(n)s*)" % {b"n": _NAME})
_GIVEN = re.compile(rb"(?:import_module|__import__)\(\s*f?[\"'](%(n)s+(?:\.%(n)s+)?)" % {b"n": _NAME})


def bases(data: bytes) -> frozenset[bytes]:
    """The ASCII words in the heads of all classes that have bases, up to the first line that ends with a colon; some
    others too. None that the cutter would see in the head of a class is missing."""
    if b"class" not in data:
        return frozenset()
    return frozenset(word for head in _HEAD.findall(data) for part in head for word in _WORD.findall(part))


def imported(data: bytes) -> frozenset[str]:
    """The modules that a file imports, as far as the second part of their names; dots for one that is named from the
    file's own folder. Some others too: what is written like an import on a line of a text, and in a file that imports
    by a text all names in quotes that have parts, and those that are imported there and then."""
    found: set[bytes] = set()
    for match in _imports(data):
        dots, module, modules = match.groups(b"")
        if dots or module:
            found.add(dots or module)
        else:
            found.update(one.split()[0] for one in modules.replace(b"\\", b" ").split(b",") if one.strip())
    if b"import_module(" in data or b"__import__(" in data:
        found.update(name.rstrip(b".") for name in (*_QUOTED.findall(data), *_GIVEN.findall(data)))
    return frozenset(
        b".".join(one.split(b".")[:2]).decode("utf-8", "replace") if one[:1] != b"." else one.decode() for one in found
    )


def _imports(data: bytes) -> Iterator[re.Match[bytes]]:
    """What is written like an import where a statement may begin. Only lines that hold the word are looked at: to find
    a word takes a tenth of the time that it takes to find a statement."""
    at = data.find(b"import")
    while at >= 0:
        start, end = _line_around(data, at)
        line = data[start:end].lstrip()
        if line.startswith(_FIRST) or any(sign in line for sign in _JOINING):
            yield from (one for one in _IMPORT.finditer(data, start, end) if _begins(data, one.start()))
        at = data.find(b"import", end)


def _line_around(data: bytes, at: int) -> tuple[int, int]:
    """Where the line that holds an offset begins and ends, with those that a backslash joins to it."""
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
    """The next line end; a return in front of it belongs to it."""
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    alone = data.find(b"\r", at, end - 1)
    return end if alone < 0 else alone


def _begins(data: bytes, at: int) -> bool:
    """Whether a statement may begin here: on a line of its own, or behind another one or its head."""
    before = data[_line_start(data, at) : at].strip()
    return before in (b"", b"\xef\xbb\xbf") or before[-1:] in b";:"


#: What stands between the words of an index (see `called`).
SEPARATOR = b"\n"
_DEFINES = b" fed"
_CALLED = re.compile(rb"\( ?(%(n)s+)(%(d)s)?" % {b"n": _NAME, b"d": _DEFINES})
_NO_NAMES = bytes(sign if sign >= 0x80 or chr(sign).isalnum() or sign == ord("_") else 0x20 for sign in range(256))


def index(words: Iterable[bytes]) -> bytes:
    """The words, each once, with separators around: what holds `SEPARATOR + word + SEPARATOR` holds the word. It takes
    a tenth of the memory of a set, and `in` looks through a kilobyte, many a file, in 50 ns."""
    return SEPARATOR + SEPARATOR.join(set(words)) + SEPARATOR


def entry(word: str) -> bytes:
    """What an `index` with this word holds."""
    return SEPARATOR + word.encode("utf-8", "surrogatepass") + SEPARATOR


def called(data: bytes) -> bytes:
    """The index of the names that a file may call: those before a bracket, of which one space may keep them. That a
    file defines a name is no call."""
    # Read from the end, because brackets are rare and stand behind the names: the regular expression jumps to them.
    return index([name for name, defines in _CALLED.findall(data[::-1]) if not defines])[::-1]


def words(data: bytes) -> bytes:
    """The index of all runs of letters, digits, underscores and what is not ASCII."""
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
    """Whether a name may go on with this sign, as bytes tell: all that is not ASCII counts."""
    return sign.isalnum() or sign == "_" or sign > "\x7f"
