"""The full format: the text format with each finding in a block of its own, even if several have the same cause."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.report import Report
from loaderlint.report.text_format import Painter, summary


def render(report: Report) -> Iterator[str]:
    """The findings, then one line with the summary."""
    painter = Painter(report)
    for item in report.shown:
        yield from painter.finding(item)
        yield ""
    yield from summary(report)
