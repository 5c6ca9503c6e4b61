"""The parts of string literals, read from the text: Python's tree joins adjacent strings."""

from __future__ import annotations

import re
from typing import TypeAlias

#: What may stand between two tokens, backslashes at line ends included.
TRIVIA = re.compile(r"(?:\s+|\\|#[^\r\n]*)*")

_OPENING = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_ESCAPE = r"\\(?:\r\n|.)"
#: The rest of a string behind its opening quotes.
_REST = {
    quote: re.compile(pattern, re.DOTALL)
    for quote, pattern in (
        ("'", rf"[^'\\]*(?:{_ESCAPE}[^'\\]*)*'"),
        ('"', rf'[^"\\]*(?:{_ESCAPE}[^"\\]*)*"'),
        ("'''", rf"[^'\\]*(?:(?:{_ESCAPE}|'(?!''))[^'\\]*)*'''"),
        ('"""', rf'[^"\\]*(?:(?:{_ESCAPE}|"(?!""))[^"\\]*)*"""'),
    )
}
#: What matters in the text of a formatted string. The names of characters (`\N{BULLET}`) are not read.
_IN_TEXT = re.compile(r"\{\{|\}\}|\\(?:\r\n|[^{}N])|[{}'\"\\]", re.DOTALL)
#: What matters in an expression between its braces.
_IN_EXPRESSION = re.compile(r"!=|[{}()\[\]:#\\'\"]")
_FORMAT = re.compile(r"[^'\"\\{}]*")

#: The parts of a formatted string or format: None for a text, for an expression the parts of its format.
Parts: TypeAlias = "list[Parts | None]"


class Unclear(Exception):
    """What was asked for is not certain."""


def parts_of_strings(source: str, start: int, end: int) -> list[Parts]:
    """The parts of each of the strings that stand from `start` to `end`; a plain string has none.

    Raises Unclear for template strings, for strings in formatted strings that are formatted or several themselves, and
    for other things that are rare."""
    found: list[Parts] = []
    while start < end:
        opening = _OPENING.match(source, start)
        parts: Parts = []
        if opening is not None and opening[1] and "f" in opening[1].lower():
            parts, start = _formatted(source, opening.end(), opening[2])
        else:
            start = _plain_end(source, start)
        found.append(parts)
        if start < end:
            start = _past_trivia(source, start)
    if start != end:
        raise Unclear
    return found


def _past_trivia(source: str, start: int) -> int:
    return TRIVIA.match(source, start).end()  # type: ignore[union-attr]  # matches always


def _plain_end(source: str, start: int) -> int:
    """Where the plain string ends that begins at `start`."""
    opening = _OPENING.match(source, start)
    if opening is None or not set("fFtT").isdisjoint(opening[1]):
        raise Unclear
    rest = _REST[opening[2]].match(source, opening.end())
    if rest is None:
        raise Unclear
    return rest.end()


def _formatted(source: str, start: int, quote: str) -> tuple[Parts, int]:
    """The parts of a formatted string from behind its opening `quote` on, and where it ends."""
    parts: Parts = []
    begun = start
    while True:
        found = _IN_TEXT.search(source, start)
        if found is None:
            raise Unclear
        at, start = found.span()
        sign = found[0]
        if sign == "{" or source.startswith(quote, at):
            if at > begun:
                parts.append(None)
            if sign != "{":
                return parts, at + len(quote)
            inside, begun = _expression(source, start)
            parts.append(inside)
            start = begun
        elif sign in ("}", "\\"):
            raise Unclear


def _expression(source: str, start: int) -> tuple[Parts, int]:
    """The parts of the format of an expression from behind its opening brace on, and where its braces end."""
    depth = 0
    while True:
        found = _IN_EXPRESSION.search(source, start)
        if found is None:
            raise Unclear
        sign, start = found[0], found.end()
        if sign in "'\"":
            start = _string_end(source, start - 1)
        elif sign in "([{":
            depth += 1
        elif sign in ")]}" and depth:
            depth -= 1
        elif sign == "}":
            return [], start
        elif sign == ":" and not depth:
            return _format(source, start)
        elif sign in "#\\":
            raise Unclear


def _string_end(source: str, quote: int) -> int:
    """Where a string in an expression ends, whose quotes open at `quote`."""
    start = quote
    while source[start - 1].isalpha():
        start -= 1
    end = _plain_end(source, start)
    if _OPENING.match(source, _past_trivia(source, end)):
        raise Unclear
    return end


def _format(source: str, start: int) -> tuple[Parts, int]:
    """The parts of a format from behind its colon on, and where the braces around end."""
    parts: Parts = []
    while True:
        end = _FORMAT.match(source, start).end()  # type: ignore[union-attr]  # matches always
        if end > start:
            parts.append(None)
        if source.startswith("}", end):
            return parts, end + 1
        if not source.startswith("{", end) or source.startswith("{{", end):
            raise Unclear
        inside, start = _expression(source, end + 1)
        if inside:
            raise Unclear
        parts.append(inside)
