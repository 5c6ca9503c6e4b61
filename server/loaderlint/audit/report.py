"""The report of an audit, as data, as text and as JSON."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from loaderlint.audit.evidence import Facts


class Verdict(enum.Enum):
    """The kind of a result."""

    FAULT = "fault"
    NOTE = "note"
    CLEAN = "clean"
    NOT_SEEN = "not seen"


class Result(Struct, frozen=True):
    """The result of one check. `check`: its name; `evidence`: what was seen, one line each; `rule`: the name of the
    loaderlint rule about it, if there is one; `places`: the lines of the user's code that did it, 'train.py:12'."""

    check: str
    verdict: Verdict
    text: str
    evidence: tuple[str, ...] = ()
    rule: str | None = None
    places: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The result as plain data that JSON can represent."""
        return {
            "check": self.check,
            "verdict": self.verdict.value,
            "text": self.text,
            "evidence": list(self.evidence),
            "rule": self.rule,
            "places": list(self.places),
        }


def clean(check: str, text: str) -> Result:
    """A result: the fault was looked for and not found."""
    return Result(check, Verdict.CLEAN, text)


def not_seen(check: str, why: str) -> Result:
    """A result: the fault could not be looked for. `why` is the reason."""
    return Result(check, Verdict.NOT_SEEN, why)


class AuditError(AssertionError):
    """A loader has faults: see `Report.raise_for_faults`."""


class Report(Struct, frozen=True):
    """The results for one loader. `facts`: what was run; `seconds`: how long it took; `drew`: the lines at which the
    workers drew random numbers, no two alike (see `drawn_apart`); `files`: those of the user's modules."""

    name: str
    facts: Facts
    results: tuple[Result, ...]
    seconds: float = 0.0
    drew: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """A description of the run, for people."""
        return self.facts.description

    @property
    def faults(self) -> tuple[Result, ...]:
        """The results that are faults."""
        return tuple(each for each in self.results if each.verdict is Verdict.FAULT)

    def with_result(self, result: Result) -> Report:
        """The report with a later result, which replaces the one for the same check."""
        others = tuple(each for each in self.results if each.check != result.check)
        return replace(self, results=(*others, result))

    @property
    def notes(self) -> tuple[Result, ...]:
        """The results that are worth knowing, but no faults by themselves."""
        return tuple(each for each in self.results if each.verdict is Verdict.NOTE)

    def raise_for_faults(self) -> None:
        """Raise AuditError, with the report as its text, if there is a fault."""
        if self.faults:
            raise AuditError(str(self))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Sequence[str]:
        lines = [f"{self.name}: {self.description}"]
        for verdict in Verdict:
            for each in self.results:
                if each.verdict is verdict:
                    rule = f" [{each.rule}]" if each.rule else ""
                    lines.append(f"  {verdict.value}: {each.check}: {each.text}{rule}")
                    lines += [f"    {line}" for line in each.evidence]
        count = len(self.faults)
        lines.append(f"  {count} fault{'' if count == 1 else 's'}, {self.seconds:.1f} s")
        return lines

    def as_data(self) -> dict[str, Any]:
        """The report as plain data that JSON can represent."""
        return {
            "loader": self.name,
            "description": self.description,
            "seconds": round(self.seconds, 3),
            "results": [each.as_data() for each in self.results],
            "facts": asdict(self.facts),
            "drew": list(self.drew),
            "files": list(self.files),
        }

    def as_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.as_data(), indent=2)


def result_of(data: Mapping[str, Any]) -> Result:
    """The inverse of `Result.as_data`."""
    return Result(
        data["check"],
        Verdict(data["verdict"]),
        data["text"],
        tuple(data["evidence"]),
        data["rule"],
        tuple(data["places"]),
    )


def report_of(data: Mapping[str, Any]) -> Report:
    """The inverse of `Report.as_data`."""
    results = tuple(map(result_of, data["results"]))
    told: dict[str, Any] = {name: data["facts"][name] for name in Facts.__struct_fields__}
    told.update({name: tuple(value) for name, value in told.items() if isinstance(value, list)})
    facts = Facts(**told)
    return Report(data["loader"], facts, results, data["seconds"], tuple(data["drew"]), tuple(data["files"]))
