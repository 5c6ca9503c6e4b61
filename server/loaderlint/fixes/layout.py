"""Where statements begin, and what goes with them."""

from __future__ import annotations

import re

from loaderlint.fixes.draft import Draft
from loaderlint.syntax.cutter import GOES_ON

#: Comments for tools: they are about the line or the statement that they stand behind, and go with it.
DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pylint:|ruff:|pyright:|mypy:|loaderlint:|pragma:|nosec|fmt:|isort:)", re.I)


def statement_piece(draft: Draft, piece: int) -> int:
    """The piece with which the module-level statement begins that a piece is or stands in."""
    first = [piece, *draft.above(piece)][-1]
    while draft.pieces[first].keyword in GOES_ON and first:
        first = [first - 1, *draft.above(first - 1)][-1]
    return first


def above_comments(draft: Draft, offset: int) -> int:
    """The start of the first of the comment lines that stand directly above the line at `offset`: they are about it."""
    while offset > 0:
        above = draft.line_start(offset - 1)
        if not draft.text[above:offset].lstrip().startswith("#"):
            break
        offset = above
    return offset
