"""The result of a survey for a repository: data that can be pickled, and stored as a line of JSON.

The shape of a line is documented in docs/survey.md; increase `SCHEMA` with each change that old readers would
misread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct, to_builtins

from loaderlint.findings.finding import Certainty

SCHEMA = 1

Reading = Literal["declared", "before_1_9"]
"""The versions with which a repository was read: those that it declares, or torch before 1.9."""
READINGS: tuple[Reading, ...] = get_args(Reading)

Workers = Literal["yes", "maybe", "no"]
Declared = Literal["yes", "no", "maybe", "open", "none"]
FailureKind = Literal["error", "time", "memory", "crash"]


class NotAResult(ValueError):
    """The text is not a result of this version; the message says why."""


class Repository(Struct, frozen=True):
    """One repository: its name, unique in a survey, and the absolute path of its folder."""

    name: str
    path: str


class Count(Struct, frozen=True):
    """The number of findings of a rule (by its code), by severity and certainty."""

    rule: str
    severity: str
    certainty: Certainty
    count: int


class Dataset(Struct, frozen=True):
    """An analysable dataset: see docs/survey.md for what counts as one.

    `name`: file and class (`data/crops.py::Crops`), or a library's class. `certainty`: whether a known loader holds it.
    `workers`: whether a loader that holds it has workers. `draws_numpy`: whether its workers draw from NumPy's global
    state. `hazards`: the rules that affect it, by reading."""

    name: str
    certainty: Certainty
    workers: Workers
    draws_numpy: bool
    hazards: Mapping[Reading, tuple[Count, ...]]


class Torch(Struct, frozen=True):
    """The torch that the repository declares, as text ('2.4.1, from uv.lock'), and whether it is before 1.9: 'maybe' if
    only some of the versions are, 'open' if the range has no upper bound (`>=1.5`), 'none' if nothing is declared."""

    declared: str
    before_1_9: Declared


class Loaders(Struct, frozen=True):
    """The number of places where a loader is made, by whether it has workers."""

    yes: int
    maybe: int
    no: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.yes + self.maybe + self.no


class Failure(Struct, frozen=True):
    """Why a repository could not be read: an exception, the time or memory limit, or the death of the process."""

    kind: FailureKind
    message: str


class Measured(Struct, frozen=True):
    """What was found in one repository. `lines`: the number of lines of Python, including the code of notebooks;
    `unreadable`: the number of files that could not be read."""

    files: int
    lines: int
    unreadable: int
    torch: Torch
    loaders: Loaders
    datasets: tuple[Dataset, ...]
    findings: Mapping[Reading, tuple[Count, ...]]


class Result(Struct, frozen=True):
    """One repository of a survey: what was found (`measured`), or why nothing was (`failure`).

    `key` changes when the repository does ('' if it was not computed); `commit` is '' if none can be read; `cpu` is in
    seconds, 0 if the process died."""

    name: str
    loaderlint: str
    key: str = ""
    commit: str = ""
    measured: Measured | None = None
    failure: Failure | None = None
    cpu: float = 0.0


def to_line(result: Result) -> str:
    """The result as one line of JSON, with its line end."""
    return json.dumps({"schema": SCHEMA, **to_builtins(result)}) + "\n"


def from_line(line: str) -> Result:
    """The result in a line of JSON.

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
