"""Places as text and as data, for the reports on lines and on loaders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from loaderlint.report import shown_path
from loaderlint.syntax.notebook import cell_of

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.findings.finding import Place
    from loaderlint.fixes.file_edits import Repair
    from loaderlint.syntax.span import Span


class Known(Protocol):
    """The part of `loaderlint.engine.Workspace` that the reports need."""

    def locate(self, place: Place) -> Span | None:
        """The current span of a place; None if its code is gone."""

    def text(self, path: Path) -> str:
        """The text of a file as it was checked."""

    def cells(self, path: Path) -> tuple[int, ...]:
        """The first line (0-based) of each code cell of a notebook; () for other files."""

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        """The fixes of a finding as edits."""


class Spots(Struct, frozen=True):
    """Formats the places of a workspace, with paths relative to `directory`. `opened`: for notebooks that an editor has
    open, whose text may differ from that on disk, the 0-based lines at which their cells begin."""

    workspace: Known
    directory: Path
    opened: Mapping[Path, tuple[int, ...]] = field(default_factory=dict)

    def text(self, place: Place | None) -> str:
        """'train.py:12', 'notes.ipynb:cell 3:2'; 'unknown place' for None."""
        span = self.workspace.locate(place) if place else None
        if place is None or span is None:
            return "unknown place"
        return self.line(place.path, span.line)

    def line(self, path: Path, line: int) -> str:
        """The same for a 0-based line."""
        starts = self._cells(path)
        cell, within = cell_of(starts, line) if starts else (0, line)
        return f"{shown_path(path, self.directory)}:{f'cell {cell}:' if cell else ''}{within + 1}"

    def data(self, place: Place | None) -> dict[str, object]:
        """`path`, `line`, `column` (both from 1), and `cell` for notebooks; all are None without a place."""
        span = self.workspace.locate(place) if place else None
        if place is None or span is None:
            return {"path": None, "line": None, "column": None}
        return self.span(place.path, span)

    def span(self, path: Path, span: Span) -> dict[str, object]:
        """The same for the start of a span."""
        starts = self._cells(path)
        cell: dict[str, object] = {"cell": cell_of(starts, span.line)[0]} if starts else {}
        return {
            "path": shown_path(path, self.directory),
            "line": span.line + 1,
            "column": span.column + 1,
            **cell,
        }

    def _cells(self, path: Path) -> tuple[int, ...]:
        return self.opened[path] if path in self.opened else self.workspace.cells(path)
