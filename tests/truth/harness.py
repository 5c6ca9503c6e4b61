"""Runs programs on real PyTorch, before and after the tool's own fix."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
ROOT = HERE.parent.parent

#: The modules that the cases import, none of which the tool itself needs.
NEEDED = ("torch", "numpy", "h5py", "lmdb", "cv2")

#: How long a program may take, in seconds, that is not expected to hang.
PATIENCE = 120.0


def lacking(modules: Sequence[str]) -> str | None:
    """What must be installed for programs that import `modules`, None if all are there."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        return f"no {', '.join(missing)} here: {sys.executable} -m pip install -r tests/truth/requirements.txt"
    return None


def why_not() -> str | None:
    """Why the programs cannot run here, None if they can."""
    if sys.platform != "linux":
        return "tests/truth/pytorch forks and counts threads in /proc: Linux only"
    return lacking(NEEDED)


class Zygote:
    """A process that has imported PyTorch, and `modules` beside it (see `zygote`)."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        environment = {**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "zygote.py"), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.versions: dict[str, str] = self._answer()["versions"]

    def measure(
        self,
        folder: Path,
        oracle: str,
        loader: Mapping[str, Any],
        arguments: Mapping[str, Any],
        timeout: float = PATIENCE,
        module: str = "train",
    ) -> dict[str, Any]:
        """Run `module` in `folder` and return what `oracle` measures, `{"hang": True}` if the program does not end in
        `timeout` seconds, or `{"error": traceback}` if it raises. `loader`: arguments that its loaders take over their
        own."""
        request = {
            "folder": str(folder),
            "module": module,
            "oracle": oracle,
            "loader": dict(loader),
            "arguments": dict(arguments),
            "timeout": timeout,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs the programs has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


def symptoms(answer: Mapping[str, Any]) -> frozenset[str]:
    """The faults in what an oracle has measured, in one word each; an error that is no symptom is raised.

    duplicates, repeats, alike: see `oracles.draws`. threads: OpenCV has several in a worker. reads: a sample holds
    another's bytes, or reading failed. data: epochs differ or what is stored has changed. items: an item came more than
    once. pickle: the workers do not start because an object cannot be sent to them. hang: the program does not end.
    The name of an exception: the program ends with it (`oracles.ends`, `oracles.script`). Any other word: what the
    program's own `measure.py` says.
    """
    if answer.get("hang"):
        return frozenset({"hang"})
    error = answer.get("error") or answer.get("failed") or ""
    if "pickle" in error or "for pickling" in error or "exited unexpectedly" in error:
        return frozenset({"pickle"})
    if "error" in answer:
        raise AssertionError(f"the program failed:\n{error}")
    found = {name for name in ("duplicates", "repeats", "alike", "changed") if answer.get(name)}
    found.update(answer.get("symptoms", ()))
    if answer.get("raised"):
        found.add(answer["raised"])
    faults = {
        "threads": answer.get("opencv", 1) > 1,
        "reads": bool(answer.get("wrong") or answer.get("failed")),
        "epochs": answer.get("epochs", 1) > 1,
        "items": answer.get("most", 1) > 1,
    }
    return frozenset(found | {name for name, there in faults.items() if there})


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `loaderlint check` in `folder`, on all of it."""
    path = os.pathsep.join(part for part in (str(ROOT / "server"), os.environ.get("PYTHONPATH", "")) if part)
    return subprocess.run(
        [sys.executable, "-m", "loaderlint", "check", *arguments, "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def texts(folder: Path) -> dict[str, str]:
    """The program's files by name."""
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.py"))}


def copied(case: Path, target: Path) -> Path:
    """Copy the program of `case` to `target`, a folder that does not exist, and return it."""
    shutil.copytree(case, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def digest(*parts: Any) -> str:
    """A key of the parts (plain data), stable between runs and machines."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
