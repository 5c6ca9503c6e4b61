"""A terminal without a screen, for editors that need one: keys go in, and what would be shown comes out as text."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pytest

from tests.editors.support import PATIENCE

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed; to get it: make setup-editors")
pyte = pytest.importorskip("pyte", reason="pyte is not installed; to get it: make setup-editors")

ESCAPE, ENTER = "\x1b", "\r"


class _Screen(pyte.Screen):  # type: ignore[misc]
    """pyte's own does not know the private forms of questions about the terminal; the answer is silence."""

    def report_device_status(self, mode: int, **private: bool) -> None:
        if not private:
            super().report_device_status(mode)

    def select_graphic_rendition(self, *attributes: int, **private: bool) -> None:
        if not private:
            super().select_graphic_rendition(*attributes)


class Terminal:
    """A program in a terminal of its own; ended at the end of the `with` block."""

    def __init__(
        self, command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str], columns: int = 160
    ) -> None:
        program, *arguments = (str(word) for word in command)
        rows = 48
        self._child = pexpect.spawn(
            program,
            arguments,
            cwd=str(cwd),
            env={**environment, "TERM": "xterm-256color"},
            dimensions=(rows, columns),
            encoding="utf-8",
            codec_errors="replace",
        )
        self._child.delaybeforesend = None
        self._screen = _Screen(columns, rows)
        self._screen.write_process_input = self._child.send  # what the program asks of its terminal is answered
        self._stream = pyte.Stream(self._screen)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close(force=True)

    @property
    def text(self) -> str:
        """What the screen shows, line by line."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def press(self, keys: str) -> None:
        """Type."""
        self._child.send(keys)

    def until(self, what: str, condition: Callable[[str], bool]) -> str:
        """The text of the screen as soon as `condition` holds for it. Fails the test with the screen if it never does
        or the program ends before."""
        end = time.monotonic() + PATIENCE
        while not condition(self.text):
            assert time.monotonic() < end, f"waited in vain for {what}; on the screen:\n{self.text}"
            try:
                self._stream.feed(self._child.read_nonblocking(1 << 16, timeout=0.05))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise AssertionError(f"it ended before {what}; on the screen:\n{self.text}") from None
        return self.text

    def shows(self, words: str) -> str:
        """Wait until the screen shows these words; its text."""
        return self.until(repr(words), lambda text: words in text)

    def ended(self) -> int:
        """Wait for the end of the program; its exit code."""
        self._child.expect(pexpect.EOF, timeout=PATIENCE)
        self._child.close()
        return int(self._child.exitstatus)
