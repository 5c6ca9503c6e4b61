"""What `check --compare` does: the findings of a project as it is and as it would be after a change.

Both sides are found in one workspace. The files are read and lowered once; the rules are asked again for each side,
because what a project runs on decides how its workers start and so what the model says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.commands import settings_changes
from loaderlint.commands.outcome import counts, write_lines
from loaderlint.commands.settings_changes import Change
from loaderlint.findings.differences import difference
from loaderlint.report import Report, comparison_report, terminal
from loaderlint.report.comparison_report import Compared

if TYPE_CHECKING:
    from loaderlint.engine import Workspace
    from loaderlint.findings.diagnostics import Diagnostic

_Found = Mapping[Path, Sequence["Diagnostic"]]


def compared(
    workspace: Workspace,
    paths: Sequence[Path],
    overrides: Mapping[str, object],
    changes: Sequence[Change],
    progress: Callable[[int, int], None],
) -> tuple[Compared, ...]:
    """What each change makes of the findings; where there are several, then what only all of them together do. The
    workspace is left as it would be after the last one."""
    now = workspace.check(paths, progress=progress)
    told = [Compared(change.text, difference(now, _with(workspace, paths, overrides, change))) for change in changes]
    if len(changes) > 1:
        every = settings_changes.together(changes)
        both = difference(now, _with(workspace, paths, overrides, every))
        told.append(Compared(every.text, both.without([one.difference for one in told]), together=True))
    return tuple(told)


def _with(workspace: Workspace, paths: Sequence[Path], overrides: Mapping[str, object], change: Change) -> _Found:
    """The findings with a change."""
    workspace.configure({**overrides, **change.overrides})
    return workspace.check(paths)


def something_comes(told: Sequence[Compared], chosen: argparse.Namespace) -> bool:
    """Whether some finding would count for the exit code that does not count now."""
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
