"""Stores measurements as JSON: parts that are run again replace their old results, the others stay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measures import Measure


@dataclass(frozen=True, slots=True)
class Part:
    """The measurements of one part. `about`: the machine, the day, the commit and the rounds; `quick`: whether it was a
    quick run."""

    name: str
    about: Mapping[str, str]
    quick: bool
    measures: Mapping[str, Measure]


def read(path: Path) -> dict[str, Part]:
    """The parts in a file; none if there is no such file."""
    if not path.exists():
        return {}
    return {name: _part(name, found) for name, found in json.loads(path.read_text(encoding="utf-8")).items()}


def write(path: Path, parts: Iterable[Part]) -> None:
    """Write the parts to a file, replacing it."""
    text = json.dumps({part.name: _plain(part) for part in parts}, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def _plain(part: Part) -> dict[str, Any]:
    measures = {
        one.name: {"unit": one.unit, "values": [_short(value) for value in one.values]}
        for one in part.measures.values()
    }
    return {"about": dict(part.about), "quick": part.quick, "measures": measures}


def _part(name: str, found: Mapping[str, Any]) -> Part:
    measures = {
        measure: Measure(measure, one["unit"], tuple(one["values"])) for measure, one in found["measures"].items()
    }
    return Part(name, found["about"], found["quick"], measures)


def _short(value: float) -> float:
    """Round to five digits, which are more than a measurement is worth."""
    return float(f"{value:.5g}")
