"""Follows the findings in an older text into a newer one. They are shown while the engine checks the newer one.

A finding stays attached to the exact characters that it is about. It moves with them when the text before or after them
changes, and disappears when they change. Stale findings are only shown; code that edits a text (`code_actions`,
`fix_all`) waits for the findings of that text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec.structs import replace

from loaderlint.lsp import text_positions
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.protocol_diagnostics import Report, report_of
from loaderlint.lsp.uris import uri_of
from loaderlint.syntax.cutter import common_ends
from loaderlint.syntax.span import Span

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

#: Characters that change the meaning of the text after them on their line.
_SIGNIFICANT = frozenset("#'\"")

#: The maximum number of versions that are kept separately; beyond it, everything between the first and the last is one
#: step.
_LONGEST = 200

Shift = tuple[int, int]


class Moved:
    """Maps places in some lines (with their line endings) to places in later lines, in which one part has changed."""

    def __init__(self, was: Sequence[str], now: Sequence[str]) -> None:
        self._was, self._now = was, now
        first, back = common_ends(was, now)
        self._first, self._last, self._last_now = first, len(was) - back, len(now) - back
        before, after = "".join(was[first : self._last]), "".join(now[first : self._last_now])
        prefix, suffix = _around_change(before, after)
        self._start = _place(was, first, prefix)
        self._end = _place(was, first, len(before) - suffix)
        self._end_now = _place(now, first, len(after) - suffix)

    def __call__(self, span: Span) -> Span | None:
        """The new place of a span; None if it no longer exists, or if the place is not known."""
        start, end = (span.line, span.column), (span.end_line, span.end_column)
        if end <= self._start:
            moved = span
        elif start >= self._end:
            moved = Span(*self._behind(start), *self._behind(end))
        else:
            return self._found(span)
        return moved if self._means_the_same(span, moved) else None

    def _behind(self, place: Shift) -> Shift:
        """The new position of a place after the change."""
        line, column = place
        if line == self._end[0]:
            column += self._end_now[1] - self._end[1]
        return line + self._end_now[0] - self._end[0], column

    def _means_the_same(self, span: Span, moved: Span) -> bool:
        """Whether a span still means the same: the text around it in its lines has not made it a part of a longer name,
        a string or a comment."""
        before, before_now = self._was[span.line][: span.column], self._now[moved.line][: moved.column]
        if before != before_now and (_significant(before) != _significant(before_now) or _is_word(before_now[-1:])):
            return False
        behind, behind_now = self._was[span.end_line][span.end_column :], self._now[moved.end_line][moved.end_column :]
        return behind == behind_now or not _is_word(behind_now[:1])

    def _found(self, span: Span) -> Span | None:
        """The new place of a span whose lines are at least partly in the changed part. The lines count as unchanged if
        they occur there exactly once, for example after edits in two places."""
        height = span.end_line - span.line + 1
        lines = self._was[span.line : span.line + height]
        if self._was[self._first : self._last].count(lines[0]) != 1:
            return None
        places = [n for n in range(self._first, self._last_now) if self._now[n] == lines[0]]
        if len(places) != 1 or self._now[places[0] : places[0] + height] != lines:
            return None
        return span._replace(line=places[0], end_line=places[0] + height - 1)


def _around_change(before: str, after: str) -> tuple[int, int]:
    """The number of characters that two texts have in common at the start and at the end. CR and LF are never
    separated: if only one text has the LF, or the CR, the whole line end has changed."""
    prefix, suffix = common_ends(before, after)
    if before[:prefix].endswith("\r") and "\n" in (before[prefix : prefix + 1], after[prefix : prefix + 1]):
        prefix -= 1
    kept, kept_now = len(before) - suffix, len(after) - suffix
    if before.startswith("\n", kept) and "\r" in (before[:kept][-1:], after[:kept_now][-1:]):
        suffix -= 1
    return prefix, suffix


def _place(lines: Sequence[str], line: int, characters: int) -> Shift:
    """The (line, column) that is this many characters after the start of a line."""
    while line + 1 < len(lines) and characters >= len(lines[line]):
        characters -= len(lines[line])
        line += 1
    return line, characters


def _significant(line: str) -> list[str]:
    return [character for character in line if character in _SIGNIFICANT]


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class History:
    """The known versions of an open document since the one that was last analysed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._versions = [snapshot]
        self._steps: list[Moved] = []

    def note(self, snapshot: Snapshot) -> None:
        """Add the current version. Call it for each version, so that each edit is compared separately."""
        if snapshot.at == self._versions[-1].at:
            return
        if len(self._versions) > _LONGEST:
            del self._versions[1:], self._steps[:]
        self._steps.append(Moved(self._versions[-1].lines, snapshot.lines))
        self._versions.append(snapshot)

    def begin(self, snapshot: Snapshot) -> None:
        """Drop the versions before this one, because it was checked."""
        known = next((index for index, one in enumerate(self._versions) if one.at == snapshot.at), None)
        if known is not None:
            del self._versions[:known], self._steps[:known]
        else:
            now = self._versions[-1]
            self._versions, self._steps = [snapshot], []
            self.note(now)

    @property
    def now(self) -> Snapshot:
        """The last version."""
        return self._versions[-1]

    def moved(self, span: Span) -> Span | None:
        """The place in the last version of a place in the first one; None if it no longer exists."""
        here: Span | None = span
        for step in self._steps:
            if here is not None:
                here = step(here)
        return here


def standing(report: Report, histories: Mapping[Path, History], client: Client) -> Report:
    """The part of a report about the first version of its document that is still valid in the last one. `histories`: of
    all open documents, from the versions that were checked for the report."""
    findings = [one for finding in report.findings if (one := _moved(finding, histories)) is not None]
    snapshot = histories[report.snapshot.path].now
    return report_of(snapshot, findings, report.environment, _Locations(report, histories, client), client)


def _moved(finding: Diagnostic, histories: Mapping[Path, History]) -> Diagnostic | None:
    def place(path: Path, span: Span) -> Span | None:
        return histories[path].moved(span) if path in histories else span

    span = place(finding.path, finding.span)
    if span is None:
        return None
    notes = ((note, place(note.path, note.span)) for note in finding.evidence)
    evidence = tuple(note._replace(span=at) for note, at in notes if at is not None)
    return replace(finding, span=span, evidence=evidence)


class _Locations:
    """Converts positions for the client without the engine. Positions in files that are not open do not change."""

    def __init__(self, report: Report, histories: Mapping[Path, History], client: Client) -> None:
        self._histories, self._encoding = histories, client.encoding
        self._known: Mapping[tuple[Path, text_positions.Span], types.Location] = {
            (note.path, note.span): related.location
            for finding, shown in zip(report.findings, report.shown, strict=True)
            for note, related in zip(finding.evidence, shown.related_information or (), strict=False)
        }

    def __call__(self, path: Path, span: text_positions.Span) -> types.Location:
        opened = self._histories.get(path)
        if opened is not None:
            part = opened.now.part_at(span.line)
            return types.Location(uri=part.uri, range=part.range(span, self._encoding))
        known = self._known.get((path, span))
        beginning = text_positions.to_range([""], text_positions.Place(0, 0, 0, 0), self._encoding)
        return known or types.Location(uri=uri_of(path), range=beginning)
