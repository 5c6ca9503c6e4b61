"""The log of internal errors: each kind is logged once, with a traceback. The same error often occurs at every
keystroke."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Problem
    from loaderlint.runtime.internal_errors import Failure


class FailureLog:
    """The errors of one process, logged by `logger`."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._logged: set[str] = set()

    def note(self, work: str, failure: Failure) -> None:
        """Log that `work` failed."""
        self._note(failure.error, f"{work}: {failure.error}", failure.traceback)

    def note_problems(self, problems: Iterable[Problem], wanted: Callable[[Problem], bool]) -> None:
        """Log those problems of the workspace that are internal errors and `wanted`."""
        for problem in problems:
            if getattr(problem, "traceback", "") and wanted(problem):
                where = f"{problem.path}: " if problem.path else ""
                self._note(problem.message, f"{where}{problem.message}", problem.traceback)

    def _note(self, key: str, message: str, traceback: str) -> None:
        if key not in self._logged:
            self._logged.add(key)
            self._logger.error("%s\n%s", message, traceback)


def costs_findings(problem: Problem) -> bool:
    """Whether a problem is an internal error that cost findings."""
    return bool(getattr(problem, "traceback", "")) and problem.cost == "findings"


def costs_a_fix(problem: Problem) -> bool:
    """Whether an internal error prevented a fix. The engine notices this between two checks."""
    return problem.cost == "fix"
