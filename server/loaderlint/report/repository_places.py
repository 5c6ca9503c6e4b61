"""The places of findings for tools that show files as they are in the repository: GitHub, SARIF viewers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.syntax import notebook

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.report import Report
    from loaderlint.syntax.span import Span


class Places:
    """The places of one report. In a notebook, they are places in its JSON text, which diffs show."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._notebooks: dict[Path, notebook.Notebook | None] = {}
        #: Paths are shown relative to this folder: the repository if GitHub Actions names it, so that a job may run in
        #: one of its folders; else the current folder.
        self.root = _repository(report.directory)

    def span(self, path: Path, span: Span) -> Span:
        """The place of `span` in the file on disk."""
        if path.suffix != notebook.SUFFIX:
            return span
        found = self._notebook(path)
        if found is None:
            return type(span)(0, 0, 0, 0)
        return type(span)(*found.in_file(span.line, span.column), *found.in_file(span.end_line, span.end_column))

    def message(self, found: Diagnostic) -> str:
        """The message with what the format has no field for: the cell of a notebook, and that a finding is only
        possible."""
        possible = "" if found.certainty == "proven" else f"{found.certainty}: "
        return f"{self.in_cell(found.path, found.span.line)}{possible}{found.message}"

    def in_cell(self, path: Path, line: int) -> str:
        """'cell 3, line 2: ' for a 0-based line of a notebook's code; '' for other files."""
        return notebook.in_cell(self._report.cells_of(path), line)

    def _notebook(self, path: Path) -> notebook.Notebook | None:
        if path not in self._notebooks:
            try:
                self._notebooks[path] = notebook.decode(reading.read_unseen(path, reading.NOTEBOOK))
            except (UnreadableFile, notebook.UnreadableNotebook):  # changed since the check: shown at its first line
                self._notebooks[path] = None
        return self._notebooks[path]


def _repository(directory: Path) -> Path:
    named = os.environ.get("GITHUB_WORKSPACE")
    if not named:
        return directory
    root = Path(os.path.realpath(named))
    return root if directory.resolve().is_relative_to(root) else directory
