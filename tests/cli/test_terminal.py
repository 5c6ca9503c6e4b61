"""The progress bar: on a terminal, and only when the work takes long."""

from __future__ import annotations

import io

import pytest

from loaderlint.report import terminal


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
