"""Whether a piece is small enough to be parsed. Trees and facts take about a kilobyte for each token, two hundred times
the text. Larger pieces are data written by a program, on which no loader depends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loaderlint.syntax.cutter import Piece, without_strings

#: The tokens of one piece, strings counted as one each: 300 MB of memory. Tables that are written by hand have fewer
#: than 50,000.
MAX_TOKENS = 300_000
#: The braces of one piece with formatted strings: Python 3.11 and older take quadratic time for the fields of one.
MAX_FIELDS = 20_000

_TOKEN = re.compile(r"\w+|[^\w\s]")
#: Clauses at module level. Python's own parser takes some 3,000 `elif` in a row (3.11).
MAX_CLAUSES = 50_000
_FORMATTED = re.compile(r"\b[rR]?[fFtT][rR]?['\"]")


def has_too_many_clauses(pieces: Sequence[Piece]) -> bool:
    """Whether a file has more branches and loops at module level than are read."""
    return len(pieces) > MAX_CLAUSES and sum(piece.kind == "clause" for piece in pieces) > MAX_CLAUSES


def is_too_large(text: str) -> bool:
    """Whether a piece with this text has to be left out."""
    if len(text) <= MAX_FIELDS:  # nearly all pieces
        return False
    if text.count("{") > MAX_FIELDS and _FORMATTED.search(text) is not None:
        return True
    if len(text) <= MAX_TOKENS:
        return False
    code = without_strings(text, "0")
    return len(code) > MAX_TOKENS and any(number == MAX_TOKENS for number, _ in enumerate(_TOKEN.finditer(code)))
