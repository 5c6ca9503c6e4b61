"""A survey as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.survey.results import READINGS
from loaderlint.survey.summarise import VERSIONS, RuleSpread, Share, Summary
from loaderlint.survey.wording import FAILURE_NAMES, READING_NAMES, number, numpy_bug, percent, what_was_read

_SHOWN_FAILURES = 20


def render(summary: Summary) -> Iterator[str]:
    """The lines of the summary."""
    yield from what_was_read(summary)
    yield ""
    listed = "; ".join(f"{words}: {summary.versions[answer]:,}" for answer, words in VERSIONS)
    yield f"Declared torch: {listed}."
    yield ""
    yield from _table(summary.counted_rules)
    yield "Workers draw from NumPy's global state, and all draw the same numbers (LDR101):"
    for reading, sentence in numpy_bug(summary):
        yield f"  {READING_NAMES[reading]}: {sentence}"
    yield ""
    each = f"median {summary.cpu_median:.2f} s a repository, largest {summary.cpu_largest:.1f} s"
    yield f"CPU: {summary.cpu:,.1f} s, {each}."
    yield from _failures(summary)


def _table(rules: Sequence[RuleSpread]) -> Iterator[str]:
    if not rules:
        yield "No hazard was found."
        yield ""
        return
    head = ["", *(f"{what}, {READING_NAMES[reading]}" for reading in READINGS for what in ("repositories", "datasets"))]
    rows = [head, *([f"{rule.code} {rule.name}", *_cells(rule)] for rule in rules)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([first, *others]).rstrip()
    yield "(number, share, and in brackets its interval of 95 %; hints are not counted)"
    yield ""


def _cells(rule: RuleSpread) -> Iterator[str]:
    for reading in READINGS:
        spread = rule.of(reading)
        yield _cell(spread.repositories)
        yield _cell(spread.datasets)


def _cell(share: Share) -> str:
    return f"{share.count:6,}  {percent(share)}"


def _failures(summary: Summary) -> Iterator[str]:
    if not summary.failures:
        return
    yield ""
    yield f"{number(len(summary.failures), 'repository', 'repositories')} could not be read:"
    for one in summary.failures[:_SHOWN_FAILURES]:
        yield f"  {one.name}: {FAILURE_NAMES.get(one.kind, one.kind)}: {one.message}"
    if len(summary.failures) > _SHOWN_FAILURES:
        yield f"  and {len(summary.failures) - _SHOWN_FAILURES:,} more (--output-format json lists all)"
