"""The grouped format: the findings of each file below its name, one paragraph per finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from loaderlint.report import Report, shown_path
from loaderlint.report.terminal import printable
from loaderlint.report.text_format import Painter, summary

_INDENT = "  "


def render(report: Report) -> Iterator[str]:
    """The files with their findings, then one line with the summary."""
    painter = Painter(replace(report, width=report.width - len(_INDENT), color=False))
    for path, items in groupby(report.shown, key=lambda item: item.diagnostic.path):
        name = f"{printable(shown_path(path, report.directory))}:"
        yield name
        for item in items:
            found = item.diagnostic
            place = painter.place(path, found.span).removeprefix(name)
            yield from (f"{_INDENT}{line}" for line in painter.head(found, place))
        yield ""
    yield from summary(report)
