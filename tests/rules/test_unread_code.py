"""Run the page of `unread-code`. Its files are no valid Python, so what the other pages prove with fixes and by putting
cases into real files does not apply."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from tests.rules import pages
from tests.rules.cases import FOLDER, Project, assert_found, checked

PATH = FOLDER / "unread" / "unread-code.md"
PAGE = pages.read_page(PATH)
CASES = [pytest.param(case, id=case.slug) for case in PAGE.cases]


@pytest.fixture
def project(tmp_path: Path, case: pages.Case) -> Project:
    """The case, written to a folder of its own."""
    made = Project(tmp_path / "case", case)
    made.write((block.name, block.text) for block in case.files)
    return made


@pytest.mark.parametrize("case", CASES)
def test_findings(case: pages.Case, project: Project) -> None:
    assert_found(case, checked(project))


@pytest.mark.parametrize("case", [param for param in CASES if param.values[0].messages])
def test_messages(case: pages.Case, project: Project) -> None:
    found = project.check(project.workspace())
    said = "".join(f"{project.name(d.path)}: {d.severity.value}: {d.message} [{d.name}]\n" for d in found)
    assert case.messages is not None
    if os.environ.get("LOADERLINT_UPDATE"):
        PATH.write_text(pages.replace_told(PATH.read_text(encoding="utf-8"), case.messages, said), encoding="utf-8")
    else:
        assert said == case.messages.text


@pytest.mark.parametrize("case", CASES)
def test_an_editor_is_not_told(case: pages.Case, project: Project) -> None:
    workspace = Workspace([project.root], dict(project.overrides))
    names = {found.name for each in workspace.check([project.root]).values() for found in each}
    assert PAGE.rule not in names


@pytest.mark.parametrize("case", CASES)
def test_the_fingerprint_does_not_move_with_the_line(case: pages.Case, project: Project) -> None:
    before = [one.fingerprint for one in project.check(project.workspace()) if one.name == PAGE.rule]
    project.write((block.name, f"# one line more\n\n{block.text}") for block in case.files if block.name == "case.py")
    assert [one.fingerprint for one in project.check(project.workspace()) if one.name == PAGE.rule] == before


def test_page_is_complete() -> None:
    faults = [case for case in PAGE.cases if case.expects(PAGE.rule)]
    assert len(faults) >= 5
    assert len(PAGE.cases) - len(faults) >= 7
    assert any(case.messages for case in faults)
