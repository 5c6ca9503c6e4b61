"""The concise format: one line per finding."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loaderlint.report import Report
from loaderlint.report.text_format import Painter, summary


def render(report: Report) -> Iterator[str]:
    """The findings, then one line with the summary."""
    painter = Painter(replace(report, wraps=False))
    for item in report.shown:
        found = item.diagnostic
        yield from painter.head(found, painter.place(found.path, found.span))
    yield from summary(report)
