"""What depends on the terminal: the progress bar, and the width of messages."""

from __future__ import annotations

import io
import re

import pytest

from loaderlint.report import terminal


def test_messages_are_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Stream(True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "60")
    terminal.say(f"  {'word ' * 20}")
    terminal.complain("wrong " * 20)
    monkeypatch.setattr("sys.stdout", shown := _Stream(True))
    terminal.show(["", "  word " * 20])
    assert shown.getvalue().splitlines()[:2] == ["", f"  {'word   ' * 7}word"]
    assert max(map(len, shown.getvalue().splitlines())) <= 60
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert [line for line in lines if not line.startswith("    ")][:2] == [
        f"  {'word ' * 11}".rstrip(),
        f"loaderlint: {'wrong ' * 8}".rstrip(),
    ]
    monkeypatch.setattr("sys.stderr", piped := _Stream(False))
    terminal.say("word " * 20)
    assert piped.getvalue() == f"{'word ' * 20}\n"


class _Stream(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "patience", "shown"), [(True, 0.0, True), (False, 0.0, False), (True, 1e9, False)]
)
def test_the_bar_shows_long_work_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, patience: float, shown: bool
) -> None:
    stream = _Stream(is_terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(terminal, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with terminal.Progress(stream) as progress:
        progress(1, 2)
        progress(2, 2)
    assert ("Reading" in stream.getvalue()) is shown


@pytest.mark.parametrize("color", ["always", "never"])
def test_the_bar_has_colors_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch, color: str) -> None:
    stream = _Stream(True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with terminal.Progress(stream, color) as progress:
        progress(1, 2)
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]m|\x1b\[9[0-9]m", stream.getvalue())) is (color == "always")
