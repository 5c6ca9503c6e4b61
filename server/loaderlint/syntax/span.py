"""Places in a text, and what is put there. Independent of the parser, because code that only shows them needs none."""

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
