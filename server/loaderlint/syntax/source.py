"""Converts bytes to text and back, and offsets to line numbers.

Line ends are `\\n`, `\\r\\n` and `\\r` only, as in Python's grammar and in the language server protocol;
`str.splitlines` also splits at form feeds and other characters and is never used.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right

from msgspec import Struct

from loaderlint.files.reading import SOURCE

#: Files with more bytes are not read: they contain data, and would block an editor for seconds.
MAX_BYTES = SOURCE.size

_LINE_END = re.compile(r"\r\n|\r|\n")
_WHOLE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
#: The bytes that program text consists of.
_ASCII = b"\t\n\r" + bytes(range(32, 127))
_WIDE_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class UnreadableSource(Exception):
    """The bytes are not readable Python source; the message, for users, says why."""


class Source(Struct, frozen=True):
    """A decoded file.

    `text` has no byte order mark; `bom` says that the file had one. `encoding` is a codec's name. `newline` is '\\n',
    '\\r\\n', '\\r', 'mixed', or '' if there is no line end. `oddities` are the reasons, as text for users, why no fix
    should be offered; empty for a usual file. `unknown_encoding` is the name in an encoding cookie that Python does not
    know; the file was read as UTF-8 then."""

    text: str
    encoding: str
    bom: bool
    newline: str
    oddities: tuple[str, ...]
    unknown_encoding: str = ""

    def encode(self, text: str) -> bytes:
        """`text` as bytes of this file: same encoding, same byte order mark.

        Raises UnicodeEncodeError if the encoding cannot represent it."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


def decode(data: bytes) -> Source:
    """The source in `data`, decoded as Python would (PEP 263).

    Raises UnreadableSource for binary data, unknown or wrong encodings and more than `MAX_BYTES` bytes."""
    if len(data) > MAX_BYTES:
        raise UnreadableSource(f"too large: {len(data):,} bytes, the limit is {MAX_BYTES:,}")
    for mark, name in _WIDE_BOMS:
        if data.startswith(mark):
            raise UnreadableSource(f"{name} is not a Python source encoding; save the file as UTF-8")
    if b"\0" in data:
        raise UnreadableSource("binary: it contains NUL bytes")
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding, unknown = _encoding(body, bom)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        named = f"unknown encoding {unknown}, and " if unknown else ""
        raise UnreadableSource(f"{named}not valid {encoding}: byte 0x{body[error.start]:02x} on line {line}") from error
    except ValueError as error:  # some codecs raise plain ValueErrors
        raise UnreadableSource(f"not valid {encoding}: {error}") from error
    newline = find_newline(text)
    return Source(text, encoding, bom, newline, _oddities(text, bom, newline, body, encoding, unknown), unknown)


def is_plain(data: bytes) -> bool:
    """Whether a quick check shows that `decode` accepts `data`: UTF-8 without another declared encoding."""
    if len(data) > MAX_BYTES or b"\0" in data or _cookie(data) not in (None, "utf-8"):
        return False
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def find_newline(text: str) -> str:
    """The line end that `text` uses: '\\n', '\\r\\n', '\\r', 'mixed', or '' if it has none."""
    windows = text.count("\r\n")
    old_mac = text.count("\r") - windows
    unix = text.count("\n") - windows
    kinds = [end for end, count in (("\n", unix), ("\r\n", windows), ("\r", old_mac)) if count]
    if not kinds:
        return ""
    return kinds[0] if len(kinds) == 1 else "mixed"


def lines_of(text: str) -> list[str]:
    """The lines of `text` without their ends; the text after the last end is a line unless it is empty."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def whole_lines(text: str) -> list[str]:
    """The lines of `text` with their ends."""
    return _WHOLE_LINE.findall(text)


def _encoding(body: bytes, bom: bool) -> tuple[str, str]:
    """The codec of a file, and the name in its cookie if Python knows no such codec.

    Such a file is UTF-8 in almost all cases: tools register their own codecs (`future_fstrings`), or a name is
    misspelt. Raises UnreadableSource for codecs that source cannot be written in."""
    name = _cookie(body)
    if name is None:
        return "utf-8", ""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError, ImportError):
        return "utf-8", name
    if not _keeps_ascii(codec):
        raise UnreadableSource(f"not a Python source encoding: {name}; save the file as UTF-8 without this cookie")
    if bom and codec.name not in ("utf-8", "utf-8-sig"):
        raise UnreadableSource(f"the byte order mark says UTF-8, the encoding cookie says {name}; remove one of them")
    return "utf-8" if codec.name == "utf-8-sig" else codec.name, ""


def _keeps_ascii(codec: codecs.CodecInfo) -> bool:
    """Whether a codec decodes ASCII bytes to the same characters: not UTF-16, codecs that transform text (`rot13`,
    `hex`, `idna`), and those with escapes (`unicode_escape`, `utf-7`). A cookie, which is ASCII, could not declare one
    of them."""
    if not getattr(codec, "_is_text_encoding", True):
        return False
    try:
        return bool(
            _ASCII.decode(codec.name) == _ASCII.decode("ascii") and _ASCII.decode().encode(codec.name) == _ASCII
        )
    except Exception:  # a codec may raise anything
        return False


def _cookie(body: bytes) -> str | None:
    """The encoding that a comment in the first two lines names (PEP 263)."""
    for line in re.split(rb"\r\n|\r|\n", body[:4096], maxsplit=2)[:2]:
        if found := _COOKIE.match(line):
            return found[1].decode("ascii", "replace").lower()
        if not _BLANK.match(line):
            return None
    return None


def _oddities(text: str, bom: bool, newline: str, body: bytes, encoding: str, unknown: str) -> tuple[str, ...]:
    reasons = [f"unknown encoding {unknown}"] if unknown else []
    if bom:
        reasons.append("byte order mark")
    if newline == "mixed":
        reasons.append("mixed line endings")
    if newline == "\r":
        reasons.append("line endings of old Mac OS")
    if "\f" in text:
        reasons.append("form feed")
    if text.encode(encoding, "replace") != body:
        reasons.append(f"{encoding} does not give the same bytes back")
    return tuple(reasons)


class LineIndex:
    """Converts offsets to lines and columns of one text, and back. All are 0-based; columns and offsets are in
    characters."""

    __slots__ = ("_length", "_starts")

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._length = len(text)

    def line_start(self, line: int) -> int:
        """The offset of the first character of `line`; the length of the text for lines after the last one."""
        return self._starts[line] if line < len(self._starts) else self._length

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of `offset` (clamped into the text)."""
        offset = min(max(offset, 0), self._length)
        line = bisect_right(self._starts, offset) - 1
        return line, offset - self._starts[line]

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column; a column after the line's end gives the start of the next line."""
        return min(self.line_start(line) + column, self.line_start(line + 1))
