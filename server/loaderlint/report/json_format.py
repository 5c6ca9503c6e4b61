"""The JSON format: an array with one object per finding, and one without a code per internal error. Lines and columns
count from 1, columns in characters; the lines of a notebook count in its code cells joined in order, and `cell` is the
number of the cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.report import Item, Related, Report, shown_path
from loaderlint.syntax.notebook import cell_of
from loaderlint.syntax.span import Span

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Problem
    from loaderlint.fixes.file_edits import Repair

#: The name of an entry that is not a finding but an internal error of loaderlint.
INTERNAL_ERROR = "internal-error"


def render(report: Report) -> Iterator[str]:
    """The array, one line per object."""
    told = [_related(one, report) for one in report.related(report.items)]
    told += [_internal_error(problem, report) for problem in report.problems if problem.is_internal]
    yield "["
    for index, one in enumerate(told):
        yield json.dumps(one) + ("," if index < len(told) - 1 else "")
    yield "]"


def _internal_error(problem: Problem, report: Report) -> dict[str, object]:
    """An internal error as a finding without a code, so that unchecked code does not look clean."""
    return {
        "code": None,
        "name": INTERNAL_ERROR,
        "severity": "error",
        "certainty": "proven",
        "message": problem.message,
        "path": shown_path(problem.path, report.directory) if problem.path else None,
        **_place(Span(0, 0, 0, 0)),
        "fingerprint": "",
        "evidence": [],
        "fix": None,
        "audit": None,
        "cause": "",
        "related": [],
    }


def _related(one: Related, report: Report) -> dict[str, object]:
    """One finding with its cause, and the places of the others with this cause."""
    related = [
        {
            "path": shown_path(other.path, report.directory),
            "line": other.span.line + 1,
            "column": other.span.column + 1,
            **_cell(report, other.path, other.span.line),
        }
        for other in one.others
    ]
    return {**finding(one.item, report), "cause": one.cause, "related": related}


def finding(item: Item, report: Report) -> dict[str, object]:
    """One finding."""
    found = item.diagnostic
    directory = report.directory
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity.value,
        "certainty": found.certainty,
        "message": found.message,
        "path": shown_path(found.path, directory),
        **_place(found.span),
        **_cell(report, found.path, found.span.line),
        "fingerprint": found.fingerprint,
        "evidence": [
            {
                "path": shown_path(note.path, directory),
                "line": note.span.line + 1,
                "column": note.span.column + 1,
                **_cell(report, note.path, note.span.line),
                "message": note.message,
            }
            for note in found.evidence
        ],
        "fix": _fix(item.repair, report) if item.repair else None,
        "audit": found.audit or None,
    }


def _fix(repair: Repair, report: Report) -> dict[str, object]:
    return {
        "title": repair.title,
        "safety": repair.safety,
        "edits": [
            {
                "path": shown_path(file.path, report.directory),
                **_place(edit.span),
                **_cell(report, file.path, edit.span.line),
                "text": edit.text,
            }
            for file in repair.files
            for edit in file.edits
        ],
    }


def _cell(report: Report, path: Path, line: int) -> dict[str, int]:
    """The number of the notebook's code cell that contains a line, counted from 1; empty for other files."""
    starts = report.cells_of(path)
    return {"cell": cell_of(starts, line)[0]} if starts else {}


def _place(span: Span) -> dict[str, int]:
    return {
        "line": span.line + 1,
        "column": span.column + 1,
        "end_line": span.end_line + 1,
        "end_column": span.end_column + 1,
    }
