"""Decides whether a piece is small enough to be parsed. Trees and facts take about a kilobyte for each token, two
hundred times the text. Larger pieces are data written by a program, on which no loader depends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loaderlint.syntax.cutter import Piece, without_strings

#: The maximum number of tokens of one piece, a string counting as one: 300 MB of memory. Hand-written tables have fewer
#: than 50,000.
MAX_TOKENS = 300_000
#: The maximum number of braces of one piece with formatted strings: Python 3.11 and older take quadratic time for the
#: fields of one.
MAX_FIELDS = 20_000

_TOKEN = re.compile(r"\w+|[^\w\s]")
#: The maximum number of clauses at module level. Python's own parser accepts about 3,000 `elif` in a row (3.11).
MAX_CLAUSES = 50_000
_FORMATTED = re.compile(r"\b[rR]?[fFtT][rR]?['\"]")


def has_too_many_clauses(pieces: Sequence[Piece]) -> bool:
    """Whether a file has too many branches and loops at module level to be parsed."""
    return len(pieces) > MAX_CLAUSES and sum(piece.kind == "clause" for piece in pieces) > MAX_CLAUSES


def is_too_large(text: str) -> bool:
    """Whether a piece with this text is too large to be parsed."""
    if len(text) <= MAX_FIELDS:  # nearly all pieces
        return False
    if text.count("{") > MAX_FIELDS and _FORMATTED.search(text) is not None:
        return True
    if len(text) <= MAX_TOKENS:
        return False
    code = without_strings(text, "0")
    return len(code) > MAX_TOKENS and any(number == MAX_TOKENS for number, _ in enumerate(_TOKEN.finditer(code)))
