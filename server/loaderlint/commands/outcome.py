"""The outcome of a check: the report, messages, and the exit code. It is the same whether the findings are new or come
from the cache."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from loaderlint import report
from loaderlint.report import Item, Report, shown_path, terminal
from loaderlint.report.exit_codes import DONE, FAILED, counts, of_check

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Problem

#: At most this many internal errors are reported one by one: they usually have one cause.
_MOST_INTERNAL = 10


class Outcome(NamedTuple):
    """`items` are sorted; `files` were checked, baselines hide `kept` findings and audits refute `refuted` ones, `said`
    are lines for stderr. `problems` are reported, except those that were `told_before`."""

    items: tuple[Item, ...]
    files: int
    kept: int
    refuted: int
    said: tuple[str, ...]
    problems: tuple[Problem, ...]
    told_before: tuple[Problem, ...] = ()

    @property
    def has_internal_errors(self) -> bool:
        """Whether an internal error kept something from being checked, so that the next run has to try again."""
        return any(one.is_internal for one in self.problems)

    def code(self, failed: bool, chosen: argparse.Namespace) -> int:
        """The exit code. `failed`: whether something else went wrong."""
        found = any(counts(item.diagnostic, chosen) for item in self.items)
        return of_check(found, failed, self.problems, chosen)


def show(
    outcome: Outcome,
    chosen: argparse.Namespace,
    out: TextIO,
    text_of: Callable[[Path], str],
    cells_of: Callable[[Path], tuple[int, ...]],
    failed: bool = False,
) -> bool:
    """Print the report to `out` or write it to the file of --output-file, and print messages. Returns whether that
    worked."""
    told = Report(
        items=outcome.items,
        files=outcome.files,
        directory=Path.cwd(),
        text_of=text_of,
        cells_of=cache(cells_of),  # asked for each place of thousands of findings
        kept=outcome.kept,
        refuted=outcome.refuted,
        problems=(*outcome.told_before, *outcome.problems),
        code=outcome.code(failed, chosen),
        hints=chosen.hints,
        color=chosen.output_file is None and terminal.colors(out, chosen.color),
        statistics=chosen.statistics,
        width=terminal.width(out),
        wraps=chosen.output_file is None and out.isatty(),
        quiet=chosen.quiet,
    )
    printed = write_lines(report.render(told, chosen.output_format), chosen.output_file, out)
    if chosen.statistics and chosen.output_format != "text":
        from loaderlint.report import text_format

        for line in text_format.counts(told.shown):
            terminal.say(line)
    for line in outcome.said:
        terminal.say(line)
    return printed


def write_lines(lines: Iterable[str], file: str | None, out: TextIO) -> bool:
    """Print lines to `out`, or write them to a file as UTF-8 if one is named. Returns whether that worked."""
    if file is None:
        for line in lines:
            print(line, file=out)
        return True
    from loaderlint.files.atomic_write import replace

    text = "".join(f"{line}\n" for line in lines)
    try:
        replace(Path(os.path.realpath(file)), text.encode("utf-8", "replace"))
    except OSError as error:
        terminal.complain(f"--output-file: {file}: cannot be written ({error.strerror}); name another file")
        return False
    return True


def complain_of_missing_answers(problems: Iterable[Problem]) -> int:
    """Report the internal errors among these, and the limits that were reached. Returns the exit code of a command that
    has answered apart from them."""
    missing = tuple(problem for problem in problems if problem.is_internal or problem.is_limit)
    complain(missing)
    return FAILED if any(problem.is_internal for problem in missing) else DONE


def complain(problems: tuple[Problem, ...]) -> None:
    """Report what could not be done, one line each; of the limits that were reached, only the first and the number of
    the others."""
    from loaderlint.findings.diagnostics import DEBUG

    internal = [problem for problem in problems if problem.is_internal]
    limits = [problem for problem in problems if problem.is_limit]
    for problem in problems:
        if problem in internal[_MOST_INTERNAL:] or problem in limits[1:]:
            continue
        also = f"; {_others(len(limits) - 1)}" if problem.is_limit and len(limits) > 1 else ""
        terminal.complain(f"{problem_line(problem)}{also}")
        if problem.is_internal and os.environ.get(DEBUG):
            terminal.say(problem.traceback.rstrip())
    if len(internal) > _MOST_INTERNAL:
        terminal.complain(f"and {len(internal) - _MOST_INTERNAL} more internal errors")


def _others(count: int) -> str:
    """A text with the number of further limits that were reached, and how to see them."""
    said = "another limit was" if count == 1 else f"{count} other limits were"
    return f"{said} reached (see them: check --verbose)"


def problem_line(problem: Problem) -> str:
    """A problem as one line, with the file that it is about."""
    where = f"{terminal.printable(shown_path(problem.path, Path.cwd()))}: " if problem.path else ""
    return f"{where}{problem.message}"
