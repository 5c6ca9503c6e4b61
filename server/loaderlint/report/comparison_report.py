"""What `check --compare` prints: for each change the findings that come, go, get louder and get quieter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.differences import Changed, Compared
from loaderlint.findings.finding import Severity
from loaderlint.report import Item, Report, json_format
from loaderlint.report.text_format import Painter

_VERBS = {"come": ("comes", "come"), "gone": ("goes", "go"), "louder": ("gets louder", "get louder")}
_VERBS["quieter"] = ("gets quieter", "get quieter")


def text(told: Sequence[Compared], report: Report) -> Iterator[str]:
    """For people: what comes and what gets louder with all that is known of it, the rest in a line each."""
    painter = Painter(report)
    for one in told:
        groups = {kind: _shown(getattr(one.difference, kind), report) for kind in _VERBS}
        if not any(groups.values()):
            yield (
                f"Only with {one.change} together: nothing more." if one.together else f"With {one.change}: no change."
            )
            yield ""
            continue
        yield f"Only with {one.change} together:" if one.together else f"With {one.change}:"
        yield ""
        for kind, changed in groups.items():
            if changed:
                yield from _group(kind, changed, painter)
                yield ""


def _shown(changed: Iterable[Changed], report: Report) -> list[Changed]:
    """Without what is a hint on both sides, unless hints are asked for."""
    return [one for one in changed if report.hints or not (_is_quiet(one.before) and _is_quiet(one.after))]


def _is_quiet(found: Diagnostic | None) -> bool:
    return found is None or found.severity is Severity.HINT


def _group(kind: str, changed: Sequence[Changed], painter: Painter) -> Iterator[str]:
    count = len(changed)
    yield f"{count} {'finding' if count == 1 else 'findings'} {_VERBS[kind][count > 1]}:"
    for one in changed:
        yield ""
        if kind in ("come", "louder"):
            yield from painter.finding(Item(one.shown, None))
        else:
            yield from painter.head(one.shown, one.shown.path, one.shown.span)
        if one.before and one.after:
            yield f"  was: {_level(one.before)}"


def _level(found: Diagnostic) -> str:
    return found.severity.value if found.certainty == "proven" else f"{found.severity.value} ({found.certainty})"


def as_json(told: Sequence[Compared], report: Report) -> Iterator[str]:
    """For programs: an array with one object a change; the lists hold findings as `check` prints them, and `before`
    where a finding is on both sides."""
    yield json.dumps([_data(one, report) for one in told], indent=2)


def _data(one: Compared, report: Report) -> dict[str, object]:
    groups = {kind: [_finding(each, report) for each in getattr(one.difference, kind)] for kind in _VERBS}
    return {"change": one.change, "together": one.together, **groups}


def _finding(one: Changed, report: Report) -> dict[str, object]:
    before = {"severity": one.before.severity.value, "certainty": one.before.certainty} if one.before else None
    return {**json_format.finding(Item(one.shown, None), report), "before": before if one.after else None}
