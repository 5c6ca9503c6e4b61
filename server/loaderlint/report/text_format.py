"""The text format, for a terminal: each finding with its line, the call chain that leads there, and its fix. Findings
with the same cause are shown together.

Our own text is ASCII only, so that it looks right in every terminal's encoding."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.findings.finding import Severity
from loaderlint.report import Item, Report, shown_path, terminal
from loaderlint.report.terminal import printable
from loaderlint.syntax.notebook import cell_of
from loaderlint.syntax.source import lines_of

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic, Note
    from loaderlint.syntax.span import Span

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
_HARD_SPACE = "\xa0"
#: The number of characters that are kept before the marked place when a long line is cut.
_BEFORE = 40


def render(report: Report) -> Iterator[str]:
    """The findings (or their counts), then one line with the summary."""
    if report.statistics:
        yield from counts(report.shown)
    else:
        painter = Painter(report)
        for group in report.causes(report.shown):
            yield from painter.cause(group) if len(group) > 1 else painter.finding(group[0])
            yield ""
    yield from summary(report)


def counts(items: Iterable[Item]) -> Iterator[str]:
    """One line per rule, the most frequent first."""
    number: Counter[str] = Counter()
    fixable: Counter[str] = Counter()
    for item in items:
        rule = f"{item.diagnostic.code} {item.diagnostic.name}"
        number[rule] += 1
        fixable[rule] += item.diagnostic.fixable
    for rule, count in sorted(number.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"{count:5}  {rule}" + (f"  ({fixable[rule]} fixable)" if fixable[rule] else "")


class Painter:
    """Formats findings with their source lines."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lines: dict[Path, list[str]] = {}

    def finding(self, item: Item) -> Iterator[str]:
        """One finding: its message, its line, the call chain that leads there, and its fix."""
        found = item.diagnostic
        yield from self.head(found, self.place(found.path, found.span))
        margin = self._margin(found.path, found.span)
        yield from self._picture(found.path, found.span, margin, found.severity.value)
        yield from self._notes(found.evidence, margin)
        yield from self._audit(found, margin)
        yield from self._fix(item, margin)

    def cause(self, group: Sequence[Item]) -> Iterator[str]:
        """Findings with the same cause: shown at the loader if all have the same one, else at the first finding; then
        their places."""
        first = group[0].diagnostic
        notes = [note for note in first.evidence if all(note in item.diagnostic.evidence for item in group)]
        path, span = self._shared_place(group) or (first.path, first.span)
        yield from self.head(first, self.place(path, span))
        margin = self._margin(path, span)
        yield from self._picture(path, span, margin, first.severity.value)
        yield from self._notes(notes, margin)
        edge = " " * margin
        yield f"{edge}= at {len(group)} places:"
        for item in group:
            found = item.diagnostic
            line = (self._line(found.path, found.span) or "").strip()
            place = self.place(found.path, found.span)
            room = self._report.width - len(f"{edge}    {place}: ...")
            source = excerpt(line, 0, 1, max(20, room))[0] if line else ""
            painted = self._paint(place, "bold")
            yield f"{edge}    {painted}: {source}" if source else f"{edge}    {painted}"
            yield from self._audit(found, margin + 4)
        yield from self._fix(group[0], margin)

    def head(self, found: Diagnostic, place: str) -> Iterator[str]:
        """The lines with the place ('train.py:12:5') and the message."""
        severity = found.severity.value
        level = severity if found.certainty == "proven" else f"{severity} ({found.certainty})"
        rule = f"[{found.code} {found.name}]"
        # The wrapping treats what must stay on one line as one word.
        first, last = f"{place}: {level}:".replace(" ", _HARD_SPACE), rule.replace(" ", _HARD_SPACE)
        lines = self._wrapped(f"{first} {_printable(found.message)} {last}", "    ")
        painted = f"{self._paint(place, 'bold')}: {self._paint(level, severity)}:"
        lines[0] = painted + lines[0].removeprefix(f"{place}: {level}:")
        lines[-1] = lines[-1].removesuffix(rule) + self._paint(rule, "dim")
        yield from lines

    def place(self, path: Path, span: Span) -> str:
        """'train.py:12:5'."""
        return f"{self._place(path, span.line)}:{span.column + 1}"

    @staticmethod
    def _shared_place(group: Sequence[Item]) -> tuple[Path, Span] | None:
        """The place of the first loader of all findings; None if it is not the same for all."""
        loaders = {
            next(((note.path, note.span) for note in item.diagnostic.evidence if note.is_loader), None)
            for item in group
        }
        return loaders.pop() if len(loaders) == 1 else None

    def _notes(self, notes: Iterable[Note], margin: int) -> Iterator[str]:
        for note in notes:
            where = f"({self._place(note.path, note.span.line)})"
            last = where.replace(" ", _HARD_SPACE)
            *lines, end = self._wrapped(f"{' ' * margin}= {_printable(note.message)} {last}", " " * (margin + 2))
            yield from lines
            yield end.removesuffix(where) + self._paint(where, "dim")

    def _audit(self, found: Diagnostic, margin: int) -> Iterator[str]:
        if found.audit:
            yield from self._wrapped(f"{' ' * margin}= confirmed: {_printable(found.audit)}", " " * (margin + 2))

    def _fix(self, item: Item, margin: int) -> Iterator[str]:
        if not item.repair:
            return
        title = f"{' ' * margin}= fix ({item.repair.safety}): {_printable(item.repair.title)}"
        for line in self._wrapped(title, " " * (margin + 2)):
            indent = margin + 2
            yield line[:indent] + self._paint(line[indent:], "fix")

    def _wrapped(self, text: str, indent: str) -> list[str]:
        lines = wrapped(text, indent, self._report)
        return [line.replace(_HARD_SPACE, " ") for line in lines]

    def _margin(self, path: Path, span: Span) -> int:
        return len(str(self._in_cell(path, span.line)[1] + 1)) + 1

    def _picture(self, path: Path, span: Span, margin: int, color: str) -> Iterator[str]:
        line = self._line(path, span)
        if line is None or not line.strip():
            return
        line_number = self._in_cell(path, span.line)[1] + 1
        end = span.end_column if span.end_line == span.line else len(line.rstrip())
        room = max(40, self._report.width - margin - 5)  # without the text before the line and "..."
        source, marks = excerpt(line, span.column, end, room)
        number = self._paint(f"{line_number:>{margin - 1}} |", "dim")
        blank = self._paint(" " * margin + "|", "dim")
        yield f"{number} {source}"
        yield f"{blank} {self._paint(marks, color)}"

    def _line(self, path: Path, span: Span) -> str | None:
        if path not in self._lines:
            try:
                self._lines[path] = lines_of(self._report.text_of(path))
            except (OSError, ValueError):  # the file is gone since the check: the finding is shown without its line
                self._lines[path] = []
        lines = self._lines[path]
        return lines[span.line] if span.line < len(lines) else None

    def _place(self, path: Path, line: int) -> str:
        """'train.py:12', 'notes.ipynb:cell 3:2'; `line` counts from 0."""
        cell, within = self._in_cell(path, line)
        return f"{self._path(path)}:{f'cell {cell}:' if cell else ''}{within + 1}"

    def _in_cell(self, path: Path, line: int) -> tuple[int, int]:
        """The number of the code cell from 1 (0 if the file is not a notebook), and the 0-based line in it."""
        starts = self._report.cells_of(path)
        return cell_of(starts, line) if starts else (0, line)

    def _path(self, path: Path) -> str:
        return _printable(shown_path(path, self._report.directory))

    def _paint(self, text: str, color: str) -> str:
        return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if self._report.color else text


