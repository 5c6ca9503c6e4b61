"""Run the pages of cases: what each rule finds, where it is silent, and what its fixes leave."""

from __future__ import annotations

import io
import os
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from loaderlint.engine import Diagnostic, Workspace
from loaderlint.fixes.edits import FileEdit
from loaderlint.rules import RULES
from loaderlint.syntax.positions import apply_edits
from tests.rules import pages

FOLDER = Path(__file__).parent
PAGES = [pages.read_page(path) for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]
CASES = [pytest.param(page, case, id=f"{page.rule}/{case.slug}") for page in PAGES for case in page.cases]
DEFAULTS: pages.Settings = {"target-python": "3.11", "platforms": ["linux"]}
MOST_ROUNDS = 10


class Row(NamedTuple):
    """A finding or an expectation as it is compared and shown; `line` is 1-based."""

    file: str
    line: int
    severity: str
    rule: str
    certainty: str


class Project:
    """A case on disk."""

    def __init__(self, root: Path, case: pages.Case) -> None:
        self.root = root.resolve()
        self.overrides = {name: value for name, value in (DEFAULTS | case.settings).items() if value is not None}

    def write(self, files: Iterable[tuple[str, str]]) -> None:
        """Write files by name."""
        for name, text in files:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")

    def workspace(self) -> Workspace:
        """A fresh workspace over the folder; nothing may go wrong in it."""
        return Workspace([self.root], dict(self.overrides))

    def check(self, workspace: Workspace) -> list[Diagnostic]:
        """All findings of the project."""
        found = [diagnostic for each in workspace.check([self.root]).values() for diagnostic in each]
        assert not workspace.problems
        return found

    def name(self, path: Path) -> str:
        """The file's name in the case."""
        return path.resolve().relative_to(self.root).as_posix()

    def texts(self) -> dict[str, str]:
        """The Python files as they are on disk."""
        return {self.name(path): path.read_text(encoding="utf-8") for path in sorted(self.root.rglob("*.py"))}

    def apply(self, edits: Sequence[FileEdit]) -> None:
        """Write the edits to disk."""
        self.write((self.name(e.path), apply_edits(e.path.read_text(encoding="utf-8"), e.edits)) for e in edits)


@pytest.fixture
def project(tmp_path: Path, case: pages.Case) -> Project:
    """The case, written to a folder of its own."""
    made = Project(tmp_path / "case", case)
    made.write((block.name, block.text) for block in case.files)
    return made


def row(project: Project, diagnostic: Diagnostic) -> Row:
    """The diagnostic as a row."""
    name = project.name(diagnostic.path)
    return Row(name, diagnostic.span.line + 1, diagnostic.severity.value, diagnostic.name, diagnostic.certainty)


def comments(text: str) -> Counter[str]:
    """The comments of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def assert_sound(before: dict[str, str], after: dict[str, str]) -> None:
    """The files after a fix compile and keep their comments."""
    for name, text in after.items():
        compile(text, name, "exec")
        assert not comments(before[name]) - comments(text), f"comments of {name} are lost:\n{text}"


def tally(project: Project, found: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """How many findings each rule has in each file."""
    return Counter((diagnostic.name, project.name(diagnostic.path)) for diagnostic in found)


def source_line(project: Project, diagnostic: Diagnostic) -> tuple[str, str, str]:
    """The rule, the file and the text of the line: what stays when other lines come and go."""
    name = project.name(diagnostic.path)
    return diagnostic.name, name, project.texts()[name].split("\n")[diagnostic.span.line]


@pytest.mark.parametrize(("page", "case"), CASES)
def test_findings(page: pages.Page, case: pages.Case, project: Project) -> None:
    found = project.check(project.workspace())
    expected = [
        (Row(block.name, e.line + 1, e.severity, e.rule, e.certainty), e.text)
        for block in case.files
        for e in block.expectations
    ]
    wanted = Counter(each for each, _ in expected)
    rows = Counter(row(project, diagnostic) for diagnostic in found)
    lines = [f"missing {each}" for each in (wanted - rows).elements()]
    lines += [f"extra {row(project, d)}: {d.message}" for d in found if row(project, d) in rows - wanted]
    assert not lines, "\n".join(["", *lines])
    for each, text in expected:
        messages = [d.message for d in found if row(project, d) == each]
        assert text is None or any(text in message for message in messages), f"'{text}' is not said: {messages}"


@pytest.mark.parametrize(("page", "case"), CASES)
def test_each_fix(page: pages.Page, case: pages.Case, project: Project, tmp_path: Path) -> None:
    workspace = project.workspace()
    found = project.check(workspace)
    before = project.texts()
    repairs = [(d, r) for d in found if d.fixable for r in workspace.repairs(d)]
    for number, (diagnostic, repair) in enumerate(repairs):
        fixed = Project(tmp_path / f"fixed{number}", case)
        fixed.write((block.name, block.text) for block in case.files)
        fixed.apply([FileEdit(fixed.root / project.name(each.path), each.edits) for each in repair.files])
        assert_sound(before, fixed.texts())
        assert fixed.texts() != before, f"'{repair.title}' changes nothing"
        if repair.safety == "unsafe":
            continue
        left = fixed.check(fixed.workspace())
        subject = f"'{repair.title}' for {row(project, diagnostic)}"
        was, now = tally(project, found), tally(fixed, left)
        assert not now - was, f"{subject} adds {[row(fixed, d) for d in left]}"
        rule = (diagnostic.name, project.name(diagnostic.path))
        assert now[rule] < was[rule], f"{subject} removes nothing"
        line = source_line(project, diagnostic)
        was_there = [source_line(project, each) for each in found].count(line)
        assert [source_line(fixed, each) for each in left].count(line) < was_there, f"{subject} removes another finding"


@pytest.mark.parametrize(("page", "case"), CASES)
def test_all_fixes(page: pages.Page, case: pages.Case, project: Project) -> None:
    found = project.check(project.workspace())
    before = project.texts()
    for _ in range(MOST_ROUNDS):
        edits = project.workspace().fix_all([project.root], rules={page.rule})
        if not edits:
            break
        project.apply(edits)
    else:
        pytest.fail("the fixes never come to an end")
    after = project.texts()
    assert_sound(before, after)
    assert not tally(project, project.check(project.workspace())) - tally(project, found)
    listed = {block.name for block in case.fixed}
    left = {name: text for name, text in after.items() if name in listed or text != before[name]}
    if case.fixed and os.environ.get("LOADERLINT_UPDATE"):
        path = FOLDER / f"{page.rule}.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(pages.replace_fixed(page.rule, text, case.heading, left), encoding="utf-8", newline="")
    elif case.fixed:
        assert left == {block.name: block.text for block in case.fixed}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_page_is_complete(page: pages.Page) -> None:
    names = {rule.name for rule in RULES}
    assert page.rule in names
    unknown = {e.rule for case in page.cases for block in case.files for e in block.expectations} - names
    assert not unknown
    faults = [case for case in page.cases if case.expects(page.rule)]
    assert len(faults) >= 5
    assert len(page.cases) - len(faults) >= 8


@pytest.mark.parametrize(("page", "case"), CASES)
def test_blocks_are_python(page: pages.Page, case: pages.Case) -> None:
    for block in (*case.files, *case.fixed):
        if block.language == "python":
            compile(block.text, block.name, "exec")
