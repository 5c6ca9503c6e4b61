"""The SARIF 2.1.0 format (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), for GitHub's code scanning and for viewers.

'SARIF support for code scanning' (docs.github.com) lists the properties that GitHub reads, and its limits. The
fingerprint is our own. `primaryLocationLineHash`, which GitHub compares, is left to its upload action, which computes
it from the file and complains about any other value. Positions count from 1 in characters, the end is exclusive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from loaderlint import HOME, __version__, rule_url
from loaderlint.findings.finding import Severity
from loaderlint.report import Related, Report, shown_path
from loaderlint.report.repository_places import Places
from loaderlint.rules import RULES
from loaderlint.settings.settings import is_settings_file
from loaderlint.syntax import notebook

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic, Problem
    from loaderlint.fixes.file_edits import Repair
    from loaderlint.rules.base import Rule
    from loaderlint.syntax.span import Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
_FINGERPRINT = "loaderlint/v1"

_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}
#: The tags by which GitHub recognises rules about quality.
_PROBLEMS = {"error": "error", "warning": "warning", "note": "recommendation"}
#: Links from a rule's page to the guides beside the rules.
_BESIDE = re.compile(r"\]\(\.\./([\w-]+)\.md\)")
_NUMBER = {rule.code: index for index, rule in enumerate(RULES)}


def render(report: Report) -> Iterator[str]:
    """The log: one run with all rules and the findings (hints only if `report.hints`)."""
    places = Places(report)
    run = {
        "tool": {
            "driver": {
                "name": "loaderlint",
                "version": __version__,
                "semanticVersion": __version__,
                "informationUri": HOME,
                "rules": [_rule(rule) for rule in RULES],
            }
        },
        "invocations": [_invocation(report, places)],
        "originalUriBaseIds": {_ROOT: {"uri": _folder_uri(places.root)}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, places) for one in report.related(report.shown)],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(rule: Rule) -> dict[str, Any]:
    level = _LEVELS[rule.severity]
    page = _BESIDE.sub(f"]({HOME}/\\1)", rule.page)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": f"{rule.name}: {rule.summary}"},
        "fullDescription": {"text": rule.summary},
        "help": {"text": page, "markdown": page},
        "helpUri": rule_url(rule.name),
        "defaultConfiguration": {"level": level, "enabled": rule.enabled_by_default},
        "properties": {
            "tags": ["pytorch", "dataloader", "correctness"],
            "precision": "high",
            "problem.severity": _PROBLEMS[level],
        },
    }


# --- findings ---------------------------------------------------------------------------------------------------------


def _result(one: Related, places: Places) -> dict[str, Any]:
    item = one.item
    found = item.diagnostic
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": _NUMBER.get(found.code, -1),
        "level": _LEVELS[found.severity],
        "message": {"text": _plain(places.message(found))},
        "locations": [_location(found.path, found.span, places)],
        "partialFingerprints": {_FINGERPRINT: found.fingerprint},
        "properties": {"certainty": found.certainty, "severity": found.severity.value, "cause": one.cause},
    }
    if found.audit:
        result["properties"]["audit"] = found.audit
    related = [_location(note.path, note.span, places, note.message) for note in found.evidence]
    related += [_location(other.path, other.span, places, "another place with the same cause") for other in one.others]
    if related:
        result["relatedLocations"] = [{"id": number, **location} for number, location in enumerate(related, 1)]
    if found.evidence:
        result["codeFlows"] = [{"threadFlows": [{"locations": _steps(found, places)}]}]
    if item.repair and (fix := _fix(item.repair, places)):
        result["fixes"] = [fix]
    return result


def _steps(found: Diagnostic, places: Places) -> list[dict[str, Any]]:
    """The steps from the loaders through the calls to the fault. (The evidence may begin near the fault.)"""
    start = next((number for number, note in enumerate(found.evidence) if note.is_loader), 0)
    calls, near = found.evidence[start:], found.evidence[:start]
    notes = (*sorted(calls, key=lambda note: not note.is_loader), *near)
    steps = [_location(note.path, note.span, places, note.message) for note in notes]
    steps.append(_location(found.path, found.span, places, found.message))
    return [{"location": step} for step in steps]


def _location(path: Path, span: Span, places: Places, message: str | None = None) -> dict[str, Any]:
    located: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(path, places),
            "region": _region(places.span(path, span)),
        }
    }
    if message is not None:
        located["message"] = {"text": _plain(message)}
    return located


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line + 1,
        "startColumn": span.column + 1,
        "endLine": span.end_line + 1,
        "endColumn": span.end_column + 1,
    }


def _fix(repair: Repair, places: Places) -> dict[str, Any] | None:
    """The fix as replacements; None if it changes a notebook, whose text is JSON."""
    if any(file.path.suffix == notebook.SUFFIX for file in repair.files):
        return None
    return {
        "description": {"text": _plain(repair.title)},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(file.path, places),
                "replacements": [
                    {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in file.edits
                ],
            }
            for file in repair.files
        ],
        "properties": {"safety": repair.safety},
    }


def _plain(text: str) -> str:
    """`text` as a plain message: what looks like a link ('x[0](y)') is escaped, as the standard requires (3.11.6)."""
    return text.replace("](", "\\](").replace("[", "\\[") if "](" in text else text


# --- where ------------------------------------------------------------------------------------------------------------


def _artifact(path: Path, places: Places) -> dict[str, str]:
    """The location of a file: relative to the root, with the root's name; absolute if it is outside."""
    if not path.is_relative_to(places.root):
        return {"uri": path.as_uri()}
    # A name may contain bytes that are not text. They were decoded with surrogateescape, and are percent-encoded
    # unchanged.
    shown = shown_path(path, places.root).encode("utf-8", "surrogateescape")
    return {"uri": quote(shown), "uriBaseId": _ROOT}


def _folder_uri(folder: Path) -> str:
    uri = folder.absolute().as_uri()
    return uri if uri.endswith("/") else f"{uri}/"


# --- the run itself ---------------------------------------------------------------------------------------------------


def _invocation(report: Report, places: Places) -> dict[str, Any]:
    settings = [problem for problem in report.problems if is_settings_file(problem.path)]
    others = [problem for problem in report.problems if problem not in settings]
    return {
        "executionSuccessful": not report.failed,
        "exitCode": report.code,
        "workingDirectory": {"uri": _folder_uri(report.directory)},
        "toolConfigurationNotifications": [_notification(problem, places) for problem in settings],
        "toolExecutionNotifications": [_notification(problem, places) for problem in others],
    }


def _notification(problem: Problem, places: Places) -> dict[str, Any]:
    told: dict[str, Any] = {
        "level": "error" if problem.fatal else "warning",
        "message": {"text": _plain(problem.message)},
    }
    if problem.path is not None:
        told["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(problem.path, places)}}]
    return told
