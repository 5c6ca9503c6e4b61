"""The output formats of findings. A format is a module with `render(report) -> Iterator[str]` and a line in `FORMATS`;
it is imported only when it is requested."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from msgspec import Struct

from loaderlint.report.exit_codes import FAILED

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic, Problem
    from loaderlint.fixes.file_edits import Repair

#: The formats of `check --output-format` by name.
FORMATS = {
    "text": "loaderlint.report.text_format",
    "concise": "loaderlint.report.concise_format",
    "full": "loaderlint.report.full_format",
    "grouped": "loaderlint.report.grouped_format",
    "json": "loaderlint.report.json_format",
    "sarif": "loaderlint.report.sarif_format",
    "github": "loaderlint.report.github_format",
    "gitlab": "loaderlint.report.gitlab_format",
    "junit": "loaderlint.report.junit_format",
}


class Item(NamedTuple):
    """A finding and its preferred fix."""

    diagnostic: Diagnostic
    repair: Repair | None


class Related(NamedTuple):
    """An item with its cause: the fingerprint of the first finding with the same cause. `others`: for that first
    finding, all others with the cause; for each of these, the first one only, so that the size of the lists is not
    quadratic."""

    item: Item
    cause: str
    others: tuple[Diagnostic, ...]


class Report(Struct, frozen=True):
    """Everything to report. `items` are sorted and include hints; `files` is the number of files that were checked;
    baselines hide `kept` findings, audits refute `refuted` ones; `problems` say what could not be done, `code` is the
    exit code.

    Paths are shown relative to `directory`; `text_of` returns a file's text, `cells_of` the 0-based lines at which a
    notebook's code cells begin (() for other files). `hints`: whether to show hints. `color` and `statistics` (counts
    instead of findings) affect the text format only; `width` is the number of columns that it may use, and `wraps` says
    whether sentences are wrapped at it. `quiet`: findings only."""

    items: tuple[Item, ...]
    files: int
    directory: Path
    text_of: Callable[[Path], str]
    cells_of: Callable[[Path], tuple[int, ...]]
    kept: int = 0
    refuted: int = 0
    problems: tuple[Problem, ...] = ()
    code: int = 0
    hints: bool = False
    color: bool = False
    statistics: bool = False
    width: int = 160
    wraps: bool = False
    quiet: bool = False

    @property
    def shown(self) -> tuple[Item, ...]:
        """The items that are shown: without hints, unless `hints`."""
        from loaderlint.findings.finding import Severity  # here, because not every command needs it

        return tuple(item for item in self.items if self.hints or item.diagnostic.severity is not Severity.HINT)

    def causes(self, items: Iterable[Item]) -> list[tuple[Item, ...]]:
        """These items in groups with the same cause."""
        from loaderlint.findings.causes import by_cause

        listed = {id(item.diagnostic): item for item in items}
        return [tuple(listed[id(one)] for one in group) for group in by_cause([i.diagnostic for i in listed.values()])]

    def related(self, items: Iterable[Item]) -> Iterator[Related]:
        """These items in their order, each with its cause."""
        items = tuple(items)
        causes: dict[int, Related] = {}
        for group in self.causes(items):
            first, *others = group
            cause = first.diagnostic.fingerprint
            causes[id(first.diagnostic)] = Related(first, cause, tuple(one.diagnostic for one in others))
            for one in others:
                causes[id(one.diagnostic)] = Related(one, cause, (first.diagnostic,))
        return (causes[id(item.diagnostic)] for item in items)

    @property
    def failed(self) -> bool:
        """Whether the check could not be done."""
        return self.code == FAILED


def render(report: Report, name: str) -> Iterator[str]:
    """The lines of the report in the format `name` (a key of `FORMATS`), without line ends."""
    module = import_module(FORMATS[name])
    return cast("Iterator[str]", module.render(report))


def shown_path(path: Path, directory: Path) -> str:
    """`path` relative to `directory` with `/`, even if it is outside; absolute if it is on another drive."""
    try:
        return os.path.relpath(path, directory).replace(os.sep, "/")
    except ValueError:
        return path.as_posix()
