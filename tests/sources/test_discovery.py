"""The walk of a folder: it can be stopped anywhere, goes on where it stopped, and lets small projects go first."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loaderlint.engine import Cancelled, Workspace
from loaderlint.engine import workspace as workspace_module
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.sources import discovery
from loaderlint.sources.discovery import Budget, Walk, python_files
from tests.engine.test_which_files import FAULT

Early = list[Mapping[Path, tuple[Diagnostic, ...]]]


def after(calls: int) -> Callable[[], bool]:
    """A `stop` that answers True from the given call on."""
    left = iter(range(calls))
    return lambda: next(left, None) is None


def never() -> bool:
    return False


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("a", "a/b", "c", "d/e"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name in ("x.py", "y.py", "z.txt"):
            (tmp_path / folder / name).touch()
    (tmp_path / ".gitignore").write_text("y.py\n")
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("budget", [None, Budget(entries=9, files=100), Budget(entries=100, files=2)])
@pytest.mark.parametrize("calls", range(8))
def test_a_walk_that_was_stopped_goes_on(calls: int, budget: Budget | None, tree: Path) -> None:
    walk = Walk(tree, budget)
    try:
        walk.finish(after(calls))
    except Cancelled:
        pass
    assert walk.finish(never) == python_files(tree, budget=budget)


@pytest.mark.parametrize("entries", [1, 5, 10])
def test_a_walk_in_parts_lists_each_folder_once(entries: int, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Path] = []
    scandir = os.scandir
    monkeypatch.setattr(discovery.os, "scandir", lambda path: [listed.append(path), scandir(path)][1])
    walk, parts = Walk(tree), 1
    while not walk.go_on(entries * parts, never):
        parts += 1
    assert parts > 1
    assert walk.finish(never).files == tuple(tree / name / "x.py" for name in ("a", "a/b", "c", "d/e"))
    assert len(listed) == len(set(listed)) == 6


def test_a_folder_of_many_entries_is_left_when_its_walk_shall_stop(tmp_path: Path) -> None:
    for number in range(2_500):
        (tmp_path / f"{number}.txt").touch()
    calls = []
    python_files(tmp_path, lambda: bool(calls.append(None)))
    assert len(calls) >= 3
    with pytest.raises(Cancelled):
        python_files(tmp_path, after(2))


def test_a_large_folder_holds_up_no_other_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_module, "_FEW_ENTRIES", 10)
    for project in ("large", "small"):
        (tmp_path / project).mkdir()
        (tmp_path / project / "setup.cfg").touch()
        (tmp_path / project / "x.py").write_text(FAULT)
    for number in range(30):
        (tmp_path / "large" / f"d{number}").mkdir()
        (tmp_path / "large" / f"d{number}" / "y.txt").touch()
    large, small = (tmp_path / name / "x.py" for name in ("large", "small"))
    workspace = Workspace([tmp_path / "large", tmp_path / "small"], {"select": ["shared-generator"]})
    early: Early = []

    def stop() -> bool:
        """Once the small project was answered."""
        return len(early) == 1

    with pytest.raises(Cancelled):
        workspace.check([large, small], stop=stop, early=early.append)
    assert [sorted(found) for found in early] == [[small]]
    assert [one.name for one in early[0][small]] == ["shared-generator"]
    found = workspace.check([large, small])
    assert [one.name for one in found[large]] == ["shared-generator"]
