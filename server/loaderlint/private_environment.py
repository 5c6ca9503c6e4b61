"""Make an environment that holds loaderlint and nothing else: what an editor's extension runs when no Python of the
user has it.

    python -I -c "import sys; sys.path.insert(0, sys.argv[1]); from loaderlint.private_environment import main; main()"
    WHEEL FOLDER

The wheel is the one that the extension carries; its dependencies come from the package index that pip is configured
for. `FOLDER` comes into being by renaming an environment that is complete and was tried, so what has the name can be
used. Everything that is said goes to stdout; a failure ends with 1 and one line on stderr that says what to do.

Only the standard library is imported, because this file is read out of the wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

#: Folders in the same place are removed when nobody has used them for so long (seconds). An editor touches the one that
#: it runs; another of its windows may still run a former one.
UNUSED = 24 * 60 * 60.0

_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|SSLError|Max retries"
)
#: Where the extension says how to do without a network. A web page could not be read there.
_OFFLINE = "'Without a network' in the walkthrough 'Get Started with loaderlint' (Help > Welcome)"
#: No `--isolated`: the index and the proxy of pip's configuration are wanted.
_PIP = ("install", "--no-input", "--no-user", "--disable-pip-version-check", "--retries=2", "--prefer-binary")


class NotMade(Exception):
    """The environment could not be made; the message says why, and what to do."""


def make(wheel: Path, folder: Path) -> None:
    """Make the environment `folder` with the Python that runs this. Raises NotMade, and leaves nothing half made."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(prefix="making-", dir=folder.parent))
        _make(wheel, folder, half)
    except OSError as error:
        raise NotMade(f"{error.strerror or error}: {error.filename or folder}") from error
    _tidy(folder)


def _make(wheel: Path, folder: Path, half: Path) -> None:
    try:
        _create(half)
        _install(half, wheel)
        _try(half)
        if _works(folder):
            return  # another window was faster
        shutil.rmtree(folder, ignore_errors=True)
        half.rename(folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def python_of(folder: Path) -> Path:
    """The program of an environment."""
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def _create(folder: Path) -> None:
    said = _run([sys.executable, "-I", "-m", "venv", str(folder)])
    if said is None:
        return
    if re.search(r"ensurepip is not available|No module named '?(venv|ensurepip)", said):
        hint = "install it (on Debian and Ubuntu: apt install python3-venv) or choose another Python"
        raise NotMade(f"{sys.executable} has no venv module; {hint}")
    raise NotMade(f"{sys.executable} cannot make an environment: {_gist(said)}")


def _install(folder: Path, wheel: Path) -> None:
    said = _run([str(python_of(folder)), "-I", "-m", "pip", *_PIP, str(wheel)])
    if said is None:
        return
    if _NO_NETWORK.search(said):
        hint = f"check the network and pip's settings (proxy, index), or see {_OFFLINE}"
        raise NotMade(f"the Python package index cannot be reached; {hint}: {_gist(said)}")
    raise NotMade(f"pip failed: {_gist(said)}")


def _try(folder: Path) -> None:
    """Start what was installed: a library that cannot be loaded is noticed here."""
    said = _run([str(python_of(folder)), "-I", "-c", "import loaderlint.lsp.server, loaderlint.engine"])
    if said is not None:
        raise NotMade(f"loaderlint does not start there: {_gist(said)}")


def _works(folder: Path) -> bool:
    return python_of(folder).exists() and _run([str(python_of(folder)), "-I", "-c", "import loaderlint"]) is None


def _run(command: list[str]) -> str | None:
    """Run a program to its end. None if all went well, else what it said."""
    print(*command, flush=True)
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    print(done.stdout, flush=True)
    return None if done.returncode == 0 else done.stdout


def _gist(said: str) -> str:
    """The line that tells most."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it gave no reason"])[-1]


def _tidy(folder: Path) -> None:
    """Remove former environments, and what was left half made."""
    for other in folder.parent.iterdir():
        ours = other.name.startswith(("server-", "making-")) and other != folder
        if ours and time.time() - other.stat().st_mtime > UNUSED:
            shutil.rmtree(other, ignore_errors=True)


def main() -> None:
    """The command line: WHEEL FOLDER."""
    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):  # a pipe on Windows cannot encode every path
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        make(Path(sys.argv[1]), Path(sys.argv[2]))
    except NotMade as error:
        sys.exit(str(error))


def _stop(number: int, frame: FrameType | None) -> None:
    """Cancelled: end the program at hand, remove what is half made, and go."""
    sys.exit("it was cancelled")
