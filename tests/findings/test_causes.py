"""Which findings have one cause, and what an editor is told of each."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lsprotocol import types
from msgspec.structs import replace

from loaderlint.findings.causes import by_cause, short_message
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.finding import Finding, Fix, Place, Severity, Wrap
from loaderlint.lsp.protocol_diagnostics import all_shown
from loaderlint.syntax.span import Span

PATH = Path("/project/data.py")
_RANGE = types.Range(types.Position(0, 0), types.Position(0, 1))


def _finding(
    line: int, fix_at: int | None, severity: Severity = Severity.ERROR, lacking: tuple[int, ...] = ()
) -> Diagnostic:
    """A finding in a line, with a fix at the node `fix_at`, whose cause is what the loaders at `lacking` lack."""
    message = f"every worker draws the same numbers: `f{line}` uses NumPy's global state; seed it"
    intents = () if fix_at is None else (Wrap(Place(PATH, 0, fix_at), "(", ")"),)
    fixes = (Fix("Seed", "safe", intents),) if intents else ()
    finding = Finding("a-rule", severity, "proven", message, Place(PATH, 0, line), "f", (), fixes)
    finding = replace(finding, lacking=tuple(Place(PATH, 1, anchor) for anchor in lacking))
    span = Span(line, 0, line, 1)
    return Diagnostic(
        "LDR1", "a-rule", severity, "proven", message, PATH, span, f"print {line}", (), bool(fixes), finding
    )


def _lines(found: list[Diagnostic]) -> list[list[int]]:
    return [[one.span.line for one in group] for group in by_cause(found)]


def test_findings_with_the_same_fix_have_one_cause() -> None:
    assert _lines([_finding(1, 7), _finding(2, 8), _finding(3, 7)]) == [[1, 3], [2]]


def test_findings_without_a_fix_stay_single() -> None:
    assert _lines([_finding(1, None), _finding(2, None)]) == [[1], [2]]


def test_findings_without_a_fix_have_one_cause_if_the_same_loaders_lack_something() -> None:
    first, second = _finding(1, None, lacking=(5, 6)), _finding(2, None, lacking=(6, 5))
    assert _lines([first, second, _finding(3, None, lacking=(5,)), _finding(4, None)]) == [[1, 2], [3], [4]]


def test_findings_with_different_fixes_have_different_causes_though_the_same_loaders_lack_something() -> None:
    assert _lines([_finding(1, 7, lacking=(5,)), _finding(2, 8, lacking=(5,))]) == [[1], [2]]


def test_a_warning_is_not_hidden_behind_an_error() -> None:
    assert _lines([_finding(1, 7), _finding(2, 7, Severity.WARNING)]) == [[1], [2]]


def test_a_short_message_says_what_happens() -> None:
    said = short_message(_finding(1, 7))
    assert said == "every worker draws the same numbers: same cause as the first such finding in this file"


def test_in_the_editor_the_others_are_short_and_lead_to_the_first() -> None:
    client: Any = SimpleNamespace(tags=(), code_description=True, related_information=True, diagnostic_data=True)

    def places(path: Path, span: Span) -> types.Location:
        start, end = types.Position(span.line, span.column), types.Position(span.end_line, span.end_column)
        return types.Location(path.as_uri(), types.Range(start, end))

    one, two = _finding(1, 7), _finding(2, 7)
    first, other = all_shown([one, two], places, client)
    assert (first.message, first.related_information) == (one.message, None)
    assert other.message == short_message(two)
    assert other.related_information is not None
    assert [(info.location.range.start.line, info.message) for info in other.related_information] == [(1, one.message)]


def test_in_the_editor_findings_with_one_cause_name_it() -> None:
    client: Any = SimpleNamespace(tags=(), code_description=True, related_information=True, diagnostic_data=True)
    found = [_finding(1, 7), _finding(2, 8), _finding(3, 7)]
    shown = all_shown(found, lambda path, span: types.Location(path.as_uri(), _RANGE), client)
    assert [one.data for one in shown] == [
        {"id": "print 1", "cause": "print 1"},
        {"id": "print 2"},
        {"id": "print 3", "cause": "print 1"},
    ]


def test_in_the_editor_a_finding_says_that_an_audit_confirmed_it() -> None:
    client: Any = SimpleNamespace(tags=(), code_description=True, related_information=True, diagnostic_data=True)
    seen = replace(_finding(1, 7), audit="workers drew the same numbers")
    (shown,) = all_shown([seen], lambda path, span: types.Location(path.as_uri(), _RANGE), client)
    assert shown.message == f"{seen.message}\nConfirmed: workers drew the same numbers"
