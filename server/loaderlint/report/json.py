"""The JSON format: an array with one object a finding. Lines and columns count from 1, columns in characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.report import Item, Report, shown_path

if TYPE_CHECKING:
    from loaderlint.fixes.edits import Repair
    from loaderlint.syntax.positions import Span


def render(report: Report) -> Iterator[str]:
    """The array, one line an object."""
    yield "["
    last = len(report.items) - 1
    for index, item in enumerate(report.items):
        yield json.dumps(_object(item, report.directory)) + ("," if index < last else "")
    yield "]"


def _object(item: Item, directory: Path) -> dict[str, object]:
    found = item.diagnostic
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity.value,
        "certainty": found.certainty,
        "message": found.message,
        "path": shown_path(found.path, directory),
        **_place(found.span),
        "fingerprint": found.fingerprint,
        "evidence": [
            {
                "path": shown_path(note.path, directory),
                "line": note.span.line + 1,
                "column": note.span.column + 1,
                "message": note.message,
            }
            for note in found.evidence
        ],
        "fix": _fix(item.repair, directory) if item.repair else None,
    }


def _fix(repair: Repair, directory: Path) -> dict[str, object]:
    return {
        "title": repair.title,
        "safety": repair.safety,
        "edits": [
            {"path": shown_path(file.path, directory), **_place(edit.span), "text": edit.text}
            for file in repair.files
            for edit in file.edits
        ],
    }


def _place(span: Span) -> dict[str, int]:
    return {
        "line": span.line + 1,
        "column": span.column + 1,
        "end_line": span.end_line + 1,
        "end_column": span.end_column + 1,
    }
