"""Measures what a new user waits for, in wall time: the commands of README up to the first finding, and VS Code from
the VSIX to the first squiggle, with one click on *Set Up*. What pip downloads is part of it, so the network counts
too."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measures import Measure, Options, note

_ROOT = Path(__file__).parents[1]
#: The test that starts with the VSIX. With this variable it writes there how many seconds its steps took.
_EDITOR_TEST = "tests/editors/test_vscode_start.py"
_STOPWATCH = "LOADERLINT_STOPWATCH"


def run(options: Options) -> Iterator[Measure]:
    """Seconds of both. Without the editors of `make setup-editors`, only the first."""
    yield Measure("README to first finding", "s", tuple(_readme() for _ in range(options.rounds)))
    watched = [seconds for _ in range(options.rounds) if (seconds := _vsix()) is not None]
    if watched:
        yield Measure("VSIX to first squiggle", "s", tuple(watched))


def _readme() -> float:
    """Seconds from `git clone` to the end of the first `loaderlint check`, by the commands of README. The repository is
    the local one."""
    theirs = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    theirs["PIP_NO_CACHE_DIR"] = "1"  # a new user has to download everything
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder, "loaderlint", ".venv", "Scripts" if sys.platform == "win32" else "bin")
        start = time.monotonic()
        for words, where, codes in (
            (["git", "clone", "--quiet", str(_ROOT), "loaderlint"], "", (0,)),
            ([sys.executable, "-m", "venv", ".venv"], "loaderlint", (0,)),
            ([str(programs / "pip"), "install", "--quiet", "."], "loaderlint", (0,)),
            ([str(programs / "loaderlint"), "check"], "loaderlint/examples", (1,)),  # 1: there are findings
        ):
            done = subprocess.run(words, cwd=Path(folder, where), env=theirs, capture_output=True, text=True)
            if done.returncode not in codes:
                raise RuntimeError(f"{' '.join(words)} failed: {done.stderr}")
        return time.monotonic() - start


def _vsix() -> float | None:
    """Seconds from the installation of the VSIX to the first squiggle, as the editors' test counts them; None if the
    test was skipped."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "seconds")
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", _EDITOR_TEST]
        environment = {**os.environ, _STOPWATCH: str(written)}
        done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout)
        if not written.exists():
            note(done.stdout)
            return None
        return float(written.read_text(encoding="utf-8"))
