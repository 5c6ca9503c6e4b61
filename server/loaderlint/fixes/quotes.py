"""Strings of inserted code in the quotes that the file uses."""

from __future__ import annotations

import io
import re
import tokenize

#: A short string on one line, as far as a look at the text tells.
_SINGLE, _DOUBLE = re.compile(r"(?<!')'[^'\"\n]+'(?!')"), re.compile(r"(?<!\")\"[^'\"\n]+\"(?!\")")
#: So many times more single quotes than double ones are a habit.
_CLEARLY = 2


def prefers_single(text: str) -> bool:
    """Whether a file writes its strings in single quotes."""
    singles = sum(1 for _ in _SINGLE.finditer(text))
    return singles > _CLEARLY * sum(1 for _ in _DOUBLE.finditer(text))


def single_quoted(source: str) -> str:
    """`source` with its strings in single quotes, but for docstrings and strings that hold quotes or backslashes; as it
    is where it is no whole code."""
    if '"' not in source:
        return source
    lines = source.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source
    for token in tokens:
        if token.type == tokenize.STRING and re.fullmatch(r"\"[^'\"\\]+\"", token.string):
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = f"{line[:column]}'{token.string[1:-1]}'{line[column + len(token.string) :]}"
    return "\n".join(lines)
