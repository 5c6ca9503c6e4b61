"""Run the pages of cases: what each rule finds, where it is silent, and what its fixes leave."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loaderlint.rules import RULES
from tests.rules import pages, snapshot
from tests.rules.cases import (
    FOLDER,
    MOST_ROUNDS,
    PAGES,
    Project,
    as_written,
    assert_each_fix,
    assert_found,
    assert_sound,
    tally,
)

CASES = [pytest.param(page, case, id=f"{page.rule}/{case.slug}") for page in PAGES for case in page.cases]
SNAPSHOTS = snapshot.Snapshots(FOLDER / "snapshots")


@pytest.fixture
def project(tmp_path: Path, case: pages.Case) -> Project:
    """The case, written to a folder of its own."""
    made = Project(tmp_path / "case", case)
    made.write((block.name, block.text) for block in case.files)
    return made


@pytest.mark.parametrize(("page", "case"), CASES)
def test_findings(page: pages.Page, case: pages.Case) -> None:
    assert_found(case, as_written(page.rule, case.slug))


@pytest.mark.parametrize(("page", "case"), CASES)
def test_snapshot(page: pages.Page, case: pages.Case) -> None:
    """Evidence, fixes and reasons for silence are what they were when somebody last read them."""
    SNAPSHOTS.compare(page, case, snapshot.found(as_written(page.rule, case.slug)))


@pytest.mark.parametrize(("page", "case"), [param for param in CASES if param.values[1].messages])
def test_messages(page: pages.Page, case: pages.Case) -> None:
    project, found, *_ = as_written(page.rule, case.slug)
    said = "".join(f"{project.name(d.path)}: {d.severity.value}: {d.message} [{d.name}]\n" for d in found)
    assert case.messages is not None
    _compare(page, case, "messages", said)
    assert not re.search(r"\blines? \d|\.py:\d", said), "a message names a line"


@pytest.mark.parametrize(("page", "case"), [param for param in CASES if param.values[1].silences])
def test_silences(page: pages.Page, case: pages.Case) -> None:
    said = "".join(f"{one.place}: {one.reason}\n" for one in as_written(page.rule, case.slug).silences)
    _compare(page, case, "silences", said)
    reasons = [line.partition(": ")[2] for line in said.splitlines()]
    assert not any(re.search(r"\blines? \d|\.py:\d", reason) for reason in reasons), "a reason names a line"


@pytest.mark.parametrize(("page", "case"), CASES)
def test_explaining_changes_no_finding(page: pages.Page, case: pages.Case) -> None:
    """Rules look for the reasons of their silence only where somebody asks: what they find must not depend on it."""
    project, found, *_ = as_written(page.rule, case.slug)
    assert project.check(project.workspace()) == found


def _compare(page: pages.Page, case: pages.Case, kind: str, said: str) -> None:
    """What is said with the case's block of it, or the other way round with LOADERLINT_UPDATE."""
    if not snapshot.UPDATES:
        assert said == getattr(case, kind).text, snapshot.RENEW
        return
    path = FOLDER / f"{page.rule}.md"
    text = path.read_text(encoding="utf-8")
    here = next(one for one in pages.parse_page(page.rule, text).cases if one.heading == case.heading)
    path.write_text(pages.replace_told(text, getattr(here, kind), said), encoding="utf-8", newline="")


@pytest.mark.parametrize(("page", "case"), CASES)
def test_each_fix(page: pages.Page, case: pages.Case, tmp_path: Path) -> None:
    assert_each_fix(case, as_written(page.rule, case.slug), tmp_path)


@pytest.mark.parametrize(("page", "case"), CASES)
def test_all_fixes(page: pages.Page, case: pages.Case, project: Project) -> None:
    as_it_was, found, repairs, *_ = as_written(page.rule, case.slug)
    if not repairs and not case.fixed:
        return
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
    if after != before:
        assert not tally(project, project.check(project.workspace())) - tally(as_it_was, found)
    listed = {block.name for block in case.fixed}
    left = {name: text for name, text in after.items() if name in listed or text != before[name]}
    if case.fixed and snapshot.UPDATES:
        path = FOLDER / f"{page.rule}.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(pages.replace_fixed(page.rule, text, case.heading, left), encoding="utf-8", newline="")
    elif case.fixed:
        assert left == {block.name: block.text for block in case.fixed}, snapshot.RENEW


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_page_is_complete(page: pages.Page) -> None:
    names = {rule.name for rule in RULES}
    assert page.rule in names, "no rule has this name: scripts/new_rule.py writes the skeleton of one"
    unknown = {e.rule for case in page.cases for block in case.files for e in block.expectations} - names
    assert not unknown, "an expectation names a rule that does not exist"
    faults = [case for case in page.cases if case.expects(page.rule)]
    assert len(faults) >= 5, f"write at least 5 cases with `# error: [{page.rule}]` or the like"
    assert len(page.cases) - len(faults) >= 8, f"write at least 8 near misses: cases without [{page.rule}]"
    if snapshot.UPDATES:  # the blocks were read before the update filled them
        return
    messages = any(case.messages and f"[{page.rule}]" in case.messages.text for case in faults)
    assert messages, f"no message is checked: add a block ```text messages to a fault; {snapshot.RENEW}"
    told = any(case.silences and case.silences.text.strip() for case in page.cases)
    silences = told or page.rule == "unused-suppression"
    assert silences, f"no silence is checked: add a block ```text silences to a near miss; {snapshot.RENEW}"
    assert SNAPSHOTS.kept(page).keys() <= {case.heading for case in page.cases}, "a snapshot has no case"


@pytest.mark.parametrize(("page", "case"), CASES)
def test_blocks_are_python(page: pages.Page, case: pages.Case) -> None:
    for block in (*case.files, *case.fixed):
        if block.language == "python":
            compile(block.text, block.name, "exec")
