"""Lines and columns of text as the protocol counts them.

Only `\\n`, `\\r\\n` and `\\r` end a line. `str.splitlines` also splits at form feeds, U+2028 and other characters and
is never used: from the first such character on, every position would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Protocol

from lsprotocol import types
from msgspec import Struct

#: The unit of a column: bytes, 16-bit units or characters.
Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Span(Protocol):
    """A place: 0-based lines and columns in characters, the end exclusive."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def end_column(self) -> int: ...


class Place(Struct, frozen=True):
    """A `Span` as a record."""

    line: int
    column: int
    end_line: int
    end_column: int


def touches(first: Span, second: Span) -> bool:
    """Whether two places overlap or meet."""
    return (first.line, first.column) <= (second.end_line, second.end_column) and (second.line, second.column) <= (
        first.end_line,
        first.end_column,
    )


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their endings; the last one, which has none, is included even if it is empty."""
    lines = _LINE.findall(text)
    if not lines or lines[-1][-1] in "\r\n":
        lines.append("")
    return lines


def content(line: str) -> str:
    """`line` without its line ending."""
    return line.rstrip("\r\n")


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """The 0-based character of `line` at `units` of `encoding`; at most the length of its content.

    A position in the middle of a character becomes its start."""
    text = content(line)
    if encoding == "utf-32" or text.isascii():
        return max(0, min(units, len(text)))
    passed = 0
    for column, character in enumerate(text):
        passed += _width(character, encoding)
        if passed > units:
            return column
    return len(text)


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The number of units of `encoding` in the first `column` characters of `line`, without the line ending."""
    text = content(line)[:column]
    if encoding == "utf-32" or text.isascii():
        return len(text)
    return sum(_width(character, encoding) for character in text)


def to_position(lines: Sequence[str], position: types.Position, encoding: Encoding) -> tuple[int, int]:
    """The (line, column) in characters of the client's position; the end of the text for positions beyond it."""
    if position.line >= len(lines):
        return len(lines) - 1, len(content(lines[-1]))
    return position.line, to_column(lines[position.line], position.character, encoding)


def to_range(lines: Sequence[str], span: Span, encoding: Encoding) -> types.Range:
    """`span` in the client's units. Positions beyond the text are moved to its end."""
    start = _client_position(lines, span.line, span.column, encoding)
    end = _client_position(lines, span.end_line, span.end_column, encoding)
    return types.Range(start=start, end=end)


def _client_position(lines: Sequence[str], line: int, column: int, encoding: Encoding) -> types.Position:
    if line >= len(lines):
        line, column = len(lines) - 1, len(lines[-1])
    return types.Position(line=line, character=to_units(lines[line], column, encoding))


def _width(character: str, encoding: Encoding) -> int:
    code = ord(character)
    if encoding == "utf-16":
        return 2 if code > 0xFFFF else 1
    if code < 0x80:
        return 1
    if code < 0x800:
        return 2
    return 3 if code < 0x10000 else 4
