"""What a survey knows of a repository: data that can be pickled, and kept as a line of JSON.

The shape of a line is documented in docs/survey.md; `SCHEMA` grows with each change that old readers would misread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct, to_builtins

from loaderlint.findings.finding import Certainty

SCHEMA = 1

Reading = Literal["declared", "before_1_9"]
"""With which versions a repository was read: those that it declares, or torch before 1.9."""
READINGS: tuple[Reading, ...] = get_args(Reading)

Workers = Literal["yes", "maybe", "no"]
Declared = Literal["yes", "no", "maybe", "open", "none"]
FailureKind = Literal["error", "time", "memory", "crash"]


class NotAResult(ValueError):
    """The text is no result of this version; the message says why."""


class Repository(Struct, frozen=True):
    """One repository: its name, unique in a survey, and the absolute path of its folder."""

    name: str
    path: str


class Count(Struct, frozen=True):
    """How often a rule (by its code) spoke, by how loud and how sure it was."""

    rule: str
    severity: str
    certainty: Certainty
    count: int


class Dataset(Struct, frozen=True):
    """An analysable dataset: see docs/survey.md for what counts as one.

    `name`: file and class (`data/crops.py::Crops`), or a library's class. `certainty`: whether a loader in sight holds
    it. `workers`: whether a loader that holds it has any. `draws_numpy`: its workers draw from NumPy's global state.
    `hazards`: by reading, the rules that concern it."""

    name: str
    certainty: Certainty
    workers: Workers
    draws_numpy: bool
    hazards: Mapping[Reading, tuple[Count, ...]]


class Torch(Struct, frozen=True):
    """What the repository declares, in words ('2.4.1, from uv.lock'), and whether that is before 1.9: 'maybe' if some
    of the versions are, 'open' if a later one is not ruled out (`>=1.5`), 'none' if nothing is declared."""

    declared: str
    before_1_9: Declared


class Loaders(Struct, frozen=True):
    """The places where a loader is made, by whether it has workers."""

    yes: int
    maybe: int
    no: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.yes + self.maybe + self.no


class Failure(Struct, frozen=True):
    """Why a repository could not be read: an exception, the limit of time or of memory, or the end of the process."""

    kind: FailureKind
    message: str


class Measured(Struct, frozen=True):
    """What was found in one repository. `lines`: of Python files and of the code of
    notebooks; `unreadable`: files that could not be read."""

    files: int
    lines: int
    unreadable: int
    torch: Torch
    loaders: Loaders
    datasets: tuple[Dataset, ...]
    findings: Mapping[Reading, tuple[Count, ...]]


class Result(Struct, frozen=True):
    """One repository of a survey: what was found (`measured`), or why nothing was (`failure`).

    `key` changes when the repository does ('' if that was not looked at); `commit` is '' where none can be read; `cpu`
    in seconds, 0 where the process did not live to tell."""

    name: str
    loaderlint: str
    key: str = ""
    commit: str = ""
    measured: Measured | None = None
    failure: Failure | None = None
    cpu: float = 0.0


def to_line(result: Result) -> str:
    """The result as one line of JSON, with its end of line."""
    return json.dumps({"schema": SCHEMA, **to_builtins(result)}) + "\n"


def from_line(line: str) -> Result:
    """The result that a line of JSON holds.

    Raises NotAResult."""
    try:
        value = json.loads(line)
        if value.pop("schema") != SCHEMA:
            raise NotAResult(f"is of another version of loaderlint (schema {SCHEMA} is read)")
        return _result(value)
    except NotAResult:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAResult("is no result of a survey") from error


def _result(value: dict[str, Any]) -> Result:
    measured, failure = value.pop("measured"), value.pop("failure")
    return Result(
        **value, measured=_measured(measured) if measured else None, failure=Failure(**failure) if failure else None
    )


def _measured(value: dict[str, Any]) -> Measured:
    return Measured(
        files=value["files"],
        lines=value["lines"],
        unreadable=value["unreadable"],
        torch=Torch(**value["torch"]),
        loaders=Loaders(**value["loaders"]),
        datasets=tuple(Dataset(**{**one, "hazards": _counts(one["hazards"])}) for one in value["datasets"]),
        findings=_counts(value["findings"]),
    )


def _counts(value: dict[str, Any]) -> dict[Reading, tuple[Count, ...]]:
    return {reading: tuple(Count(**one) for one in value[reading]) for reading in READINGS}
