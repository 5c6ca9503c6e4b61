"""An engine that has released memory gives the same answers as one that has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.sources import store
from tests.engine.projects import cold, shown, write


@pytest.fixture(autouse=True)
def _every_project_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MUCH_TEXT", 0)


def rest(workspace: Workspace) -> None:
    for _ in workspace.rest():
        pass


def test_it_keeps_no_facts_of_files_that_nobody_edits(tmp_path: Path) -> None:
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    found = workspace.check()
    kept = workspace.project(root).store
    assert any(file and file.memo for file in kept._open.values())
    rest(workspace)
    assert not any(file and file.memo for file in kept._open.values())
    links = workspace.links
    assert workspace.check() == found and workspace.links == links


def test_edits_of_any_file_end_where_a_fresh_start_does(tmp_path: Path) -> None:
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    for path in sorted(root.rglob("*.py")):
        rest(workspace)
        text = path.read_text()
        for now in ("import os\n" + text, text + "\ndef half(", text.replace("random", "randint")):
            workspace.set_text(path, now)
            assert shown(workspace.check(), root) == cold(root, {path: now}), path
            rest(workspace)
        workspace.set_text(path, None)
    assert shown(workspace.check(), root) == cold(root, {})


def test_opening_a_file_that_nobody_changed_links_nothing(tmp_path: Path) -> None:
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    rest(workspace)
    links = workspace.links
    for path in sorted(root.rglob("*.py")):
        workspace.set_text(path, path.read_text())
    workspace.check()
    assert workspace.links == links


def test_a_file_that_changed_on_disk_meanwhile(tmp_path: Path) -> None:
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    path = root / "demo" / "transforms.py"
    for told in (True, False):
        rest(workspace)
        path.write_text(path.read_text().replace("random", "randint") + "\n\nnumber = 1\n")
        if told:
            workspace.forget([path])
        else:  # it is open in the editor, without a notification of a change
            workspace.set_text(path, path.read_text())
        assert shown(workspace.check(), root) == cold(root, {})
