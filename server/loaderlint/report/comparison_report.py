"""The report that `check --compare` prints and an editor shows: for each change the findings that appear, disappear,
and become more or less severe."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.differences import Changed, Compared
from loaderlint.findings.finding import Severity
from loaderlint.report import Item, Report, json_format
from loaderlint.report.locations import Spots
from loaderlint.report.text_format import Painter

_VERBS = {
    "come": ("appears", "appear"),
    "gone": ("disappears", "disappear"),
    "louder": ("becomes more severe", "become more severe"),
    "quieter": ("becomes less severe", "become less severe"),
}


def text(told: Sequence[Compared], report: Report) -> Iterator[str]:
    """The report as text: findings that appear or become more severe in full, the others in one line each."""
    painter = Painter(report)
    for one in told:
        groups = _groups(one, hints=report.hints)
        yield _heading(one, groups)
        yield ""
        for kind, changed in groups.items():
            yield from _group(kind, changed, painter)
            yield ""


def outline(told: Sequence[Compared], spots: Spots) -> Iterator[str]:
    """The report for an editor: a line for each finding, indented below the change and its effect on the finding."""
    for one in told:
        groups = _groups(one, hints=False)
        yield _heading(one, groups)
        for kind, changed in groups.items():
            yield f"  {_counted(kind, changed)}:"
            for each in changed:
                found = each.shown
                was = f" (was: {_level(each.before)})" if each.before and each.after else ""
                place = spots.line(found.path, found.span.line)
                yield f"    {place}: {_level(found)}{was}: {found.message} [{found.code} {found.name}]"


def _heading(one: Compared, groups: Mapping[str, Sequence[Changed]]) -> str:
    if one.together:
        return f"Only with {one.change} together:" if groups else f"Only with {one.change} together: nothing more."
    return f"With {one.change}:" if groups else f"With {one.change}: no change."


def _groups(one: Compared, *, hints: bool) -> dict[str, list[Changed]]:
    """The findings by the effect on them; effects without findings are left out."""
    groups = {kind: _shown(getattr(one.difference, kind), hints) for kind in _VERBS}
    return {kind: changed for kind, changed in groups.items() if changed}


def _shown(changed: Iterable[Changed], hints: bool) -> list[Changed]:
    """The changes without findings that are hints on both sides, unless `hints`."""
    return [one for one in changed if hints or not (_is_quiet(one.before) and _is_quiet(one.after))]


def _is_quiet(found: Diagnostic | None) -> bool:
    return found is None or found.severity is Severity.HINT


def _group(kind: str, changed: Sequence[Changed], painter: Painter) -> Iterator[str]:
    yield f"{_counted(kind, changed)}:"
    for one in changed:
        yield ""
        if kind in ("come", "louder"):
            yield from painter.finding(Item(one.shown, None))
        else:
            yield from painter.head(one.shown, painter.place(one.shown.path, one.shown.span))
        if one.before and one.after:
            yield f"  was: {_level(one.before)}"


def _counted(kind: str, changed: Sequence[Changed]) -> str:
    count = len(changed)
    return f"{count} {'finding' if count == 1 else 'findings'} {_VERBS[kind][count > 1]}"


def _level(found: Diagnostic) -> str:
    return found.severity.value if found.certainty == "proven" else f"{found.severity.value} ({found.certainty})"


def as_json(told: Sequence[Compared], report: Report) -> Iterator[str]:
    """The report as JSON: an array with one object per change. Its lists contain findings as `check` prints them, with
    `before` if a finding is on both sides."""
    yield json.dumps([_data(one, report) for one in told], indent=2)


def _data(one: Compared, report: Report) -> dict[str, object]:
    groups = {kind: [_finding(each, report) for each in getattr(one.difference, kind)] for kind in _VERBS}
    return {"change": one.change, "together": one.together, **groups}


def _finding(one: Changed, report: Report) -> dict[str, object]:
    before = {"severity": one.before.severity.value, "certainty": one.before.certainty} if one.before else None
    return {**json_format.finding(Item(one.shown, None), report), "before": before if one.after else None}
