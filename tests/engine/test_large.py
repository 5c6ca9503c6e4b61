"""Less of a large project stays in memory: a part is released after linking, and gives the same answers later."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from loaderlint.cache.database import Database
from loaderlint.cache.facts_cache import PieceCache
from loaderlint.engine import Workspace, linking
from loaderlint.sources import search_index
from loaderlint.sources.store import Store
from tests.engine.projects import cold, shown
from tests.engine.test_units import EDITS, FILES, written


@pytest.fixture(autouse=True)
def _every_project_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "_MUCH", 0)


def test_nothing_stays_of_files_that_nobody_edits(tmp_path: Path) -> None:
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    edited = root / "one/data.py"
    workspace.set_text(edited, FILES["one/data.py"])
    workspace.check([edited])
    store = workspace.project(root).store
    assert {path.parent.name for path, file in store._open.items() if file} == {"one"}
    assert {path.parent.name for path in store._data} == {"one"}


def test_bytes_that_an_index_stands_for_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "_OFTEN", 0)
    root = written(tmp_path.resolve())
    path = root / "two/unopened.py"
    path.write_text("nothing = 'of interest'\n", "utf-8")
    project = (workspace := Workspace([root])).project(root)
    kept: list[bool] = []
    project.on_linked(lambda model: kept.append(path in project.store._data) if path in model.files.paths() else None)
    assert workspace.check()
    assert kept == [False] and path not in project.store._open


def test_a_check_reads_each_file_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once to determine the parts, and once to link; not again to find out that it has no suppressions."""
    reads: Counter[Path] = Counter()
    read = Store._read

    def counted(self: Store, path: Path) -> bytes:
        reads[path] += 1
        return read(self, path)

    monkeypatch.setattr(Store, "_read", counted)
    root = written(tmp_path.resolve())
    found = Workspace([root]).check()
    # script.py may be cut into pieces when its bytes have already been released.
    silent = [path for path, diagnostics in found.items() if not diagnostics and path != root / "script.py"]
    assert silent and {reads[path] for path in silent} == {2}


@pytest.mark.parametrize("where", ["on disk", "in an editor"])
def test_a_suppression_counts_in_a_file_that_was_let_go(tmp_path: Path, where: str) -> None:
    """In a file without findings: the comments of others are read in any case."""
    root = written(tmp_path.resolve())
    path = root / "four/models.py"
    workspace = Workspace([root])
    workspace.check()
    for comment, names in (("# loaderlint: ignore\n", ["unused-suppression"]), ("", [])):
        text = comment + FILES["four/models.py"]
        if where == "on disk":
            path.write_text(text, "utf-8")
            workspace.forget([path])
        else:
            workspace.set_text(path, text)
        for _ in range(2):
            shown_here = [one.name for one in workspace.check()[path]]
            assert [name for name in shown_here if name == "unused-suppression"] == names


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("on_disk", [False, True])
def test_edits_of_any_file_end_where_a_fresh_start_does(tmp_path: Path, seed: int, on_disk: bool) -> None:
    chance = random.Random(seed)
    root = written(tmp_path.resolve())
    workspace = Workspace([root], cache=PieceCache(Database(tmp_path / "cache")))
    assert workspace.check()
    for _ in range(12):
        name, old, new = chance.choice(EDITS)
        path = root / name
        text = path.read_text("utf-8")
        text = text.replace(old, new) if old in text else text.replace(new, old)
        if not on_disk:
            workspace.set_text(path, text)
        path.write_text(text, "utf-8")
        workspace.forget([path])
        assert shown(workspace.check(), root) == cold(root, {})
        if chance.random() < 0.5:
            workspace.set_text(path, None)


def test_opening_a_file_that_nobody_changed_links_nothing(tmp_path: Path) -> None:
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    links = workspace.links
    for name, text in FILES.items():
        if name.endswith(".py"):
            workspace.set_text(root / name, text)
    workspace.check()
    assert workspace.links == links


def test_what_is_half_typed_keeps_its_last_good_findings(tmp_path: Path) -> None:
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    path = root / "one/data.py"
    (before,) = workspace.check()[path]
    workspace.set_text(path, FILES["one/data.py"].replace("def noisy(index):\n", "def noisy(index):\n    half(\n"))
    (now,) = workspace.check()[path]
    assert now.name == before.name


def test_a_file_that_changed_on_disk_in_between_is_looked_at_again(tmp_path: Path) -> None:
    """There was no notification of the first change, so the content that was read first is not the one that was
    linked."""
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    path, other = root / "two/data.py", root / "script.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("np.random.rand()", "1"), "utf-8")
    other.write_text(FILES["script.py"].replace("Images()", "DataLoader(Images())"), "utf-8")
    workspace.forget([other])
    links = workspace.links
    workspace.check()
    assert workspace.links > links
    path.write_text(text, "utf-8")
    workspace.forget([path])
    assert shown(workspace.check(), root) == cold(root, {})


def test_what_a_file_was_is_not_told_where_it_changed_meanwhile(tmp_path: Path) -> None:
    """Its findings depend on a content that differs from the one on disk, so nothing about that may be stored."""
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    store = workspace.project(root).store
    same, other = root / "one/data.py", root / "two/data.py"
    content = same.read_bytes()
    other.write_text(other.read_text("utf-8") + "\n# more\n", "utf-8")
    assert not store._data.keys() & {same, other}
    assert (store.linked_data(same), store.linked_data(other)) == (content, None)
