"""`check --watch`: it checks again when something changes, survives errors, and ends at Ctrl+C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue

import pytest

import loaderlint
from tests.cli import projects

SECONDS = 60
WAITING = "Waiting for changes. Press Ctrl+C to stop."


class Watching:
    """A running watch and its output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def round(self) -> list[str]:
        """The output until it waits again."""
        lines: list[str] = []
        while not lines or lines[-1] != WAITING:
            try:
                lines.append(self._lines.get(timeout=SECONDS))
            except Empty:
                pytest.fail(f"it does not wait; so far: {lines}")
        return lines[:-1]


@contextmanager
def watching(folder: Path, *flags: str) -> Iterator[Watching]:
    environment = {**os.environ, "PYTHONPATH": str(Path(loaderlint.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "loaderlint", "check", "--watch", "--output-format", "concise", *flags]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, env=environment
    )
    try:
        yield Watching(process)
    finally:
        process.kill()
        process.wait()


Edit = Callable[[Path], object]


@pytest.mark.parametrize(
    ("edit", "told", "finds"),
    [
        (
            lambda folder: (folder / "train.py").write_text(projects.TRAIN.replace("=2", "=0")),
            "Changed: train.py",
            False,
        ),
        (lambda folder: (folder / "data.py").write_bytes(b"\0\xff"), "Changed: data.py", False),
        (lambda folder: (folder / "new.py").write_text("import data\n"), "Files were added or removed.", True),
        (lambda folder: (folder / "pyproject.toml").write_text("[tool.loaderlint\n"), "Changed: pyproject.toml", True),
    ],
    ids=["no workers", "binary", "file new", "bad settings"],
)
@pytest.mark.usefixtures("interruptible")
def test_a_change_is_checked(tmp_path: Path, edit: Edit, told: str, finds: bool) -> None:
    projects.write(tmp_path)
    with watching(tmp_path) as watch:
        assert any("shared-generator" in line for line in watch.round())
        edit(tmp_path)
        lines = watch.round()
        assert told in lines
        assert any("shared-generator" in line for line in lines) == finds
        assert not any("Traceback" in line for line in lines)
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(timeout=SECONDS) == 0


def test_what_cannot_be_watched_ends_at_once(tmp_path: Path) -> None:
    projects.write(tmp_path)
    for flags in (("--fix",), ("--suppress",), ("--select", "nothing-like-it"), ("gone.py",)):
        with watching(tmp_path, *flags) as watch:
            assert watch.process.wait(timeout=SECONDS) == 2
