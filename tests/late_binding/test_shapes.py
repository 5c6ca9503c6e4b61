"""Run the pages of late-bound datasets: what is found in each shape of choosing a class at run time, and how surely.

The format of the pages is that of `tests/rules`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.rules import pages
from tests.rules.cases import Project, Row, row

PAGES = [pages.read_page(path) for path in sorted(Path(__file__).parent.glob("*.md"))]
CASES = [pytest.param(case, id=f"{page.rule}/{case.slug}") for page in PAGES for case in page.cases]


@pytest.mark.parametrize("case", CASES)
def test_findings(case: pages.Case, tmp_path: Path) -> None:
    project = Project(tmp_path / "case", case)
    project.write((block.name, block.text) for block in case.files)
    found = project.check(project.workspace())
    rows = Counter(row(project, diagnostic) for diagnostic in found)
    expected = [
        (Row(block.name, e.line + 1, e.severity, e.rule, e.certainty), e.text)
        for block in case.files
        for e in block.expectations
    ]
    wanted = Counter(each for each, _ in expected)
    lines = [f"missing {each}" for each in (wanted - rows).elements()]
    lines += [f"extra {row(project, d)}: {d.message}" for d in found if row(project, d) in rows - wanted]
    assert not lines, "\n".join(["", *lines])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_page_has_both(page: pages.Page) -> None:
    fires = [case for case in page.cases if any(block.expectations for block in case.files)]
    assert fires, "no case with a finding"
    assert len(fires) < len(page.cases), "no silent case"


@pytest.mark.parametrize(
    ("page", "start", "reason"),
    [
        ("getattr-and-eval", "getattr-on-a-module", "its dataset is chosen by a name at run time"),
        ("registry", "a-decorator", "its class is looked up in a registry, by a name that is read at run time"),
        ("import-module", "a-subclass", "in a module that `importlib` finds by a name read at run time"),
        ("config-files", "a-configuration-that-is-named", "a configuration names its class"),
    ],
)
def test_evidence_says_why_it_is_a_guess(page: str, start: str, reason: str, tmp_path: Path) -> None:
    case = next(case for one in PAGES if one.rule == page for case in one.cases if case.slug.startswith(start))
    project = Project(tmp_path / "case", case)
    project.write((block.name, block.text) for block in case.files)
    for diagnostic in project.check(project.workspace()):
        assert any(reason in note.message for note in diagnostic.evidence)
