"""Run the pages of wrappers: what the rules find in the workers of each, and where they are silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.knowledge.wrappers import WRAPPERS
from loaderlint.rules import RULES
from tests.rules import pages, snapshot
from tests.rules.cases import assert_each_fix, assert_found, reader

FOLDER = Path(__file__).parent
PAGES = [pages.read_page(path) for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]
CASES = [pytest.param(page, case, id=f"{page.rule}/{case.slug}") for page in PAGES for case in page.cases]
SNAPSHOTS = snapshot.Snapshots(FOLDER / "snapshots")
NAMES = {rule.name for rule in RULES}
as_written = reader("wrappers", PAGES, NAMES)
#: Pages about what is no library: the project's own wrappers, seen and declared.
OWN = {"own-wrappers", "declared-loaders"}
#: Libraries whose workers no rule knows: their pages hold only what must stay silent.
NOTHING_SAID = {"tf-data", "grain"}

UNSEEN = """\
import numpy as np
from company.data import make_loader
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.random()


loader = make_loader(Noisy(), num_workers=4)
"""


@pytest.mark.parametrize(("page", "case"), CASES)
def test_findings(page: pages.Page, case: pages.Case) -> None:
    assert_found(case, as_written(page.rule, case.slug))


@pytest.mark.parametrize(("page", "case"), CASES)
def test_snapshot(page: pages.Page, case: pages.Case) -> None:
    """Messages, fixes, reasons for silence and the worker map are what they were when somebody last read them."""
    SNAPSHOTS.compare(page, case, snapshot.found_and_run(as_written(page.rule, case.slug)))


@pytest.mark.parametrize(("page", "case"), CASES)
def test_each_fix(page: pages.Page, case: pages.Case, tmp_path: Path) -> None:
    assert_each_fix(case, as_written(page.rule, case.slug), tmp_path)


def test_a_declaration_is_seen_when_settings_change(tmp_path: Path) -> None:
    """The project is linked again: with it the finding comes, without it it goes."""
    (tmp_path / "train.py").write_text(UNSEEN, encoding="utf-8")
    workspace = Workspace([tmp_path], {"target-python": "3.11", "platforms": ["linux"]})
    assert not found_in(workspace, tmp_path)
    workspace.configure({"target-python": "3.11", "platforms": ["linux"], "loaders": ["make_loader"]})
    assert found_in(workspace, tmp_path) == ["shared-generator"]
    workspace.configure({"target-python": "3.11", "platforms": ["linux"]})
    assert not found_in(workspace, tmp_path)


def found_in(workspace: Workspace, folder: Path) -> list[str]:
    """The rules that speak in a folder."""
    return [diagnostic.name for found in workspace.check([folder]).values() for diagnostic in found]


def test_each_wrapper_has_a_page() -> None:
    assert {page.rule for page in PAGES} == {wrapper.slug for wrapper in WRAPPERS} | OWN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_page_is_complete(page: pages.Page) -> None:
    expected = [[e.rule for block in case.files for e in block.expectations] for case in page.cases]
    assert not {name for names in expected for name in names} - NAMES
    assert any(not names for names in expected), "no case is silent"
    assert any(expected) is (page.rule not in NOTHING_SAID)
    assert SNAPSHOTS.kept(page).keys() <= {case.heading for case in page.cases}, "a snapshot has no case"


@pytest.mark.parametrize(("page", "case"), CASES)
def test_blocks_are_python(page: pages.Page, case: pages.Case) -> None:
    for block in case.files:
        if block.language == "python":
            compile(block.text, block.name, "exec")
