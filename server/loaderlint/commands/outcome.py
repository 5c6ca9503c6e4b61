"""What a check ends with: the report, what is said beside it, and the exit code. The same whether the findings were
found now or come from the cache."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from loaderlint import report, settings, terminal
from loaderlint.commands import DONE, FAILED, FINDINGS
from loaderlint.findings import Severity
from loaderlint.report import Item, Report, shown_path

if TYPE_CHECKING:
    from loaderlint.engine import Problem


class Outcome(NamedTuple):
    """`items` are sorted; `files` were checked, baselines keep `kept` findings, `said` are lines for stderr. `problems`
    are told, those that were `told_before` are not told again."""

    items: tuple[Item, ...]
    files: int
    kept: int
    said: tuple[str, ...]
    problems: tuple[Problem, ...]
    told_before: tuple[Problem, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a finding that counts: hints do not."""
        return any(item.diagnostic.severity is not Severity.HINT for item in self.items)

    def code(self, failed: bool) -> int:
        """The exit code; `failed`: something else could not be done."""
        if failed or any(one.fatal or settings.is_settings_file(one.path) for one in self.problems):
            return FAILED
        return FINDINGS if self.found else DONE


def show(
    outcome: Outcome,
    chosen: argparse.Namespace,
    out: TextIO,
    text_of: Callable[[Path], str],
    cells_of: Callable[[Path], tuple[int, ...]],
    failed: bool = False,
) -> None:
    """Print the report, and what is said beside it."""
    told = Report(
        items=outcome.items,
        files=outcome.files,
        directory=Path.cwd(),
        text_of=text_of,
        cells_of=cells_of,
        kept=outcome.kept,
        problems=(*outcome.told_before, *outcome.problems),
        code=outcome.code(failed),
        hints=chosen.hints,
        color=terminal.colors(out),
        statistics=chosen.statistics,
        width=terminal.width(out),
    )
    for line in report.render(told, chosen.output_format):
        print(line, file=out)
    if chosen.statistics and chosen.output_format != "text":
        from loaderlint.report.text import counts

        for line in counts(told.shown):
            terminal.say(line)
    for line in outcome.said:
        terminal.say(line)


def complain(problems: tuple[Problem, ...]) -> None:
    """Tell what could not be done."""
    for problem in problems:
        where = f"{shown_path(problem.path, Path.cwd())}: " if problem.path else ""
        terminal.complain(f"{where}{problem.message}")
