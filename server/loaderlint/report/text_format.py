"""The text format: for people at a terminal. Each finding with its line, the chain that leads there, and its fix.

Only ASCII of our own is printed, so that no terminal's encoding can break the picture."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.findings.finding import Severity
from loaderlint.report import Item, Report, shown_path
from loaderlint.report.terminal import printable
from loaderlint.syntax.notebook import cell_of
from loaderlint.syntax.source import lines_of

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

_COLORS = {
    "bold": "1",
    "dim": "2",
    "error": "1;31",
    "warning": "1;33",
    "information": "1;34",
    "hint": "1;36",
    "fix": "32",
}
_TAB = 4
#: Signs kept before the marked place when a long line is cut.
_BEFORE = 40


def render(report: Report) -> Iterator[str]:
    """The findings (or their counts), then one line that sums up."""
    if report.statistics:
        yield from counts(report.shown)
    else:
        painter = _Painter(report)
        for item in report.shown:
            yield from painter.finding(item)
            yield ""
    yield _summary(report)


def counts(items: Iterable[Item]) -> Iterator[str]:
    """One line a rule, the most frequent first."""
    number: Counter[str] = Counter()
    fixable: Counter[str] = Counter()
    for item in items:
        rule = f"{item.diagnostic.code} {item.diagnostic.name}"
        number[rule] += 1
        fixable[rule] += item.diagnostic.fixable
    for rule, count in sorted(number.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"{count:5}  {rule}" + (f"  ({fixable[rule]} fixable)" if fixable[rule] else "")


class _Painter:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._lines: dict[Path, list[str]] = {}

    def finding(self, item: Item) -> Iterator[str]:
        found = item.diagnostic
        severity = found.severity.value
        level = severity if found.certainty == "proven" else f"{severity} ({found.certainty})"
        place = f"{self._place(found.path, found.span.line)}:{found.span.column + 1}"
        rule = self._paint(f"[{found.code} {found.name}]", "dim")
        yield f"{self._paint(place, 'bold')}: {self._paint(level, severity)}: {_printable(found.message)} {rule}"
        number = self._in_cell(found.path, found.span.line)[1] + 1
        margin = len(str(number)) + 1
        yield from self._picture(found, number, margin)
        edge = " " * margin
        for note in found.evidence:
            where = self._paint(f"({self._place(note.path, note.span.line)})", "dim")
            yield f"{edge}= {_printable(note.message)} {where}"
        if item.repair:
            title = self._paint(f"fix ({item.repair.safety}): {_printable(item.repair.title)}", "fix")
            yield f"{edge}= {title}"

    def _picture(self, found: Diagnostic, line_number: int, margin: int) -> Iterator[str]:
        line = self._line(found)
        if line is None or not line.strip():
            return
        span = found.span
        end = span.end_column if span.end_line == span.line else len(line.rstrip())
        room = max(40, self._report.width - margin - 3)
        source, marks = excerpt(line, span.column, end, room)
        number = self._paint(f"{line_number:>{margin - 1}} |", "dim")
        blank = self._paint(" " * margin + "|", "dim")
        yield f"{number} {source}"
        yield f"{blank} {self._paint(marks, found.severity.value)}"

    def _line(self, found: Diagnostic) -> str | None:
        if found.path not in self._lines:
            try:
                self._lines[found.path] = lines_of(self._report.text_of(found.path))
            except (OSError, ValueError):  # gone since the check: the finding is shown without its line
                self._lines[found.path] = []
        lines = self._lines[found.path]
        return lines[found.span.line] if found.span.line < len(lines) else None

    def _place(self, path: Path, line: int) -> str:
        """'train.py:12', 'notes.ipynb:cell 3:2'; `line` counts from 0."""
        cell, within = self._in_cell(path, line)
        return f"{self._path(path)}:{f'cell {cell}:' if cell else ''}{within + 1}"

    def _in_cell(self, path: Path, line: int) -> tuple[int, int]:
        """The code cell from 1 (0: no notebook) and the 0-based line in it."""
        starts = self._report.cells_of(path)
        return cell_of(starts, line) if starts else (0, line)

    def _path(self, path: Path) -> str:
        return _printable(shown_path(path, self._report.directory))

    def _paint(self, text: str, color: str) -> str:
        return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if self._report.color else text


def excerpt(line: str, start: int, end: int, room: int) -> tuple[str, str]:
    """The line as it is printed, and a line of carets under its characters `start` to `end` (0-based, exclusive).

    Tabs become spaces, signs that a terminal would obey become `?`, wide characters get two carets, and a line longer
    than `room` columns is cut on both sides."""
    start = min(start, len(line))
    end = max(min(end, len(line)), start + 1)
    first = max(0, start - _BEFORE) if _is_wider(line, room) else 0
    shown, marks, used = [], [], 0
    if first:
        shown, marks, used = ["..."], ["   "], 3
    for index in range(first, len(line)):
        text, width = _cell(line[index])
        if used + width > room:
            shown.append("...")
            break
        shown.append(text)
        marks.append(("^" if start <= index < end else " ") * width)
        used += width
    if start >= len(line):
        marks.append("^")
    return "".join(shown).rstrip(), "".join(marks).rstrip()


def _is_wider(line: str, room: int) -> bool:
    """Whether a line takes more columns than these: no more of it is looked at than that takes, since a line may be
    the whole file, with a finding in each of its words."""
    used = 0
    for sign in line:
        used += _cell(sign)[1]
        if used > room:
            return True
    return False


def _cell(sign: str) -> tuple[str, int]:
    if sign == "\t":
        return " " * _TAB, _TAB
    if sign == " ":
        return sign, 1
    category = unicodedata.category(sign)
    if category in ("Mn", "Me"):
        return sign, 0
    if category[0] in "CZ":
        return "?", 1
    return sign, 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _printable(text: str) -> str:
    """`text` on one line, without signs that a terminal would obey."""
    return printable(" ".join(text.split()))


def _summary(report: Report) -> str:
    loud = [item for item in report.items if item.diagnostic.severity is not Severity.HINT]
    hints = len(report.items) - len(loud)
    files = _number(report.files, "file")
    if not report.files:
        return "No Python files to check."
    quiet = f" {_number(hints, 'hint')}{'' if report.hints else ' not shown (--hints)'}." if hints else ""
    quiet += f" {report.kept} more in the baseline (--no-baseline)." if report.kept else ""
    if not loud:
        return f"No findings in {files}.{quiet}"
    kinds = Counter(item.diagnostic.severity.value for item in loud)
    listed = ", ".join(
        f"{kinds[level]} {level}" if level == "information" else _number(kinds[level], level)
        for level in ("error", "warning", "information")
        if kinds[level]
    )
    return f"{_number(len(loud), 'finding')} in {files} ({listed}).{quiet}{_fixable(loud)}"


def _fixable(items: list[Item]) -> str:
    safe = sum(1 for item in items if item.repair and item.repair.safety == "safe")
    unsafe = sum(1 for item in items if item.repair and item.repair.safety == "unsafe")
    parts = [f"{safe} fixable with --fix"] if safe else []
    if unsafe:
        parts.append(
            f"{unsafe} more with --fix --unsafe-fixes" if safe else f"{unsafe} fixable with --fix --unsafe-fixes"
        )
    return f" {', '.join(parts)}." if parts else ""


def _number(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
