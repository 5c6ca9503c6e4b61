"""The tool finds the fault of each program, its own fix leaves nothing to find, and it says nothing of clean programs.

What the programs show when they run is the matter of `tests/truth/pytorch`; here nothing needs PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.truth import harness, tool
from tests.truth.catalogue import CLEAN, FAULTY, Case
from tests.truth.catalogue.base import label


@pytest.fixture
def program(case: Case, tmp_path: Path) -> Path:
    """A copy of the case's program, which is a project of its own."""
    return harness.copied(case.folder, tmp_path / "program")


@pytest.mark.parametrize("case", FAULTY, ids=label)
def test_the_tool_finds_it(case: Case, program: Path) -> None:
    found = tool.found(case, program)
    assert {finding["name"] for finding in found} == {case.rule}
    assert {finding["fix"] and finding["fix"]["safety"] for finding in found} == {case.fix}


@pytest.mark.parametrize("case", [case for case in FAULTY if case.fix], ids=label)
def test_the_tool_fixes_it(case: Case, program: Path) -> None:
    assert tool.fix(case, program) == []
    assert harness.texts(program) != harness.texts(case.folder)


@pytest.mark.parametrize("case", CLEAN, ids=label)
def test_the_tool_is_silent_on_clean_programs(case: Case, program: Path) -> None:
    assert tool.found(case, program) == []


def test_every_program_is_listed() -> None:
    there = {path.parent for path in harness.CASES.glob("*/*/train.py")}
    assert there == {case.folder for case in (*FAULTY, *CLEAN)}
