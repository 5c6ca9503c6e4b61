"""Facts from the cache equal newly computed ones, and only texts that were never seen are parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loaderlint.cache import facts_cache
from loaderlint.cache.database import NAME, Database
from loaderlint.cache.facts_cache import PieceCache
from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.sources import open_file

DATA = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Faces(Dataset):
    def __init__(self, root):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return self.rng.random(), helper(index)
"""
TRAIN = """from torch.utils.data import DataLoader
from data import Faces


def main():
    for batch in DataLoader(Faces("x"), num_workers=4):
        print(batch)


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "data.py").write_text(DATA)
    (root / "train.py").write_text(TRAIN)
    (root / "broken.py").write_text("from data import Faces\ndef f(:\n    pass\n")
    return root


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list of the first lines of the pieces that are parsed from now on."""
    seen: list[str] = []
    real = open_file._lowered

    def lower(piece: Any) -> Any:
        seen.append(piece.text.split("\n")[0].strip())
        return real(piece)

    monkeypatch.setattr(open_file, "_lowered", lower)
    return seen


def checked(root: Path, cache: Path | None) -> dict[Path, tuple[Diagnostic, ...]]:
    workspace = Workspace([root], {"platforms": ["linux"]}, cache=PieceCache(Database(cache)) if cache else None)
    found = workspace.check()
    workspace.keep()
    return found


def test_nothing_is_parsed_twice(project: Path, tmp_path: Path, lowered: list[str]) -> None:
    cold = checked(project, tmp_path / "cache")
    assert lowered and any(cold.values())
    lowered.clear()
    assert checked(project, tmp_path / "cache") == cold
    assert lowered == []


def test_only_what_changed_is_parsed(project: Path, tmp_path: Path, lowered: list[str]) -> None:
    checked(project, tmp_path / "cache")
    lowered.clear()
    (project / "train.py").write_text(TRAIN.replace('"x"', '"y"'))
    assert checked(project, tmp_path / "cache") == checked(project, None)
    assert "def __getitem__(self, index):" not in lowered[: len(lowered) // 2]


def test_a_moved_file_is_known_by_its_content(project: Path, tmp_path: Path, lowered: list[str]) -> None:
    checked(project, tmp_path / "cache")
    lowered.clear()
    (project / "data.py").rename(project / "faces.py")
    (project / "faces.py").write_text(DATA)
    (project / "train.py").write_text(TRAIN.replace("from data", "from faces"))
    again = checked(project, tmp_path / "cache")
    assert "def __getitem__(self, index):" not in lowered
    assert again == checked(project, None)


def test_other_versions_are_not_read(
    project: Path, tmp_path: Path, lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(project, tmp_path / "cache")
    for name, other in (("__version__", "99"), ("SCHEMA", 99), ("_libcst", lambda: b"99"), ("_own_code", lambda: b"")):
        with monkeypatch.context() as patched:
            patched.setattr(f"loaderlint.cache.cache_folder.{name}", other)
            lowered.clear()
            checked(project, tmp_path / "cache")
            assert lowered, name


@pytest.mark.parametrize("rows", ["UPDATE kept SET data = zeroblob(40)", "DELETE FROM kept", "DROP TABLE kept"])
def test_a_damaged_cache_changes_no_finding(project: Path, tmp_path: Path, rows: str) -> None:
    cold = checked(project, tmp_path / "cache")
    database = Database(tmp_path / "cache")
    database.get(b"")
    assert database._connection is not None
    database._connection.execute(rows)
    database.close()
    assert checked(project, tmp_path / "cache") == cold
    assert (tmp_path / "cache" / NAME).exists()


def test_facts_under_the_wrong_key_are_refused(project: Path, tmp_path: Path) -> None:
    """A forger, unlike damage, can store facts of another file under a key. They are refused if they do not fit the
    text."""
    cold = checked(project, tmp_path / "cache")

    class Swapped(Database):
        def get(self, key: bytes) -> bytes | None:
            found: list[bytes] = list(values)
            return next((value for value in found if value != super(Swapped, self).get(key)), None)

    plain = Database(tmp_path / "cache")
    cache = PieceCache(plain)
    keys = [cache._key((project / name).read_bytes()) for name in ("data.py", "train.py")]
    values = [value for key in keys if (value := plain.get(key)) is not None]
    assert len(values) == 2
    workspace = Workspace([project], {"platforms": ["linux"]}, cache=PieceCache(Swapped(tmp_path / "cache")))
    assert workspace.check() == cold


def test_without_the_library_there_is_no_cache(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowered: list[str]
) -> None:
    cold = checked(project, tmp_path / "cache")
    monkeypatch.setattr(facts_cache, "_can_encode", lambda: False)
    lowered.clear()
    assert checked(project, tmp_path / "cache") == cold
    assert lowered


def test_two_projects_share_what_is_known_of_a_library(tmp_path: Path, lowered: list[str]) -> None:
    library = "from torch.utils.data import DataLoader\nclass Feed(DataLoader):\n    pass\n"
    roots = [tmp_path / "one", tmp_path / "two"]
    for root, name in zip(roots, ("Faces", "Words"), strict=True):
        site = root / ".venv/lib/python3.11/site-packages"
        site.mkdir(parents=True)
        (root / ".venv/pyvenv.cfg").write_text("version = 3.11.4\n")
        (root / "pyproject.toml").touch()
        (site / "somelib.py").write_text(library)
        (root / "train.py").write_text(
            DATA.replace("Faces", name) + f'from somelib import Feed\nloader = Feed({name}("x"), num_workers=4)\n'
        )
    first = checked(roots[0], tmp_path / "cache")
    assert "class Feed(DataLoader):" in lowered and any(first.values())
    lowered.clear()
    second = checked(roots[1], tmp_path / "cache")
    assert "class Words(Dataset):" in lowered and any(second.values())
    assert "class Feed(DataLoader):" not in lowered
