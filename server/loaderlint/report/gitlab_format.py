"""GitLab's code quality report: a JSON array, which merge requests show.

The fields that GitLab reads are listed in 'Code Quality' (docs.gitlab.com), under 'Code Quality report format'."""

from __future__ import annotations

import json
from collections.abc import Iterator

from loaderlint.findings.finding import Severity
from loaderlint.report import Item, Report, shown_path
from loaderlint.report.repository_places import Places

_SEVERITIES = {
    Severity.ERROR: "major",
    Severity.WARNING: "minor",
    Severity.INFORMATION: "info",
    Severity.HINT: "info",
}


def render(report: Report) -> Iterator[str]:
    """The array: one object per finding (hints only if `report.hints`), and one per internal error."""
    places = Places(report)
    told = [_finding(item, places) for item in report.shown]
    told += [
        {
            "description": problem.message,
            "check_name": "internal-error",
            "fingerprint": f"internal-error-{number}",
            "severity": "blocker",
            "location": {
                "path": shown_path(problem.path or report.directory, places.root),
                "lines": {"begin": 1, "end": 1},
            },
        }
        for number, problem in enumerate(one for one in report.problems if one.is_internal)
    ]
    yield json.dumps(told, indent=1)


def _finding(item: Item, places: Places) -> dict[str, object]:
    found = item.diagnostic
    span = places.span(found.path, found.span)
    return {
        "description": f"{found.code} {found.name}: {places.message(found)}",
        "check_name": found.name,
        "fingerprint": found.fingerprint,
        "severity": _SEVERITIES[found.severity],
        "location": {
            "path": shown_path(found.path, places.root),
            "lines": {"begin": span.line + 1, "end": span.end_line + 1},
        },
    }
