"""Reads the comments that suppress findings: `# loaderlint: ignore[name, ...]`, `# loaderlint: ignore`,
`# loaderlint: ignore-file`, and `# noqa: LDR102`.

Only real comments count, so strings, which may contain text that looks like one, are skipped. That also works on
half-typed files, where Python's own tokenizer fails. A bare `# noqa` has no effect: most of them were written for a
style checker, and must not hide a fault by accident.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

#: A file without any of these words has no suppressions. They are searched for first, because almost no file has one.
_CHEAP = re.compile(r"loaderlint|noqa[\s:]*[^#\n]*?LDR", re.IGNORECASE)

#: Strings (which are skipped) and comments. An unclosed string ends with its line, an unclosed triple quote with the
#: file.
_STRING_OR_COMMENT = re.compile(
    r'"""(?:[^\\"]+|\\.|"(?!""))*(?:"""|\\?\Z)'
    r"|'''(?:[^\\']+|\\.|'(?!''))*(?:'''|\\?\Z)"
    r'|"(?:[^"\\\r\n]+|\\(?:\r\n|.))*"?'
    r"|'(?:[^'\\\r\n]+|\\(?:\r\n|.))*'?"
    r"|(?P<comment>#[^\r\n]*)",
    re.DOTALL,
)
_OWN = re.compile(r"#\s*loaderlint:\s*ignore(?P<file>-file)?(?![\w-])(?P<open>\s*\[)?(?P<names>[^\]]*\])?")
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n|\r|\n")


class Suppression(NamedTuple):
    """One comment. `line` is 0-based, `column` 0-based in characters; `names` are rule names, codes or code prefixes,
    None for all rules; `whole_file` for `ignore-file`; `text` is the part of the comment that suppresses."""

    line: int
    column: int
    names: frozenset[str] | None
    whole_file: bool
    text: str

    def covers(self, name: str, code: str) -> bool:
        """Whether the comment covers the rule with this name and code."""
        return self.names is None or name in self.names or code.startswith(_codes(self.names))


@lru_cache(maxsize=64)
def _codes(names: frozenset[str]) -> tuple[str, ...]:
    """The codes and code prefixes among the names in a suppression. Thousands of comments name the same few."""
    return tuple(name for name in names if name.startswith("LDR"))


def may_hold(data: bytes) -> bool:
    """Whether a file with these bytes may contain a suppression. This is much faster than reading them."""
    small = data.lower()
    return b"loaderlint" in small or (b"noqa" in small and b"ldr" in small)


@lru_cache(maxsize=64)
def suppressions(text: str) -> tuple[Suppression, ...]:
    """All suppression comments in a file's text, in order."""
    if not _CHEAP.search(text):
        return ()
    comments = [found for found in _STRING_OR_COMMENT.finditer(text) if found["comment"] and _CHEAP.search(found[0])]
    if not comments:
        return ()
    starts = _line_starts(text)
    found = []
    for comment in comments:
        line = bisect_left(starts, comment.start() + 1) - 1
        found.extend(_read(comment[0], line, comment.start() - starts[line]))
    return tuple(found)


def lines_in_strings(text: str) -> dict[int, int]:
    """The lines that begin inside a string, each with the last line before it that does not: it is enough to read the
    text from there on. All lines are 0-based."""
    starts = _line_starts(text)
    begun: dict[int, int] = {}
    for found in _STRING_OR_COMMENT.finditer(text):
        if not found["comment"] and _NEWLINE.search(found[0]):
            first, last = (bisect_right(starts, at) - 1 for at in found.span())
            begun.update(dict.fromkeys(range(first + 1, last + 1), begun.get(first, first)))
    return begun


def _line_starts(text: str) -> list[int]:
    return [0, *(newline.end() for newline in _NEWLINE.finditer(text))]


@lru_cache(maxsize=64)
def _by_line(text: str) -> Mapping[int, Sequence[Suppression]]:
    """The suppression comments by their 0-based line; those for the whole file under -1."""
    found: dict[int, list[Suppression]] = {}
    for comment in suppressions(text):
        found.setdefault(-1 if comment.whole_file else comment.line, []).append(comment)
    return found


def covering(text: str, name: str, code: str, first_line: int, last_line: int | None = None) -> tuple[Suppression, ...]:
    """The comments that silence a finding of the rule on the 0-based lines from `first_line` to `last_line` (inclusive;
    by default the same line). A comment may be on the first or on the last of them."""
    here = _by_line(text)
    lines = {-1, first_line, first_line if last_line is None else last_line}
    found = [comment for line in lines for comment in here.get(line, ()) if comment.covers(name, code)]
    return tuple(sorted(found, key=lambda comment: (comment.line, comment.column)))


def _read(comment: str, line: int, column: int) -> list[Suppression]:
    found = []
    for own in _OWN.finditer(comment):
        names = None
        if own["open"]:
            if own["names"] is None:
                continue  # the bracket is not closed yet: silence nothing rather than everything
            names = frozenset(name.strip() for name in own["names"][:-1].split(",") if name.strip())
        end = own.end() if own["names"] is not None else own.end("file") if own["file"] else own.end()
        found.append(Suppression(line, column + own.start(), names, bool(own["file"]), comment[own.start() : end]))
    for noqa in _NOQA.finditer(comment):
        codes = frozenset(code.upper() for code in re.split(r"[,\s]+", noqa["codes"]))
        found.append(Suppression(line, column + noqa.start(), codes, False, noqa[0]))
    return found
