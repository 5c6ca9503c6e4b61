"""The other linters, each with its version, its own environment and its command."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measures import Options, note

_RULES = Path(__file__).parent / "semgrep"
#: With all its checks, it takes several times as long.
_PYLINT_CHECKS = "unused-import,unused-variable,redefined-builtin"


@dataclass(frozen=True, slots=True)
class Peer:
    """A linter. `requirements`: what is installed for it; `command`: the command that checks a folder, given the folder
    of its environment's programs; `ends`: the exit codes of a completed check, with or without findings. If possible,
    it uses one process, no cache and none of our settings."""

    name: str
    requirements: tuple[str, ...]
    command: Callable[[Path, Path], list[str | Path]]
    ends: range = range(2)


def _torchfix(programs: Path, folder: Path) -> list[str | Path]:
    return [programs / "torchfix", "--jobs=1", "--select=ALL", folder]


def _flake8(programs: Path, folder: Path) -> list[str | Path]:
    return [programs / "flake8", "--isolated", "--jobs=1", "--select=TOR", folder]


def _fixit(programs: Path, folder: Path) -> list[str | Path]:
    return [programs / "fixit", "--quiet", "lint", folder]


def _pylint(programs: Path, folder: Path) -> list[str | Path]:
    options = ["--rcfile=/dev/null", "--persistent=n", "--jobs=1", "--recursive=y"]
    return [programs / "pylint", *options, "--disable=all", f"--enable={_PYLINT_CHECKS}", folder]


def _semgrep(programs: Path, folder: Path) -> list[str | Path]:
    options = ["--metrics=off", "--disable-version-check", "--no-git-ignore", "--jobs=1", "--quiet"]
    return [programs / "semgrep", "scan", *options, f"--config={_RULES}", folder]


def _ruff(programs: Path, folder: Path) -> list[str | Path]:
    options = ["--isolated", "--no-cache", "--no-respect-gitignore", "--quiet"]
    return [programs / "ruff", "check", *options, "--select=NPY002", folder]


def _ruff_all(programs: Path, folder: Path) -> list[str | Path]:
    return [one if one != "--select=NPY002" else "--select=ALL" for one in _ruff(programs, folder)]


TORCHFIX = Peer("TorchFix", ("torchfix==0.7.0", "flake8==7.5.0"), _torchfix)
FLAKE8 = Peer("flake8 with TorchFix", TORCHFIX.requirements, _flake8)
#: It adds 2 if one of its rules fails on a file, as a rule of 2.2.1 does on some of these files.
FIXIT = Peer("Fixit", ("fixit==2.2.1",), _fixit, range(4))
PYLINT = Peer("pylint, three checks", ("pylint==4.1.4",), _pylint, range(32))
SEMGREP = Peer("semgrep, two rules", ("semgrep==1.182.0",), _semgrep)
RUFF = Peer("ruff, one rule", ("ruff==0.17.6",), _ruff)
RUFF_ALL = Peer("ruff, all rules", RUFF.requirements, _ruff_all)
PEERS = (TORCHFIX, FLAKE8, FIXIT, PYLINT, SEMGREP, RUFF, RUFF_ALL)


def loaderlint() -> Peer:
    """This project, as installed here."""
    return Peer("loaderlint", (), lambda programs, folder: [sys.executable, "-m", "loaderlint", "check", folder])


def programs(peer: Peer, options: Options) -> Path:
    """The folder of the programs of a peer's environment, which is created if it is missing."""
    if not peer.requirements:
        return Path(sys.executable).parent
    folder = options.cache / "environments" / peer.requirements[0]
    ready = folder / ".ready"
    found = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not ready.exists():
        note(f"installing {' and '.join(peer.requirements)}")
        venv.create(folder, with_pip=True, clear=True)
        command = [str(found / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *peer.requirements], check=True, timeout=900)
        ready.touch()
    return found


def versions() -> Iterator[tuple[str, str]]:
    """Each peer with what is installed for it."""
    for peer in PEERS:
        yield peer.name, ", ".join(one.replace("==", " ") for one in peer.requirements)
