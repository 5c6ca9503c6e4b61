"""Internal errors of loaderlint. Each one costs only the part of the work in which it happened."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

#: The number of last calls that a traceback shows: an endless recursion has thousands.
_CALLS = 25
_LONGEST = 200


#: What is missing because of an error: findings, an edit, or an answer about code.
Cost = Literal["findings", "fix", "answer"]


class Interrupted(Exception):
    """The work ends early, but nothing is wrong."""


class Cancelled(Interrupted):
    """The caller's `stop` returned True."""


class Postponed(Interrupted):
    """Code has to be linked again while the user types: the caller asks again after a pause. `took`: how many seconds
    the last linking took."""

    def __init__(self, took: float) -> None:
        super().__init__(took)
        self.took = took


class Failure(NamedTuple):
    """An internal error. `path`: the file that it is about, if any; `rule`: the rule in which it happened, if any;
    `error`: its description, one line; `cost`: what is missing because of it."""

    path: Path | None
    rule: str
    error: str
    traceback: str
    cost: Cost = "findings"


@contextmanager
def contained(
    report: Callable[[Failure], None], path: Path | None, rule: str = "", cost: Cost = "findings"
) -> Iterator[None]:
    """Report an error in the `with` block and continue after it.

    Use it only around work that the following work does not need: a rule on one of its subjects, a part of a project, a
    project, a file and each piece of it, what is shown of a file, the explanation of a part's code, a fix. Lets
    Interrupted pass, and MemoryError, because the following work would fail too."""
    try:
        yield
    except (Interrupted, MemoryError):
        raise
    except Exception as error:
        report(failure_of(error, path, rule, cost))


def failure_of(error: Exception, path: Path | None = None, rule: str = "", cost: Cost = "findings") -> Failure:
    """The record of an error."""
    return Failure(path, rule, _line(error), "".join(traceback.format_exception(error, limit=-_CALLS)), cost)


def _line(error: Exception) -> str:
    """The error and where it was raised: 'IndexError: list index out of range, model.py:12'."""
    said = " ".join(str(error).split())[:_LONGEST]
    frames = traceback.extract_tb(error.__traceback__, limit=-1)
    where = f", {Path(frames[0].filename).name}:{frames[0].lineno}" if frames else ""
    return f"{type(error).__name__}{': ' if said else ''}{said}{where}"
