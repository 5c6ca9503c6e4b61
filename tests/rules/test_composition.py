"""Fixes side by side: all at once give what one after another gives, and a fault inside a real file is fixed there with
nothing else changed."""

from __future__ import annotations

import bisect
import colorsys
import heapq
import io
import keyword
import linecache
import shlex
import textwrap
import tokenize
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.finding import Severity
from loaderlint.fixes.file_edits import FileEdit
from tests.rules import pages
from tests.rules.cases import MOST_ROUNDS, PAGES, Project, as_written, assert_sound, tally

#: Modules of the standard library, as they are on this machine.
REAL: tuple[ModuleType, ...] = (bisect, colorsys, heapq, keyword, linecache, shlex, textwrap)
CASES = [
    pytest.param(page, case, id=f"{page.rule}/{case.slug}")
    for page in PAGES
    for case in page.cases
    if case.expects(page.rule)
]
#: The cases that are one file, which can be put under another file's text.
SINGLE = [
    pytest.param(page, case, id=f"{page.rule}/{case.slug}")
    for page in PAGES
    for case in page.cases
    if case.expects(page.rule)
    and len([block for block in case.files if block.language == "python" or block.name.endswith(".py")]) == 1
    and not any("from __future__" in block.text or block.name.endswith(".ipynb") for block in case.files)
]


def made(root: Path, case: pages.Case) -> Project:
    """The case in a folder of its own."""
    project = Project(root, case)
    project.write((block.name, block.text) for block in case.files)
    return project


def fixed_at_once(project: Project) -> dict[str, str]:
    """The files after all safe fixes of all rules, in as few rounds as they fit together."""
    for _ in range(MOST_ROUNDS):
        edits = project.workspace().fix_all([project.root])
        if not edits:
            return project.texts()
        project.apply(edits)
    pytest.fail("the fixes never come to an end")


def fixed_in_turn(project: Project) -> dict[str, str]:
    """The files after the first safe fix of the gravest finding, and again, until there is none."""
    for _ in range(10 * MOST_ROUNDS):
        workspace = project.workspace()
        edits = next(_safe_edits(workspace, project.check(workspace)), None)
        if edits is None:
            return project.texts()
        project.apply(edits)
    pytest.fail("the fixes never come to an end")


def without_layout(texts: dict[str, str]) -> dict[str, list[str]]:
    """The tokens of Python files without line breaks in brackets and trailing commas: which lines are too long depends
    on the lines that an earlier fix has left."""
    return {name: list(_tokens(text)) if name.endswith(".py") else [text] for name, text in texts.items()}


def _tokens(text: str) -> Iterator[str]:
    found = [one for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type != tokenize.NL]
    for one, after in pairwise(found):
        if one.string != "," or after.string not in (")", "]", "}"):
            yield one.string


def _safe_edits(workspace: Workspace, found: list[Diagnostic]) -> Iterator[tuple[FileEdit, ...]]:
    loudness = list(Severity)
    shown = [each for each in found if each.fixable and each.severity is not Severity.HINT]
    for diagnostic in sorted(shown, key=lambda d: (loudness.index(d.severity), d.code)):
        for repair in workspace.repairs(diagnostic):
            if repair.safety == "safe":
                yield repair.files


@pytest.mark.parametrize(("page", "case"), CASES)
def test_all_at_once_is_one_after_another(page: pages.Page, case: pages.Case, tmp_path: Path) -> None:
    if sum(each.fixable for each in as_written(page.rule, case.slug).found) < 2:
        return  # one fix composes with nothing
    once, turn = fixed_at_once(made(tmp_path / "once", case)), fixed_in_turn(made(tmp_path / "turn", case))
    assert without_layout(once) == without_layout(turn)


@pytest.mark.parametrize(("page", "case"), SINGLE)
def test_a_fault_in_a_real_file(page: pages.Page, case: pages.Case, tmp_path: Path) -> None:
    module = REAL[zlib.crc32(case.slug.encode()) % len(REAL)]
    real = Path(str(module.__file__)).read_text(encoding="utf-8").rstrip("\n") + "\n\n\n"
    project = Project(tmp_path / "within", case)
    project.write((block.name, real + block.text if block.language == "python" else block.text) for block in case.files)
    found = project.check(project.workspace())
    assert tally(project, found) == tally(*as_written(page.rule, case.slug)[:2])
    before = project.texts()
    after = fixed_at_once(project)
    assert_sound(before, after)
    assert not tally(project, project.check(project.workspace())) - tally(project, found)
    (name,) = before
    lines = iter(after[name].split("\n"))
    assert all(line in lines for line in real.split("\n")), "a line of the real file was touched"
