"""Creates suppression comments: the text that silences a finding, and its place. Nothing in the file is removed, not
even a space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from loaderlint.findings.read_suppressions import lines_in_strings, suppressions

#: Our own comment with its names; group 1 is the text after the last name.
_NAMES = re.compile(r"#\s*loaderlint:\s*ignore\s*\[[^\]]*?(,?\s*)\]")


class Place(Protocol):
    """The lines of a finding, from 0; the end is exclusive."""

    @property
    def line(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def end_column(self) -> int: ...


class Insertion(NamedTuple):
    """Put `text` at `column` (0-based, in characters) of `line` (0-based), replacing the text up to `end_column`."""

    line: int
    column: int
    end_column: int
    text: str


class Suppressing:
    """Proposes comments for the findings of a document with these lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._added: set[tuple[int, str]] = set()
        # A comment is checked with its line alone, or with the string in which the line begins: reading the whole text
        # for each of many findings would take quadratic time.
        self._begun = lines_in_strings("".join(lines))

    def suppress(self, span: Place, name: str, code: str) -> bool:
        """Insert the comment for a finding, so that later insertions see it, unless one for the same rule was inserted
        there before. Returns whether a comment is possible there."""
        if not self._added.isdisjoint(((span.line, name), (_last_line(span), name))):
            return True
        insertion = self.insertion(span, name, code)
        if insertion is None:
            return False
        self._lines[insertion.line] = self._with(insertion)
        self._added.add((insertion.line, name))
        return True

    @property
    def text(self) -> str:
        """The whole document with the inserted comments."""
        return "".join(self._lines)

    def insertion(self, span: Place, name: str, code: str) -> Insertion | None:
        """The insertion that silences the finding of the rule at `span`.

        None if neither its first nor its last line can have a comment: inside a string, or after a line continuation.
        The comment was read back, so it does silence the rule there."""
        for line in dict.fromkeys((span.line, _last_line(span))):
            if line < len(self._lines):
                insertion = _on(self._lines[line], line, name)
                if insertion is not None and self._works(insertion, name, code):
                    return insertion
        return None

    def _with(self, insertion: Insertion) -> str:
        line = self._lines[insertion.line]
        return line[: insertion.column] + insertion.text + line[insertion.end_column :]

    def _works(self, insertion: Insertion, name: str, code: str) -> bool:
        first = self._begun.get(insertion.line, insertion.line)
        comments = suppressions("".join((*self._lines[first : insertion.line], self._with(insertion))))
        return any(first + comment.line == insertion.line and comment.covers(name, code) for comment in comments)


def _last_line(span: Place) -> int:
    """The last line that contains a part of `span`, 0-based."""
    return span.end_line - 1 if span.end_column == 0 and span.end_line > span.line else span.end_line


def _on(line: str, number: int, name: str) -> Insertion | None:
    text = line.rstrip("\r\n")
    if text.endswith("\\"):
        return None
    if found := _NAMES.search(text):
        start, end = found.span(1)
        empty = text[:start].rstrip().endswith("[")
        return Insertion(number, start, end, name if empty else f", {name}")
    gap = " " * max(0, 2 - (len(text) - len(text.rstrip())))
    return Insertion(number, len(text), len(text), f"{gap}# loaderlint: ignore[{name}]")
