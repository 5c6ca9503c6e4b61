"""The command `workers`: the worker map."""

from __future__ import annotations

import argparse
from pathlib import Path

from loaderlint.commands import open_projects
from loaderlint.commands.outcome import complain_of_missing_answers
from loaderlint.report import worker_map_report as report
from loaderlint.report.exit_codes import FAILED
from loaderlint.report.locations import Spots
from loaderlint.report.terminal import complain, show


def workers(chosen: argparse.Namespace) -> int:
    """List the loaders, what runs in their workers, and what is copied into each. Returns the exit code."""
    try:
        workspace, paths = open_projects.opened(chosen, chosen.paths or ["."], rules=())
    except open_projects.Unusable as error:
        complain(str(error))
        return FAILED
    known = workspace.worker_map(paths)
    spots = Spots(workspace, Path.cwd())
    if chosen.output_format == "json":
        print(report.as_json(known, spots))
    else:
        show(report.text(known, spots, whole=chosen.all))
    return complain_of_missing_answers(workspace.problems)
