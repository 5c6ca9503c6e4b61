"""The exit codes of the command line, and the choice of one after a check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from loaderlint.findings.diagnostics import Diagnostic, Problem

#: No findings, findings, the work could not be done.
DONE, FINDINGS, FAILED = 0, 1, 2

#: The rule about files that cannot be parsed.
UNREAD_CODE = "unread-code"


def of_check(found: bool, failed: bool, problems: Iterable[Problem], chosen: argparse.Namespace) -> int:
    """The exit code of a check. `found`: whether a finding counts (see `counts`); `failed`: whether something could not
    be done."""
    if failed or any(one.fatal for one in problems):
        return FAILED
    return FINDINGS if found and not chosen.exit_zero else DONE


def counts(diagnostic: Diagnostic, chosen: argparse.Namespace) -> bool:
    """Whether a finding counts for the exit code: it must be at least as severe as --fail-on says. Hints never count. A
    file that cannot be parsed counts, whatever --fail-on says, if the file is named or the rule is selected by its name
    or code, because the requested file was not checked; otherwise it does not count, so that one old script does not
    fail the check of a repository."""
    from loaderlint.findings.finding import Severity  # imported late, because not every command needs it

    if diagnostic.severity is Severity.HINT:
        return False
    if diagnostic.name != UNREAD_CODE:
        levels = list(Severity)
        return levels.index(diagnostic.severity) <= levels.index(Severity(chosen.fail_on))
    selected = {*(chosen.select or ()), *(chosen.extend_select or ())}
    return not selected.isdisjoint((diagnostic.name, diagnostic.code)) or _is_named(diagnostic, chosen)


def _is_named(diagnostic: Diagnostic, chosen: argparse.Namespace) -> bool:
    from loaderlint.files.symlinks import known_as

    names = (chosen.stdin_filename if path == "-" else path for path in chosen.paths)
    return diagnostic.path in map(known_as, names)
