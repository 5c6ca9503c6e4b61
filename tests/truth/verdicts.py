"""What was seen when the programs were run on real packages: kept in `verdicts/`, one file a rule, and shown in the
documentation.

The tests measure it anew each time and compare. After a program, a fix or a version has changed,

    LOADERLINT_RECORD=1 python -m pytest tests/truth

writes what is measured instead; read the difference before it is committed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from tests.truth import harness
from tests.truth.catalogue import Case, Run

FOLDER = harness.HERE / "verdicts"
RECORDING = bool(os.environ.get("LOADERLINT_RECORD"))

#: before and after the tool's own fix; a clean program has one state.
Phase = Literal["before", "after", "clean"]
Kind = Literal["faulty", "clean"]
#: The symptoms of one program by run and phase.
Seen = dict[str, dict[Phase, list[str]]]

_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)


def path(rule: str) -> Path:
    """Where the verdicts of a rule are kept."""
    return FOLDER / f"{rule}.json"


def read(rule: str) -> dict[str, Any]:
    """The verdicts of a rule as they are kept: `versions`; under `faulty` and `clean`, by program and run, the symptoms
    in each phase; `emulated`, the programs whose NumPy is left unseeded as before torch 1.9."""
    found: dict[str, Any] = json.loads(path(rule).read_text("utf-8")) if path(rule).is_file() else {}
    return found


def versions(cases: Iterable[Case]) -> dict[str, str]:
    """The versions that the programs run on here: Python, PyTorch, NumPy, and what else they import."""
    texts = [text for case in cases for text in harness.texts(case.folder).values()]
    imported = {"torch", "numpy", *(name for text in texts for name in _IMPORT.findall(text))}
    named = importlib.metadata.packages_distributions()
    known = {named[module][0] for module in imported if module in named}
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in sorted(known)}}


class Verdicts:
    """What this session has measured. `note` compares with what is kept, or remembers it when recording."""

    def __init__(self) -> None:
        self._measured: dict[tuple[str, Kind, str], Seen] = {}

    def note(self, case: Case, run: Run, phase: Phase, symptoms: frozenset[str]) -> None:
        """Symptoms that were seen. Raises AssertionError if others are kept."""
        seen = sorted(symptoms)
        if RECORDING:
            runs = self._measured.setdefault((case.rule, _kind(phase), case.name), {})
            runs.setdefault(run.name, {})[phase] = seen
            return
        kept = read(case.rule).get(_kind(phase), {}).get(case.name, {}).get(run.name, {})
        assert kept.get(phase) == seen, f"verdicts/{case.rule}.json says {kept.get(phase)}; {__doc__}"

    def write(self, faulty: Iterable[Case], clean: Iterable[Case]) -> None:
        """Keep what was measured. What did not run now keeps what is known of it; what is gone goes."""
        cases: dict[Kind, tuple[Case, ...]] = {"faulty": tuple(faulty), "clean": tuple(clean)}
        for rule in {rule for rule, _, _ in self._measured}:
            own = [case for each in cases.values() for case in each if case.rule == rule]
            kept = read(rule)
            verdict: dict[str, Any] = {
                "versions": versions(own),
                "emulated": sorted({case.name for case in own if case.common.get("emulate")}),
            }
            for kind, each in cases.items():
                verdict[kind] = {
                    case.name: _merged(
                        case, kept.get(kind, {}).get(case.name, {}), self._measured.get((rule, kind, case.name), {})
                    )
                    for case in each
                    if case.rule == rule
                }
            FOLDER.mkdir(exist_ok=True)
            path(rule).write_text(json.dumps(verdict, indent=2) + "\n", encoding="utf-8")


def _kind(phase: Phase) -> Kind:
    return "clean" if phase == "clean" else "faulty"


def _merged(case: Case, kept: Seen, measured: Seen) -> Seen:
    return {run.name: {**kept.get(run.name, {}), **measured.get(run.name, {})} for run in case.runs}
