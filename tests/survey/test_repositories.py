"""Which repositories are read, in which shard, and how a change is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.survey.repositories import Ambiguous, commit, listed, repositories, shard
from loaderlint.survey.results import Repository
from tests.survey.made import PLAIN, repository, three


def names(found: list[Repository]) -> list[str]:
    """Their names."""
    return [one.name for one in found]


def test_a_folder_of_repositories(tmp_path: Path) -> None:
    three(tmp_path)
    repository(tmp_path, ".hidden", {"a.py": PLAIN})
    repository(tmp_path, "node_modules", {"a.py": PLAIN})
    (tmp_path / "notes.txt").write_text("")
    assert names(repositories([tmp_path])) == ["old", "open", "plain"]


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.py", "train.py", "study.ipynb", ".git/HEAD"])
def test_a_folder_that_is_one(tmp_path: Path, marker: str) -> None:
    folder = repository(tmp_path, "one", {marker: "", "inner/a.py": PLAIN})
    assert repositories([folder]) == [Repository("one", str(folder))]


def test_two_of_one_name(tmp_path: Path) -> None:
    for outer in ("x", "y"):
        repository(tmp_path / outer, "same", {"a.py": PLAIN})
    with pytest.raises(Ambiguous, match="--repositories-from"):
        repositories([tmp_path / "x", tmp_path / "y"])
    assert names(listed(["x/same\n", "\n", "y/same", "x/same"], tmp_path)) == ["x/same", "y/same"]


def test_shards_are_all_and_do_not_overlap() -> None:
    found = [Repository(f"owner{number}/name", "/somewhere") for number in range(200)]
    parts = [shard(found, number, 7) for number in range(1, 8)]
    assert sorted(one.name for part in parts for one in part) == sorted(names(found))
    assert all(10 < len(part) < 50 for part in parts)


def test_the_shard_depends_on_the_name_alone() -> None:
    # Shards that were made by other versions and on other machines must fit: this choice must never change.
    found = [Repository(name, "/anywhere") for name in ("alpha", "beta", "gamma", "owner/name")]
    assert [names(shard(found, number, 3)) for number in (1, 2, 3)] == [["alpha", "beta"], ["owner/name"], ["gamma"]]


def test_the_commit_without_git(tmp_path: Path) -> None:
    a, b = "a" * 40, "b" * 40
    detached = repository(tmp_path, "detached", {".git/HEAD": f"{a}\n"})
    branch = repository(tmp_path, "branch", {".git/HEAD": "ref: refs/heads/x\n", ".git/refs/heads/x": f"{b}\n"})
    packed = {".git/HEAD": "ref: refs/heads/x\n", ".git/packed-refs": f"# pack\n{a} refs/heads/xx\n{b} refs/heads/x\n"}
    assert commit(detached) == a
    assert commit(branch) == b
    assert commit(repository(tmp_path, "packed", packed)) == b
    assert commit(repository(tmp_path, "none", {"a.py": PLAIN})) == ""
