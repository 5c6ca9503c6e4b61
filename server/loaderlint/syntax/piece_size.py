"""Whether a piece is small enough to be parsed: trees and facts take about a kilobyte for each token, two hundred times
the text. What is larger is data that a program wrote, and no loader rests on it."""

from __future__ import annotations

import re

from loaderlint.syntax.cutter import without_strings

#: The tokens of one piece, strings counted as one each: 300 MB of memory. Tables that are written by hand have fewer
#: than 50,000.
MAX_TOKENS = 300_000
#: The braces of one piece with formatted strings: Python 3.11 and older take quadratic time for the fields of one.
MAX_FIELDS = 20_000

_TOKEN = re.compile(r"\w+|[^\w\s]")
_FORMATTED = re.compile(r"\b[rR]?[fFtT][rR]?['\"]")


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
