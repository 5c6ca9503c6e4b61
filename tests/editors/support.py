"""What the editors' tests share: where the editors are, their configuration out of the docs, and running a script."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EDITORS = ROOT / ".editors"
DOCS = ROOT / "docs" / "editors"
#: Seconds until an editor that waits for something gives up. Nothing is measured with it.
PATIENCE = int(os.environ.get("LOADERLINT_PATIENCE", "120"))


def installed(name: str, *, newest: bool = False) -> Path:
    """The program `name`: the machine's, or the newest one that `make setup-editors` has unpacked. Skips the test if
    it is not there."""
    program = EDITORS / "newest" / "bin" / name if newest else shutil.which(name)
    if program is None or not Path(program).exists():
        pytest.skip(f"{'the newest ' * newest}{name} is not installed; to get it: make setup-editors")
    return Path(program)


def snippet(page: str, heading: str) -> str:
    """The first block of code below a heading of a page of docs/editors: the tests run what users copy."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}\n(?:(?!^## )[\s\S])*?^```\w+\n([\s\S]*?)^```$", text, re.MULTILINE)
    assert found is not None, f"{page} has no code below '{heading}'"
    return found[1]


@dataclass(frozen=True, slots=True)
class Project:
    """A copy of the example project, with a home of its own for the editor beside it."""

    folder: Path
    home: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def read(self, name: str) -> str:
        """The text of a file, as it is on disk."""
        return (self.folder / name).read_text(encoding="utf-8")

    @property
    def server_pid(self) -> Path:
        """Where the `loaderlint` that was started last has left its process id."""
        return self.home / "server.pid"

    def unchanged(self, name: str) -> bool:
        """Whether a file is on disk as the example has it."""
        return self.read(name) == (ROOT / "examples" / name).read_text(encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """For an editor that finds nothing of the user's, and this checkout's `loaderlint` first on the PATH."""
        places = {f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        path = os.pathsep.join((str(self.home / "bin"), os.environ["PATH"]))
        return {**os.environ, "HOME": str(self.home), "TMPDIR": str(self.home), "PATH": path, **places, **more}


def project_in(folder: Path) -> Project:
    """Copy the example project into `folder`, and put a `loaderlint` there that runs this checkout."""
    made = Project(folder / "examples", folder / "home")
    shutil.copytree(ROOT / "examples", made.folder, ignore=shutil.ignore_patterns("__pycache__"))
    program = made.home / "bin" / "loaderlint"
    program.parent.mkdir(parents=True)
    path, python, pid = (shlex.quote(str(one)) for one in (ROOT / "server", sys.executable, made.server_pid))
    program.write_text(f'#!/bin/sh\necho $$ >{pid}\nPYTHONPATH={path} exec {python} -m loaderlint "$@"\n')
    program.chmod(0o755)
    return made


#: A draw that two loaders run in their workers. Its fix edits three files: the function that seeds a worker is defined
#: beside the dataset, and both loaders import it.
NOISE = {
    "noise.py": "import numpy as np\n\n\ndef noise():\n    return np.random.rand()\n",
    "signals.py": """\
from torch.utils.data import Dataset

from noise import noise


class Signals(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return noise()
""",
    "fit.py": """\
from torch.utils.data import DataLoader

from signals import Signals

loader = DataLoader(Signals(), batch_size=8, shuffle=True, num_workers=2)
""",
    "score.py": """\
from torch.utils.data import DataLoader

from signals import Signals

loader = DataLoader(Signals(), batch_size=8, num_workers=2)
""",
}


def add_noise(project: Project) -> None:
    """Put a draw into the project whose fix edits several files."""
    for name, text in NOISE.items():
        (project / name).write_text(text, encoding="utf-8")


def played(command: Sequence[str | Path], project: Project, **variables: str | Path) -> Mapping[str, Any]:
    """Run an editor on a script, which leaves a report (JSON) of what it saw. The test fails with the editor's own
    words if the script does."""
    report = project.home / "report.json"
    more = {name: str(value) for name, value in variables.items()}
    environment = project.environment(REPORT=str(report), PATIENCE=str(PATIENCE), **more)
    done = subprocess.run(
        [str(word) for word in command],
        cwd=project.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=3 * PATIENCE,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout
    seen: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return seen
