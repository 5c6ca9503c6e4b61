"""What the engine's process stores on disk between sessions, and when it writes."""

from __future__ import annotations

import queue
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from loaderlint.cache.database import NAME, files
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.lsp.backend import Loaderlint
from loaderlint.lsp.engine_messages import Call, Reply, Told
from loaderlint.lsp.engine_process import EngineLoop, Message
from loaderlint.sources import open_file
from tests.lsp.test_engine_process import DATA


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    (root / "data.py").write_text(DATA)
    (root / "more.py").write_text(
        "from data import loader\n\n\ndef first():\n    for batch in loader:\n        return batch\n"
    )
    return root


class Session:
    """An engine with `path` open in an editor, which has answered one question."""

    def __init__(self, path: Path, cache: Path | None) -> None:
        self.path = path
        self.inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.replies: list[Reply] = []
        self.child = EngineLoop(lambda: Loaderlint(cache), self.inbox, self.replies.append)
        told = (Told("workspace", ((path.parent,), {})), Told("set_text", (path, path.read_text())))
        self.ask(told)
        self.child.step()

    def ask(self, told: tuple[Told, ...] = ()) -> None:
        self.inbox.put(Call(len(self.replies) + 1, told, "check", ((self.path,), False)))

    def found(self) -> tuple[Diagnostic, ...]:
        value: Any = self.replies[-1].value
        found: tuple[Diagnostic, ...] = value[0][self.path]
        return found

    def rest(self) -> None:
        """Let some time pass without questions."""
        self.child._rest()


def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list of the texts of the pieces that are lowered from now on."""
    made, lower = [], open_file._lowered

    def noted(piece: Any) -> Any:
        made.append(piece.text)
        return lower(piece)

    monkeypatch.setattr(open_file, "_lowered", noted)
    return made


def test_the_next_session_parses_nothing_that_was_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = project.parent / "cache"
    (project / "other.py").write_text(DATA.replace("Samples", "Others"))
    first = Session(project / "other.py", cache)
    assert first.found()
    first.rest()
    assert list(files(cache))
    made = lowered(monkeypatch)
    second = Session(project / "data.py", cache)  # now this file is open, with its text on disk
    assert second.found() and not made
    assert Session(project / "data.py", None).found() == second.found()
    assert made


def test_it_writes_only_while_nobody_asks(project: Path) -> None:
    cache = project.parent / "cache"
    session = Session(project / "data.py", cache)
    session.ask()
    session.rest()
    assert not list(files(cache))
    session.child.step()
    session.rest()
    assert list(files(cache))


@pytest.mark.parametrize("how", ["a file in the way", "damaged", "locked"])
def test_a_cache_that_cannot_be_used_changes_nothing(project: Path, how: str) -> None:
    cache = project.parent / "cache"
    if how == "a file in the way":
        cache.write_text("")
    else:
        cache.mkdir()
        (cache / NAME).write_bytes(b"SQLite format 3\0" + bytes(1000) if how == "damaged" else b"")
    other = sqlite3.connect(cache / NAME, isolation_level=None) if how == "locked" else None
    if other is not None:
        other.execute("BEGIN EXCLUSIVE")
    session = Session(project / "data.py", cache)
    session.rest()
    assert session.found() == Session(project / "data.py", None).found() != ()
    if other is not None:
        other.close()
