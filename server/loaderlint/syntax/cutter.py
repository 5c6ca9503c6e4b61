"""Text to pieces."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Piece(NamedTuple):
    """A part of a file that is parsed and remembered on its own.

    `kind`: 'statement'; 'class' for the head of a class (decorators and `class X(...):`), its members follow as pieces
    of their own; 'clause' for the head of a long suite outside functions, its statements follow. `keyword` is the
    clause's ('if', 'elif', 'else', 'for', 'async for', ...) and '' for other kinds. `text` is the source from column 0
    of the first line, without the blank and comment lines before it. `start` is its offset in the file, `line` its
    first line from 0, `parent` the index of the class or clause that it stands in or -1. `seen` is how many characters
    from `start` on the cut depended on."""

    kind: Literal["statement", "class", "clause"]
    keyword: str
    text: str
    start: int
    line: int
    parent: int
    seen: int
