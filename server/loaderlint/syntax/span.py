"""Places in a text, and edits to it. Independent of the parser, because code that only shows places does not need
one."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A place in a text: lines and columns are 0-based, columns in characters, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class TextEdit(NamedTuple):
    """Replace the text at `span` by `text`."""

    span: Span
    text: str
