"""Records what real old versions of PyTorch do with a program before and after the tool's own fix.

torch 1.8 has no wheel for the Pythons that the tool runs on, so its verdicts are recorded once and kept in `recorded/`.
A verdict is keyed by the programs before and after the fix, the ways in which they were run, and the versions: when the
program or the fix changes, `test_recorded` fails until it is recorded again:

    python3.8 -m venv old && old/bin/pip install torch==1.8.1 numpy==1.23.5
    python -m tests.truth.record --old old/bin/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.truth import harness
from tests.truth.catalogue import FAULTY, Case, Run
from tests.truth.catalogue.random_numbers import NUMPY

RECORDED = harness.HERE / "recorded"

#: The rule that old versions are needed for.
RULES = (NUMPY,)
#: The programs that old versions have run. The others draw from the same state in other ways, and run on a new version
#: whose NumPy is left unseeded.
_PROGRAMS = ("helper_class", "own_init_function")
CASES = tuple(case for case in FAULTY if case.rule in RULES and case.name in _PROGRAMS)


def path(case: Case) -> Path:
    """Where the verdict on `case` is kept."""
    return RECORDED / f"{case.rule}.{case.name}.json"


def runs(case: Case) -> Sequence[Run]:
    """The ways in which the old version runs `case`."""
    return case.runs


def arguments(case: Case, run: Run) -> dict[str, Any]:
    """The oracle's arguments: those of the tests, without the emulation of what is really there."""
    merged = {**case.common, **run.arguments}
    merged.pop("emulate", None)
    return merged


def key(case: Case, fixed: Path, versions: Mapping[str, str]) -> str:
    """What a verdict holds for."""
    ways = [[run.name, dict(run.loader), arguments(case, run)] for run in runs(case)]
    return harness.digest(harness.texts(case.folder), harness.texts(fixed), ways, dict(versions))


def measure(python: str, folder: Path, case: Case, run: Run) -> dict[str, Any]:
    """Run the program in `folder` on `python` and return what the oracle measures, with the versions.

    Raises subprocess.CalledProcessError when the program fails, TimeoutExpired after a minute.
    """
    command = [python, str(harness.HERE / "oracles.py"), str(folder), case.oracle]
    done = subprocess.run(
        [*command, json.dumps(dict(run.loader)), json.dumps(arguments(case, run))],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def record(python: str, case: Case) -> dict[str, Any]:
    """Run `case` on `python` before and after the tool's fix and return the verdict."""
    with tempfile.TemporaryDirectory() as scratch:
        before = harness.copied(case.folder, Path(scratch) / "before")
        after = harness.copied(case.folder, Path(scratch) / "after")
        harness.check(after, "--fix", "--select", case.rule, *case.flags)
        measured = []
        versions: dict[str, str] = {}
        for run in runs(case):
            faulty, cured = (measure(python, folder, case, run) for folder in (before, after))
            versions = faulty["versions"]
            measured.append({"run": run.name, "before": faulty["measured"], "after": cured["measured"]})
        return {
            "command": "python -m tests.truth.record --old PYTHON",
            "versions": versions,
            "key": key(case, after, versions),
            "measured": measured,
        }


def main() -> None:
    """Record all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="an interpreter that has torch 1.8")
    chosen = parser.parse_args()
    RECORDED.mkdir(exist_ok=True)
    for case in CASES:
        verdict = record(str(Path(chosen.old).absolute()), case)
        path(case).write_text(json.dumps(verdict, indent=2) + "\n")
        print(path(case).name, verdict["versions"]["torch"])


if __name__ == "__main__":
    main()
