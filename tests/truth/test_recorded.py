"""The verdicts of old versions of PyTorch that are kept in `recorded/` hold for the programs and the fixes of today."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.truth import harness, record, tool
from tests.truth.catalogue import Case

#: An interpreter with torch 1.8, with which the programs are run again here.
OLD = os.environ.get("LOADERLINT_OLD_TORCH_PYTHON")


@pytest.mark.parametrize("case", record.CASES, ids=lambda case: case.name)
def test_verdict_is_of_this_program_and_this_fix(case: Case, tmp_path: Path) -> None:
    fixed = harness.copied(case.folder, tmp_path / "fixed")
    tool.fix(case, fixed)
    verdict = json.loads(record.path(case).read_text())
    assert verdict["versions"]["torch"].startswith("1.8.")
    assert verdict["key"] == record.key(case, fixed, verdict["versions"]), record.__doc__


@pytest.mark.parametrize("case", record.CASES, ids=lambda case: case.name)
def test_fault_was_there_and_the_fix_removed_it(case: Case) -> None:
    verdict = json.loads(record.path(case).read_text())
    seen = {entry["run"]: entry for entry in verdict["measured"]}
    for run in record.runs(case):
        assert harness.symptoms(seen[run.name]["before"]) == run.shows
        assert harness.symptoms(seen[run.name]["after"]) == frozenset()


@pytest.mark.skipif(OLD is None, reason="LOADERLINT_OLD_TORCH_PYTHON names no interpreter with torch 1.8")
@pytest.mark.parametrize("case", record.CASES, ids=lambda case: case.name)
def test_old_torch_still_says_so(case: Case) -> None:
    assert OLD is not None
    verdict = record.record(OLD, case)
    for run, entry in zip(record.runs(case), verdict["measured"], strict=True):
        assert harness.symptoms(entry["before"]) == run.shows
        assert harness.symptoms(entry["after"]) == frozenset()
