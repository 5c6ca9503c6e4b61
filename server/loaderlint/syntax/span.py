"""Places in a text, and what is put there: without the parser, because what only shows them does not need it."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A place in a text: lines and columns in characters from 0, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class TextEdit(NamedTuple):
    """Replace what stands at `span` by `text`."""

    span: Span
    text: str
