"""Errors of loaderlint itself. Each one costs the part of the work that it happened in, and no more."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

#: The last calls that a traceback shows: a recursion without end has thousands.
_CALLS = 25
_LONGEST = 200


#: What an error kept us from: findings, an edit, or an answer about code.
Cost = Literal["findings", "fix", "answer"]


class Interrupted(Exception):
    """The work ends before it is done, and nothing is wrong."""


class Cancelled(Interrupted):
    """The caller's `stop` said so."""


class Postponed(Interrupted):
    """Code has to be linked again while somebody types: the caller asks once more after a pause. `took`: how many
    seconds the last linking took."""

    def __init__(self, took: float) -> None:
        super().__init__(took)
        self.took = took


class Failure(NamedTuple):
    """An internal error. `path`: the file that it is about, if any; `rule`: the rule that it happened in, if any;
    `error`: what it is, in a line; `cost`: what is missing because of it."""

    path: Path | None
    rule: str
    error: str
    traceback: str
    cost: Cost = "findings"


@contextmanager
def contained(
    report: Callable[[Failure], None], path: Path | None, rule: str = "", cost: Cost = "findings"
) -> Iterator[None]:
    """Report an error of the block and go on behind it.

    This stands at the few boundaries where one part of the work ends and the next one does not need it: a rule at one
    of its subjects, a part of a project, a project, a file and each piece of it, what is shown of a file, what is told
    of a part's code, a fix. Raises Interrupted, and MemoryError: what comes next would fail as well."""
    try:
        yield
    except (Interrupted, MemoryError):
        raise
    except Exception as error:
        report(failure_of(error, path, rule, cost))


def failure_of(error: Exception, path: Path | None = None, rule: str = "", cost: Cost = "findings") -> Failure:
    """What there is to say of an error."""
    return Failure(path, rule, _line(error), "".join(traceback.format_exception(error, limit=-_CALLS)), cost)


def _line(error: Exception) -> str:
    """The error with where it was raised: 'IndexError: list index out of range, model.py:12'."""
    said = " ".join(str(error).split())[:_LONGEST]
    frames = traceback.extract_tb(error.__traceback__, limit=-1)
    where = f", {Path(frames[0].filename).name}:{frames[0].lineno}" if frames else ""
    return f"{type(error).__name__}{': ' if said else ''}{said}{where}"
