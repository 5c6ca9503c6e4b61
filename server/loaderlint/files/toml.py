"""Reads TOML from untrusted files: always in a short time, and with one kind of error only."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The maximum number of dots in a name: the parser takes quadratic time for them.
_MOST_DOTS = 200
_TOKEN = re.compile(r"""([\w-]+|"[^"]*"|'[^']*')|(\.)|([ \t]+)|[^\n]""")


class BadToml(ValueError):
    """A text that is not TOML or cannot be read; the message, for users, says why."""


def parsed(data: bytes) -> dict[str, Any]:
    """The document in the bytes of a file. Raises BadToml."""
    try:
        text = data.decode("utf-8-sig")
        if any(line.count(".") > _MOST_DOTS and _has_many_dots(line) for line in text.split("\n")):
            raise ValueError(f"a name has more than {_MOST_DOTS} dots")
        document: dict[str, Any] = tomllib.loads(text)
        return document
    except RecursionError:
        raise BadToml("it is nested too deeply") from None
    except ValueError as error:  # the parser's own error, or Python's for a number with too many digits
        raise BadToml(str(error)) from error


def _has_many_dots(line: str) -> bool:
    """Whether a line contains a name such as `a.b.c` with too many dots."""
    dots = 0
    for name, dot, space in _TOKEN.findall(line):
        dots = dots + 1 if dot else dots if name or space else 0
        if dots > _MOST_DOTS:
            return True
    return False
