"""GitHub's annotations: one workflow command per finding, which GitHub Actions shows at its line in the pull request.

The syntax and the escaping are documented in 'Workflow commands for GitHub Actions' (docs.github.com), and
`packages/core/src/command.ts` of actions/toolkit. Columns are given for a single line only: the Checks API rejects them
for annotations of several lines. GitHub shows the first 10 errors and the first 10 warnings of a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.findings.finding import Severity
from loaderlint.report import Item, Report, shown_path
from loaderlint.report.repository_places import Places
from loaderlint.report.terminal import printable

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Problem

_LINE_ENDS = re.compile(r"([\r\n])")
_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def render(report: Report) -> Iterator[str]:
    """One command per finding (hints only if `report.hints`), and one per internal error."""
    places = Places(report)
    for item in report.shown:
        yield _command(item, places)
    yield from (_internal_error(problem, places) for problem in report.problems if problem.is_internal)


def _internal_error(problem: Problem, places: Places) -> str:
    file = f"file={_property(shown_path(problem.path, places.root))}," if problem.path else ""
    return f"::error {file}title=loaderlint internal error::{_data(problem.message)}"


def _command(item: Item, places: Places) -> str:
    found = item.diagnostic
    span = places.span(found.path, found.span)
    properties: dict[str, object] = {
        "file": shown_path(found.path, places.root),
        "line": span.line + 1,
        "endLine": span.end_line + 1,
    }
    if span.line == span.end_line:
        properties |= {"col": span.column + 1, "endColumn": span.end_column + 1}
    properties["title"] = f"{found.code} {found.name}"
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[found.severity]} {listed}::{_data(_text(item, places))}"


def _text(item: Item, places: Places) -> str:
    """The message, and below it the evidence and the fix."""
    found = item.diagnostic
    lines = [places.message(found)]
    for note in found.evidence:
        at = places.in_cell(note.path, note.span.line).removesuffix(": ") or str(note.span.line + 1)
        lines.append(f"{note.message} ({shown_path(note.path, places.root)}:{at})")
    if item.repair:
        lines.append(f"fix ({item.repair.safety}): {item.repair.title}")
    return "\n".join(lines)


def _data(text: str) -> str:
    text = "".join(part if part in "\r\n" else printable(part) for part in _LINE_ENDS.split(text))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
