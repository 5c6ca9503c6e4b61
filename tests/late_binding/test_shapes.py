"""Run the pages of late-bound datasets: what is found in each shape of choosing a class at run time, and how surely.

The format of the pages is that of `tests/rules`."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.rules import RULES
from tests.rules import pages, snapshot
from tests.rules.cases import assert_found, reader

FOLDER = Path(__file__).parent
PAGES = [pages.read_page(path) for path in sorted(FOLDER.glob("*.md"))]
SNAPSHOTS = snapshot.Snapshots(FOLDER / "snapshots")
NAMES = {rule.name for rule in RULES}
as_written = reader("late_binding", PAGES, NAMES)
CASES = [pytest.param(page, case, id=f"{page.rule}/{case.slug}") for page in PAGES for case in page.cases]


@pytest.mark.parametrize(("page", "case"), CASES)
def test_findings(page: pages.Page, case: pages.Case) -> None:
    assert_found(case, as_written(page.rule, case.slug))


@pytest.mark.parametrize(("page", "case"), CASES)
def test_snapshot(page: pages.Page, case: pages.Case) -> None:
    """Messages, fixes, reasons for silence and the worker map are what they were when somebody last read them."""
    SNAPSHOTS.compare(page, case, snapshot.found_and_run(as_written(page.rule, case.slug)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_page_has_both(page: pages.Page) -> None:
    fires = [case for case in page.cases if any(block.expectations for block in case.files)]
    assert fires, "no case with a finding"
    assert len(fires) < len(page.cases), "no silent case"
    assert SNAPSHOTS.kept(page).keys() <= {case.heading for case in page.cases}, "a snapshot has no case"


@pytest.mark.parametrize(
    ("page", "start", "reason"),
    [
        ("getattr-and-eval", "getattr-on-a-module", "its dataset is chosen by a name at run time"),
        ("registry", "a-decorator", "its class is looked up in a registry, by a name that is read at run time"),
        ("import-module", "a-subclass", "in a module that `importlib` finds by a name read at run time"),
        ("config-files", "a-configuration-that-is-named", "a configuration names its class"),
    ],
)
def test_evidence_says_why_it_is_a_guess(page: str, start: str, reason: str) -> None:
    slug = next(case.slug for one in PAGES if one.rule == page for case in one.cases if case.slug.startswith(start))
    for diagnostic in as_written(page, slug).found:
        assert any(reason in note.message for note in diagnostic.evidence)
