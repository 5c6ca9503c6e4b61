"""What no parser reads of a file is looked for once for a text: each piece is parsed for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.syntax import unread


def test_pieces_are_parsed_once_for_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\ndef f(:\n")
    asked: list[int] = []
    found = unread.unread_parts
    monkeypatch.setattr(unread, "unread_parts", lambda pieces, is_read: [asked.append(1), *found(pieces, is_read)][1:])
    workspace = Workspace([tmp_path], reports_unread=True)

    def lines() -> list[int]:
        return [one.span.line for one in workspace.check([broken])[broken]]

    assert lines() == lines() == [1]
    assert len(asked) == 1
    workspace.set_text(broken, "x = 1\ny = 2\ndef f(:\n")
    assert lines() == [2]
    assert len(asked) == 2
