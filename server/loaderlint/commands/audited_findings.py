"""Records the audits of a program for `check`, and compares them with the findings of its project."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from loaderlint import HOME, __version__
from loaderlint.audit.report import Report
from loaderlint.cache import audit_results
from loaderlint.commands.command_inputs import roots_of
from loaderlint.engine import Project, Workspace
from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.findings.audits import Audit, Fault, Line
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.report import shown_path

#: A longer settings file is data: it decides which samples there are, not how they are processed.
_LONGEST_SETTINGS = 1_000_000


class Audited(Struct, frozen=True):
    """The audit of one loader as the program reported it. `made`: the lines that made the loader, innermost first;
    `settings`: the settings files that the program had opened. Places are relative to `folder`."""

    report: Report
    folder: str
    made: tuple[str, ...]
    settings: tuple[str, ...]


class Compared(Struct):
    """The findings that audits confirm and refute, and the faults that `check` misses. `problems`: why something was
    not recorded."""

    confirmed: list[Diagnostic] = field(default_factory=list)
    refuted: list[Diagnostic] = field(default_factory=list)
    missed: list[tuple[Audit, Fault]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Run(Struct, frozen=True):
    """One run of a program with its arguments, in the project around a folder. `began`: the start time in seconds. A
    file that was edited later may differ from the code that ran."""

    program: str
    arguments: tuple[str, ...]
    folder: Path
    began: float


def compared(audited: Sequence[Audited], run: Run) -> Compared:
    """Check the project, record the audits, and compare both."""
    told = Compared()
    workspace = Workspace(roots_of([run.folder]).folders, {})
    workspace.check([run.folder])
    for project, _ in workspace.answered():
        own = [one for one in audited if _is_of(project, one)]
        audits = [audit for one in own if (audit := _as_recorded(one, run, told.problems)) is not None]
        if audits:
            told.missed += [(audit, fault) for audit in audits for fault in _missed(project, audit)]
            try:
                audit_results.record(project.root, audits)
            except OSError as error:
                told.problems.append(f"the results cannot be kept: {error.strerror}")
    shown = workspace.check([run.folder])
    told.confirmed = [one for found in shown.values() for one in found if one.audit]
    told.refuted = [one for project, _ in workspace.answered() for one in project.refuted()]
    return told


def _is_of(project: Project, one: Audited) -> bool:
    return any(Path(path).is_relative_to(project.root) for path, _ in _lines(one.made[:1], one.folder))


def _as_recorded(one: Audited, run: Run, problems: list[str]) -> Audit | None:
    """The audit to record, without code and data; None if a file has changed since the program started."""
    report, facts = one.report, one.report.facts
    files: dict[str, str] = {}
    for path in {*map(os.path.realpath, report.files), *map(os.path.realpath, one.settings)}:
        try:
            changed = os.stat(path).st_mtime >= run.began
            data = reading.read(path, reading.ANY)
        except (OSError, UnreadableFile):
            changed, data = True, b""
        if path in one.settings and len(data) > _LONGEST_SETTINGS:
            continue
        if changed:
            problems.append(f"{report.name}: {shown_path(Path(path), Path.cwd())} has changed; audit it again")
            return None
        files[path] = audit_results.content_digest(data)
    faults = tuple(Fault(each.check, each.rule, _lines(each.places, one.folder)) for each in report.faults)
    return Audit(
        run.program,
        audit_results.content_digest(repr(run.arguments).encode("utf-8", "surrogateescape")),
        _lines(one.made, one.folder),
        facts.workers,
        facts.epochs,
        facts.batches,
        facts.method,
        facts.torch,
        platform.python_version(),
        files,
        faults,
        _lines(report.drew, one.folder),
    )


def _lines(places: Sequence[str], folder: str) -> tuple[Line, ...]:
    """Places such as 'train.py:12', as absolute paths with lines."""
    split = (place.rpartition(":") for place in places)
    return tuple((os.path.realpath(os.path.join(folder, path)), int(line)) for path, _, line in split)


def _missed(project: Project, audit: Audit) -> Iterator[Fault]:
    """The faults that no finding reports. Exceptions that no rule is about are left out: they are the program's own."""
    for fault in audit.faults:
        if fault.rule is None and fault.check == "samples":
            continue
        if fault.rule is None or not project.speaks_of(fault.rule, frozenset((*fault.lines, *audit.made))):
            yield fault


# --- how it is shown --------------------------------------------------------------------------------------------------


def text(told: Compared) -> Iterator[str]:
    """The comparison as lines of text."""
    for word, found in (("confirmed", told.confirmed), ("refuted", told.refuted)):
        for one in found:
            yield f"{word}: {_place(str(one.path), one.span.line + 1)}: {one.message} [{one.code} {one.name}]"
    if told.refuted:
        yield "`loaderlint check` hides refuted findings until a file that the program loaded changes."
    for audit, fault in told.missed:
        yield ""
        yield f"missed: `loaderlint check` does not report {fault.check}. Please report it at {HOME}:"
        yield from (f"  {line}" for line in _issue(audit, fault))
    yield from (f"Note: {problem}." for problem in told.problems)


def _issue(audit: Audit, fault: Fault) -> Iterator[str]:
    """The text for an issue. It quotes no code: the user decides what to share."""
    rule = f"the rule {fault.rule}" if fault.rule else "no rule"
    yield f"`loaderlint audit` saw {fault.check}, which {rule} is about, and `loaderlint check` reports nothing."
    yield f"loaderlint {__version__}, {sys.platform}; {audit.described.partition(': ')[2]}"
    for path, line in fault.lines[:1]:
        yield f"Output of: loaderlint explain {_place(path, line)}"


def _place(path: str, line: int) -> str:
    return f"{shown_path(Path(path), Path.cwd())}:{line}"


def as_data(told: Compared) -> dict[str, Any]:
    """The comparison as plain data, for JSON."""

    def finding(one: Diagnostic) -> dict[str, object]:
        path = shown_path(one.path, Path.cwd())
        return {"code": one.code, "name": one.name, "path": path, "line": one.span.line + 1, "message": one.message}

    return {
        "confirmed": [finding(one) for one in told.confirmed],
        "refuted": [finding(one) for one in told.refuted],
        "missed": [
            {
                "check": fault.check,
                "rule": fault.rule,
                "places": [_place(*line) for line in fault.lines],
                "issue": "\n".join(_issue(audit, fault)),
            }
            for audit, fault in told.missed
        ],
        "problems": list(told.problems),
    }