def wrapped(text: str, indent: str, report: Report) -> list[str]:
    """`text` in lines as wide as the terminal; in one line without a terminal, so that `grep` finds it."""
    return terminal.wrapped(text, indent, report.width) if report.wraps else [text]


def excerpt(line: str, start: int, end: int, room: int) -> tuple[str, str]:
    """The line as printed, and a line of carets under its characters from `start` to `end` (0-based, `end` exclusive).

    Tabs become spaces, control characters become `?`, wide characters get two carets, and a line longer than `room`
    columns is cut on both sides."""
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
    """Whether a line takes more than `room` columns. It reads no more than necessary: a line may be the whole file,
    with a finding in each of its words."""
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
    """`text` on one line, without control characters."""
    return printable(" ".join(text.split()))


def summary(report: Report) -> Iterator[str]:
    """The summary, in one line if the terminal is wide enough; nothing if `report.quiet`."""
    if not report.quiet:
        yield from wrapped(_summary(report), "  ", report)


def _summary(report: Report) -> str:
    loud = [item for item in report.items if item.diagnostic.severity is not Severity.HINT]
    hints = [item for item in report.items if item.diagnostic.severity is Severity.HINT]
    files = _number(report.files, "file")
    if not report.files:
        return "No Python files to check."
    quiet = f" {_hints(hints, report.hints)}." if hints else ""
    quiet += f" {report.kept} more in the baseline (--no-baseline)." if report.kept else ""
    quiet += f" {report.refuted} more refuted by audits (--no-audits)." if report.refuted else ""
    if not loud:
        return f"No findings in {files}.{quiet}"
    kinds = Counter(item.diagnostic.severity.value for item in loud)
    listed = ", ".join(
        f"{kinds[level]} {level}" if level == "information" else _number(kinds[level], level)
        for level in ("error", "warning", "information")
        if kinds[level]
    )
    found_in = _number(len({item.diagnostic.path for item in loud}), "file")
    fixable = _fixable(loud)
    fixable = f" {fixable}." if fixable else ""
    return f"{_number(len(loud), 'finding')} in {found_in} ({listed}); {files} checked.{quiet}{fixable}"


def _hints(hints: Sequence[Item], are_shown: bool) -> str:
    """'3 hints not shown (--hints)', '3 hints, 2 fixable with --fix --hints'."""
    if not are_shown:
        return f"{_number(len(hints), 'hint')} not shown (--hints)"
    fixable = _fixable(hints, "--fix --hints")
    return f"{_number(len(hints), 'hint')}{f', {fixable}' if fixable else ''}"


def _fixable(items: Iterable[Item], flags: str = "--fix") -> str:
    """'2 fixable with --fix, 1 more with --fix --unsafe-fixes', '' if none is fixable."""
    safe = sum(1 for item in items if item.repair and item.repair.safety == "safe")
    unsafe = sum(1 for item in items if item.repair and item.repair.safety == "unsafe")
    parts = [f"{safe} fixable with {flags}"] if safe else []
    if unsafe:
        parts.append(f"{unsafe} {'more' if safe else 'fixable'} with {flags} --unsafe-fixes")
    return ", ".join(parts)


def _number(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
