"""The command `diagnose`: finds the cause of what a program printed, and the line of the project.

The text is only read. Messages are looked up in the table of symptoms; the calls in its tracebacks are looked up in the
project, which is checked as `check` does it."""

from __future__ import annotations

import argparse
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.commands import open_projects
from loaderlint.commands.command_inputs import Usage, read_settings
from loaderlint.commands.outcome import complain_of_missing_answers
from loaderlint.explanations.diagnosis import Diagnosis, located
from loaderlint.explanations.tracebacks import calls_in, conditions
from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.knowledge.symptoms import LONGEST_LINE, main_ones, seen_in
from loaderlint.report import Item, Report, diagnosis_report
from loaderlint.report.exit_codes import DONE, FAILED
from loaderlint.report.terminal import colors, complain, say, width

if TYPE_CHECKING:
    from loaderlint.engine import Workspace

#: The exit code if nothing is recognised.
UNKNOWN = 1

#: The number of lines at the start and at the end of a long log that are examined.
_FIRST, _LAST = 5_000, 20_000
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def diagnose(chosen: argparse.Namespace) -> int:
    """Explain what a program printed, and return the exit code: 0 if something is recognised, else 1."""
    try:
        lines = _lines(chosen)
        overrides = read_settings(chosen)
    except (UnreadableFile, Usage) as error:
        complain(f"{chosen.file}: {error}" if isinstance(error, UnreadableFile) else str(error))
        return FAILED
    matches = main_ones(seen_in(lines))
    observed = {key: value for key, value in conditions(lines).items() if key not in overrides}
    for key, value in observed.items():
        setattr(chosen, key.replace("-", "_"), value)
    # A symptom is reason enough to ask a rule that is off by default.
    chosen.extend_select = [*(chosen.extend_select or ()), *(name for one in matches for name in one.symptom.rules)]
    try:
        workspace, paths = open_projects.opened(chosen, [chosen.project])
    except open_projects.Unusable as error:
        complain(str(error))
        return FAILED
    found = located(workspace.check(paths), matches, calls_in(lines))
    known = Diagnosis(tuple(matches), found, observed)
    told = diagnosis_report.as_json if chosen.output_format == "json" else diagnosis_report.text
    for line in told(known, lines, _report(known, workspace)):
        print(line)
    if complain_of_missing_answers(workspace.problems) == FAILED:
        return FAILED
    return DONE if known.matches or known.located else UNKNOWN


def _report(known: Diagnosis, workspace: Workspace) -> Report:
    """The findings of a diagnosis as a report, for the output formats."""
    return Report(
        items=tuple(Item(one.diagnostic, workspace.preferred_repair(one.diagnostic)) for one in known.located),
        files=0,
        directory=Path.cwd(),
        text_of=workspace.text,
        cells_of=workspace.cells,
        hints=True,
        color=colors(sys.stdout),
        width=width(sys.stdout),
        wraps=sys.stdout.isatty(),
    )


# --- the text ---------------------------------------------------------------------------------------------------------


def _lines(chosen: argparse.Namespace) -> list[str]:
    """The lines of a file, or of standard input, which is echoed as it arrives. Raises UnreadableFile."""
    if chosen.file not in (None, "-"):
        return _some(reading.read(Path(chosen.file), reading.ANY).decode("utf-8", "replace").splitlines())
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    if sys.stdin.isatty():
        say("Paste what the program printed, then press Ctrl+D.")
        return _some(sys.stdin)
    return _some(_interruptible(chosen.output_format == "text"))


def _some(lines: Iterable[str]) -> list[str]:
    """The first and the last lines, without line ends and colours; long lines are cut."""
    rest = (_COLOR.sub("", line.rstrip("\r\n"))[:LONGEST_LINE] for line in lines)
    return list(chain(list(islice(rest, _FIRST)), deque(rest, maxlen=_LAST)))


def _interruptible(passes_on: bool) -> Iterator[str]:
    """The lines of standard input. Ctrl+C is meant for the program that prints them, and what it prints after that is
    read too."""
    interrupted = False
    while True:
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            continue
        if not line:
            return
        if passes_on:
            print(line, end="", flush=True)
        yield line
