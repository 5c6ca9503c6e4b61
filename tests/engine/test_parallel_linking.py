"""A check in several processes finds the same as a check in one, and stores as much for the next edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from loaderlint.cache.database import Database
from loaderlint.cache.facts_cache import PieceCache
from loaderlint.engine import Workspace, parallel_linking
from loaderlint.runtime.internal_errors import Cancelled
from tests.engine.deadly import Deadly
from tests.engine.projects import cold, shown
from tests.engine.test_units import FILES, written


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path.resolve())


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A list of the parts that were linked in other processes, by the names of their members."""
    found: list[tuple[str, ...]] = []
    original = parallel_linking.linked

    def noting(
        known: parallel_linking.Known, parts: Iterable[tuple[str, ...]], jobs: int, stop: Callable[[], bool]
    ) -> Iterable[tuple[tuple[str, ...], parallel_linking.Noted]]:
        for part, noted in original(known, list(parts), jobs, stop):
            found.append(tuple(Path(one).name for one in part))
            yield part, noted

    monkeypatch.setattr(parallel_linking, "linked", noting)
    return found


PARTS = [("data.py", "run.py"), ("late.py",), ("models.py",), ("script.py", "data.py")]


def test_the_findings_are_those_of_one_process(root: Path, begun: list[tuple[str, ...]]) -> None:
    workspace = Workspace([root], jobs=2)
    found = shown(workspace.check(), root)
    assert sorted(begun) == PARTS
    assert workspace.links == 3
    assert found == cold(root, {})
    assert any(found.values())


@pytest.mark.parametrize(
    ("name", "old", "new", "linked"),
    [
        ("two/data.py", "np.random.rand()", "1", 1),
        ("two/data.py", "SIZE = 16", "SIZE = 16\nMORE = 1", 0),
        ("four/models.py", "return batch", "return DataLoader(batch)", 1),
        ("script.py", "from two.data import Images", "from one.data import Images", 2),
    ],
)
def test_an_edit_after_it_links_what_it_changes(root: Path, name: str, old: str, new: str, linked: int) -> None:
    workspace = Workspace([root], jobs=2)
    workspace.check()
    texts = {root / name: FILES[name].replace(old, new)}
    for path, text in texts.items():
        workspace.set_text(path, text)
    assert shown(workspace.check(), root) == cold(root, texts)
    assert workspace.links == 3 + linked


def test_an_editors_text_is_linked_here(root: Path, begun: list[tuple[str, ...]]) -> None:
    """Other processes read the files on disk."""
    text = FILES["two/data.py"].replace("np.random.rand()", "1")
    workspace = Workspace([root], jobs=2)
    workspace.set_text(root / "two/data.py", text)
    assert shown(workspace.check(), root) == cold(root, {root / "two/data.py": text})
    assert not begun


def test_one_part_needs_no_process(root: Path, begun: list[tuple[str, ...]]) -> None:
    (root / "__init__.py").touch()
    assert any(Workspace([root], jobs=2).check().values())
    assert not begun


def test_what_is_wrong_is_told_as_in_one_process(root: Path) -> None:
    """Also about files and settings without findings that are read."""
    (root / "two/loaderlint.toml").write_text('start-method = "telepathy"\n', "utf-8")
    (root / "two/data.py").write_bytes(FILES["two/data.py"].encode() + b"name = '\xff'\n")
    here, several = Workspace([root]), Workspace([root], jobs=2)
    for workspace in (here, several):
        workspace.check([root / "one"])
    assert {problem.path for problem in here.problems} == {root / "two/loaderlint.toml", root / "two/data.py"}
    assert several.problems == here.problems


def test_a_part_whose_process_dies_is_linked_here(
    root: Path, begun: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)  # the deadly cache is not found in the current folder
    found = Workspace([root], jobs=2, cache=Deadly(root / "cache")).check()
    assert sorted(begun) == [part for part in PARTS if "run.py" not in part]
    assert shown(found, root) == cold(root, {})


def test_without_processes_all_is_linked_here(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_processes(*_: object) -> object:
        raise OSError("no more processes")

    monkeypatch.setattr(parallel_linking, "linked", no_processes)
    assert shown(Workspace([root], jobs=2).check(), root) == cold(root, {})


def test_it_can_be_broken_off(root: Path) -> None:
    workspace = Workspace([root], jobs=2)
    with pytest.raises(Cancelled):
        workspace.check(stop=lambda: workspace.links > 0)  # one part is done
    assert shown(workspace.check(), root) == cold(root, {})


def test_the_facts_are_kept(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each process writes its facts of files to the cache."""
    database = Database(tmp_path_factory.mktemp("cache"))
    Workspace([root], jobs=2, cache=PieceCache(database)).check()
    data = (root / "two/data.py").read_bytes()
    kept = PieceCache(database).get(data, data.decode())
    assert kept is not None and kept.packed
