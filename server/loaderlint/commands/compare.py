"""`check --compare` on the command line: the flags that it can be combined with, its exit code and its output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.commands.command_inputs import Usage, beside_reports
from loaderlint.commands.outcome import write_lines
from loaderlint.findings.differences import Compared
from loaderlint.report import Report, comparison_report, terminal
from loaderlint.report.exit_codes import counts
from loaderlint.settings.changes import Change, NotSupposed, changes_of

if TYPE_CHECKING:
    from loaderlint.engine import Workspace


def changes(chosen: argparse.Namespace) -> tuple[Change, ...]:
    """The changes that --compare names, one by one. Raises Usage if they cannot be compared."""
    _refuse_others(chosen)
    try:
        return changes_of(chosen.compare)
    except NotSupposed as error:
        raise Usage("\n".join(f"--compare: {line}" for line in str(error).split("\n"))) from error


def _refuse_others(chosen: argparse.Namespace) -> None:
    """Reject flags that cannot be combined with --compare. Raises Usage."""
    others = [*beside_reports(chosen), *(["--statistics"] if chosen.statistics else [])]
    for flag in others:
        raise Usage(f"--compare reports what would change: leave out {flag}")
    if chosen.output_format not in ("text", "json"):
        raise Usage("--compare writes text or json; choose one of them with --output-format")


def something_comes(told: Sequence[Compared], chosen: argparse.Namespace) -> bool:
    """Whether a finding would count for the exit code that does not count now."""
    return any(
        counts(one.after, chosen) and not (one.before and counts(one.before, chosen))
        for each in told
        for one in each.difference.all()
        if one.after
    )


def show(told: Sequence[Compared], workspace: Workspace, chosen: argparse.Namespace) -> bool:
    """Print the comparison, or write it to the file of --output-file. Returns whether that worked."""
    report = Report(
        items=(),
        files=0,
        directory=Path.cwd(),
        text_of=workspace.text,
        cells_of=workspace.cells,
        hints=chosen.hints,
        color=chosen.output_file is None and terminal.colors(sys.stdout, chosen.color),
        width=terminal.width(sys.stdout),
        wraps=chosen.output_file is None and sys.stdout.isatty(),
    )
    render = comparison_report.as_json if chosen.output_format == "json" else comparison_report.text
    return write_lines(render(told, report), chosen.output_file, sys.stdout)
