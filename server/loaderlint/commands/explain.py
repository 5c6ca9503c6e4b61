"""The command `explain`: shows a rule's page, or what is known about a line."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from loaderlint.report.exit_codes import DONE, FAILED
from loaderlint.report.terminal import colors, complain, show
from loaderlint.rules import RULES, rule
from loaderlint.settings.settings import nearest

_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


def explain(chosen: argparse.Namespace) -> int:
    """Show a rule's page or explain a line, and return the exit code."""
    place = _LINE.fullmatch(chosen.subject)
    if place is not None:
        column = int(place["column"]) if place["column"] else None
        return _explain_line(chosen, place["path"], int(place["line"]), column)
    found = rule(chosen.subject) or rule(chosen.subject.upper()) or rule(chosen.subject.lower())
    if found is not None:
        _show_page(found.page)
        return DONE
    if Path(chosen.subject).is_file():
        complain(f"which line of it? Write {chosen.subject}:12, or list what runs where: loaderlint workers")
        return FAILED
    known = [name for each in RULES for name in (each.name, each.code)]
    complain(
        f"no rule is called '{chosen.subject}'{nearest(chosen.subject, known)}\n"
        "All of them: loaderlint rules. A line of a file: loaderlint explain FILE:LINE"
    )
    return FAILED


def _show_page(page: str) -> None:
    if colors(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        print(page.strip())


def _explain_line(chosen: argparse.Namespace, name: str, line: int, column: int | None) -> int:
    from loaderlint.commands import open_projects
    from loaderlint.commands.outcome import complain_of_missing_answers
    from loaderlint.report import explanation_report
    from loaderlint.report.locations import Spots
    from loaderlint.syntax.source import lines_of

    try:
        workspace, (path,) = open_projects.opened(chosen, [name])
    except open_projects.Unusable as error:
        complain(str(error))
        return FAILED
    if path.is_dir():
        complain(f"{name}: a folder has no lines; write FILE:LINE, or list what runs where: loaderlint workers {name}")
        return FAILED
    unreadable = workspace.unreadable(path)
    lines = len(lines_of(workspace.text(path)))
    if unreadable or not 1 <= line <= lines:
        complain(f"{name}: {unreadable or _beyond(lines)}")
        return FAILED
    known = workspace.explain(path, line - 1, None if column is None else max(column - 1, 0))
    spots = Spots(workspace, Path.cwd())
    if chosen.output_format == "json":
        print(explanation_report.as_json(known, spots))
    else:
        show(explanation_report.text(known, spots))
    return complain_of_missing_answers(workspace.problems)


def _beyond(lines: int) -> str:
    return f"the file has {lines} lines; choose one from 1 to {lines}" if lines else "the file is empty"
