"""How the authors of a project break calls over lines, as far as their code tells."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import lru_cache

#: A comma at the end of a line, above a line that begins with `)`.
_CLOSED_BELOW = re.compile(r",[ \t]*(?:#.*)?[\r\n]+[ \t]*\)")
#: An opening bracket at the end of a line, one line without a comma at its end, and a line that begins with `)`.
_ONE_LINE_INSIDE = re.compile(r"\([ \t]*(?:\r\n|\r|\n)[ \t]+[^\r\n]*[^,\s(][ \t]*(?:\r\n|\r|\n)[ \t]*\)")
#: The first line of a call that goes on below, with arguments on both; not one that is commented out.
_GOES_ON_BELOW = re.compile(r"^[^#\r\n]*\w\([^()\[\]{}'\"#\r\n]+,[ \t]*[\r\n]", re.MULTILINE)
#: So many files that look formatted, and more than so many times the others, are a habit.
_AT_LEAST, _CLEARLY = 2, 4


def looks_formatted(text: str, in_string: Container[int] = ()) -> bool | None:
    """Whether a file looks as if black or ruff had formatted it: it has brackets that close on a line of their own, as
    these write them, and no call whose arguments go on below its first ones. None if no bracket tells. `in_string`: the
    lines (0-based) that begin in strings, which formatters leave alone."""
    for found in _GOES_ON_BELOW.finditer(text):
        below = text.count("\n", 0, found.end() - 1) + 1
        if below not in in_string:
            return False
    return True if _CLOSED_BELOW.search(text) or _ONE_LINE_INSIDE.search(text) else None


def look_formatted(folders: Iterable[Iterable[bytes]]) -> bool:
    """Whether nearly all files that have such brackets look formatted, and several do. Files of further folders are
    asked only where those of the nearer ones tell too little."""
    told: list[bool] = []
    for files in folders:
        told += [found for found in map(_looks_formatted, files) if found is not None]
        if len(told) >= _AT_LEAST:
            break
    return told.count(True) >= max(_AT_LEAST, _CLEARLY * told.count(False) + 1)


@lru_cache(maxsize=128)
def _looks_formatted(data: bytes) -> bool | None:
    return looks_formatted(data.decode("utf-8", "replace"))
