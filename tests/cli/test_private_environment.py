"""The environment that an editor's extension makes for itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint import private_environment

ROOT = Path(__file__).parents[2]
CODE = "import sys; sys.path.insert(0, sys.argv[1]); from loaderlint.private_environment import main; main()"
WHEEL = Path("loaderlint-0.1.0-py3-none-any.whl")

Answer = Callable[[list[str]], "str | None"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "storage" / "server-0.1.0"


def machine(monkeypatch: pytest.MonkeyPatch, answer: Answer = lambda command: None) -> list[list[str]]:
    """Simulate a machine on which each program ends as `answer` says (None: successfully). Returns the list of programs
    that were run."""
    calls: list[list[str]] = []

    def run(command: list[str]) -> str | None:
        calls.append(command)
        said = answer(command)
        if "venv" in command and said is None:
            python = private_environment.python_of(Path(command[-1]))
            python.parent.mkdir(parents=True)
            python.write_text("made of " + command[0])
        return said

    monkeypatch.setattr(private_environment, "_run", run)
    return calls


def left(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.parent.iterdir())


def test_it_comes_into_being_when_it_is_complete(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    seen: list[bool] = []
    calls = machine(monkeypatch, lambda command: seen.append(folder.exists()))
    private_environment.make(WHEEL, folder)
    assert [call[2:4] for call in calls] == [["-m", "venv"], ["-m", "pip"], ["-c", calls[2][3]]]
    assert seen == [False, False, False] and private_environment.python_of(folder).exists()
    assert left(folder) == [folder.name]


@pytest.mark.parametrize(
    ("failing", "said", "told"),
    [
        ("venv", "... because ensurepip is not available.  On Debian", "has no venv module; install it"),
        ("venv", "/usr/bin/python3: No module named venv", "has no venv module; install it"),
        ("venv", "Error: [Errno 28] No space left on device", "cannot make an environment: Error: [Errno 28] No space"),
        ("pip", "Retrying ... NewConnectionError(...)\nERROR: No matching distribution", "index cannot be reached"),
        ("pip", "ERROR: Could not find libcst\n\n[notice] a new pip", "pip failed: ERROR: Could not find libcst"),
        ("pip", "", "pip failed: it gave no reason"),
        ("-c", "ImportError: native.so: wrong architecture", "does not start there: ImportError: native.so"),
    ],
)
def test_each_failure_is_told_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, folder: Path, failing: str, said: str, told: str
) -> None:
    machine(monkeypatch, lambda command: said if failing in command else None)
    with pytest.raises(private_environment.NotMade, match=told.replace("[", r"\[")):
        private_environment.make(WHEEL, folder)
    assert left(folder) == []


def test_one_that_does_not_work_is_replaced(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    broken = private_environment.python_of(folder)
    broken.parent.mkdir(parents=True)
    broken.write_text("broken")
    machine(monkeypatch, lambda command: "dead" if command[0] == str(broken) else None)
    private_environment.make(WHEEL, folder)
    assert broken.read_text() != "broken"


def test_one_that_another_window_made_meanwhile_is_kept(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    theirs = private_environment.python_of(folder)

    def answer(command: list[str]) -> None:
        if "pip" in command:
            theirs.parent.mkdir(parents=True)
            theirs.write_text("theirs")

    machine(monkeypatch, answer)
    private_environment.make(WHEEL, folder)
    assert theirs.read_text() == "theirs" and left(folder) == [folder.name]


def test_former_ones_go_when_nobody_uses_them(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    machine(monkeypatch)
    long_ago = time.time() - 2 * private_environment.UNUSED
    for name in ("server-0.0.1", "making-x", "other", "server-0.0.2"):
        (folder.parent / name).mkdir(parents=True)
        os.utime(folder.parent / name, (long_ago, long_ago))
    os.utime(folder.parent / "server-0.0.2")
    private_environment.make(WHEEL, folder)
    assert left(folder) == ["other", "server-0.0.2", folder.name]


def test_a_place_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch)
    (tmp_path / "file").write_text("")
    with pytest.raises(private_environment.NotMade, match=str(tmp_path / "file")):
        private_environment.make(WHEEL, tmp_path / "file" / "server")


def test_out_of_the_wheel_itself_without_a_network(tmp_path: Path) -> None:
    """With a real Python, venv and pip; the package index is a port where nobody listens."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    target = tmp_path / "storage" / "server"
    environment = {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        [sys.executable, "-I", "-c", CODE, str(wheel), str(target)],
        cwd=tmp_path,
        env={name: value for name, value in environment.items() if not name.startswith("PIP_EXTRA")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("the Python package index cannot be reached; check the network"), done.stderr
    assert "-m venv" in done.stdout and left(target) == []


def test_what_to_do_without_a_network_can_be_read_without_one(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    machine(monkeypatch, lambda command: "NewConnectionError(...)" if "pip" in command else None)
    with pytest.raises(private_environment.NotMade) as told:
        private_environment.make(WHEEL, folder)
    assert "http" not in str(told.value)
    (walkthrough,) = json.loads((ROOT / "package.json").read_text("utf-8"))["contributes"]["walkthroughs"]
    assert f"'Without a network' in the walkthrough '{walkthrough['title']}'" in str(told.value)
    step = next(step for step in walkthrough["steps"] if step["id"] == "server")
    page = (ROOT / step["media"]["markdown"]).read_text("utf-8").partition("\n### Without a network\n")[2]
    documented = (ROOT / "docs" / "editors" / "vscode.md").read_text("utf-8")
    commands = [line for line in page.splitlines() if line.startswith("pip ")]
    assert len(commands) == 3
    assert all(" ".join(line.split()[:4]) in documented for line in commands)


def test_a_path_that_the_console_cannot_show() -> None:
    code = (
        "import sys; from loaderlint import private_environment as made; "
        "made.make = lambda wheel, folder: made._run([sys.executable, '-c', '0', str(folder)]); made.main()"
    )
    variables = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT / "server")}
    command = [sys.executable, "-c", code, "a.whl", "Łódź"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert r"\u0141\xf3d\u017a" in done.stdout
