"""Command lines under limits of processor time, memory and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lsp.editor import SERVER

ROOT = Path(SERVER).parent
#: Looks, a second apart, at which a command that hangs waits for something and uses no processor time.
PATIENCE = 10


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a command may take: seconds of processor time, bytes of memory, bytes of output."""

    cpu: int = 10
    memory: int = 1 << 30
    output: int = 20_000_000


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `code` is negative for a signal; `cpu` in seconds, `peak` in bytes."""

    code: int
    hang: bool
    cpu: float
    peak: int
    stdout: str
    stderr: str

    def wrong(self, bound: Bound) -> str:
        """What may not be, '' if all is well."""
        said = self.stdout + self.stderr
        if self.hang:
            return f"it hangs\n{said[-2000:]}"
        if self.code not in (0, 1, 2):
            return f"it ended with {self.code} after {self.cpu:.1f} s of processor time\n{said[-2000:]}"
        if any(sign in said for sign in ("Traceback (most recent call last)", "fault of loaderlint", "internal error")):
            return f"an internal error\n{said[-3000:]}"
        if self.code == 2 and not self.stderr.strip():
            return "it failed and said nothing"
        if self.cpu > bound.cpu:
            return f"it took {self.cpu:.1f} s of processor time"
        if self.peak > bound.memory:
            return f"it took {self.peak >> 20} MiB of memory"
        if len(said) > bound.output:
            return f"it wrote {len(said):,} characters"
        return ""


class Runner:
    """A process that forks a command for each call. Ends with `close`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="loaderlint-runner-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{SERVER}{os.pathsep}{ROOT}"},
            text=True,
        )

    def run(self, folder: Path, arguments: Sequence[str], bound: Bound) -> Ended:
        """Run `loaderlint` with `arguments` in `folder`."""
        stdout, stderr = (os.path.join(self._folder.name, name) for name in ("stdout", "stderr"))
        request = {
            "folder": str(folder),
            "arguments": list(arguments),
            "cpu": bound.cpu + 1,
            # More than the bound, so that a command that takes too much is seen and not only refused its memory.
            "space": bound.memory * 2,
            "file_size": 64 << 20,
            "patience": PATIENCE,
            "stdout": stdout,
            "stderr": stderr,
        }
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        said = [Path(name).read_text(encoding="utf-8", errors="backslashreplace") for name in (stdout, stderr)]
        return Ended(answer["code"], answer["hang"], answer["cpu"], answer["peak"], said[0], said[1])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()
