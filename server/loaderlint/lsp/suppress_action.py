"""'Suppress here': the comment that silences a finding, and where it goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from loaderlint.findings.suppressions import lines_in_strings, suppressions
from loaderlint.lsp.text_positions import Span, content

#: Our own comment with its names; what stands behind the last name is group 1.
_NAMES = re.compile(r"#\s*loaderlint:\s*ignore\s*\[[^\]]*?(,?\s*)\]")


class Insertion(NamedTuple):
    """Put `text` at `column` (0-based, characters) of `line` (0-based), replacing what stands up to `end_column`."""

    line: int
    column: int
    end_column: int
    text: str


class Suppressing:
    """Proposes comments for the findings of a document with these lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        # A comment is read back with its line, or with the strings that this begins in: reading all of the text for
        # each of many findings would take quadratic time.
        self._begun = lines_in_strings("".join(lines))

    def insertion(self, span: Span, name: str, code: str) -> Insertion | None:
        """Where and what to write so that the finding of the rule at `span` is silenced.

        None if no comment can stand on its first or its last line: inside a string, or behind a line continuation. What
        is proposed was read back: it does silence the rule there."""
        for line in dict.fromkeys((span.line, _last_line(span))):
            if line < len(self._lines):
                insertion = _on(self._lines[line], line, name)
                if insertion is not None and self._works(insertion, name, code):
                    return insertion
        return None

    def _works(self, insertion: Insertion, name: str, code: str) -> bool:
        line = self._lines[insertion.line]
        changed = line[: insertion.column] + insertion.text + line[insertion.end_column :]
        first = self._begun.get(insertion.line, insertion.line)
        comments = suppressions("".join((*self._lines[first : insertion.line], changed)))
        return any(first + comment.line == insertion.line and comment.covers(name, code) for comment in comments)


def _last_line(span: Span) -> int:
    """The last line that holds a part of `span`."""
    return span.end_line - 1 if span.end_column == 0 and span.end_line > span.line else span.end_line


def _on(line: str, number: int, name: str) -> Insertion | None:
    text = content(line)
    if text.endswith("\\"):
        return None
    if found := _NAMES.search(text):
        start, end = found.span(1)
        empty = text[:start].rstrip().endswith("[")
        return Insertion(number, start, end, name if empty else f", {name}")
    used = len(text.rstrip())
    return Insertion(number, used, len(text), f"  # loaderlint: ignore[{name}]")
