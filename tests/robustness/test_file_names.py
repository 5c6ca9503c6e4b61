"""Names of files that hold what a terminal would obey, line ends, or bytes that are no text: every command and format
works, and prints nothing of that."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

import loaderlint
from tests.robustness.faulty import FAULTY, SETTINGS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other file systems do not take such names")

NAMES = (
    b"bad\xff.py",
    b"bell\x07.py",
    b"c,o:l%.py",
    b"cr\r::error::x.py",
    b"csi\xc2\x9b31m.py",
    b"esc\x1b[31mred.py",
    b"nl\nloaderlint: x.py",
    b'quote".py',
    "rtl\u202eyp.txt".encode() + b".py",
)
#: What a terminal obeys, and what hides the order of signs.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    for name in NAMES:
        (tmp_path / os.fsdecode(name)).write_text(FAULTY)
    return tmp_path


def _run(folder: Path, *arguments: str | bytes, encoding: str = "utf-8") -> tuple[int, str, bytes]:
    """The exit code, the output and messages as one text, and the output."""
    paths = {"PYTHONPATH": str(Path(loaderlint.__file__).parents[1]), "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "loaderlint", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, env={**os.environ, **paths}, timeout=300)
    said = (done.stdout + done.stderr).decode("utf-8")
    assert "Traceback" not in said
    assert not _OBEYED.search(said), said
    return done.returncode, said, done.stdout


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_text(project: Path, encoding: str) -> None:
    for _ in range(2):  # the second time from the cache
        code, said, _ = _run(project, "check", encoding=encoding)
        assert code == 1 and f"{len(NAMES)} findings in {len(NAMES)} files" in said
    assert len(re.findall(r"^\S.*\.py:10:24: error", said, re.MULTILINE)) == len(NAMES)


def test_json(project: Path) -> None:
    code, _, out = _run(project, "check", "--output-format", "json")
    assert code == 1
    assert {os.fsencode(one["path"]) for one in json.loads(out)} == set(NAMES)


def test_sarif(project: Path) -> None:
    code, _, out = _run(project, "check", "--output-format", "sarif")
    (run,) = json.loads(out)["runs"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]}
    assert code == 1
    assert {unquote_to_bytes(uri) for uri in uris} == set(NAMES)


def test_github(project: Path) -> None:
    code, said, _ = _run(project, "check", "--output-format", "github")
    assert code == 1
    assert all(line.startswith("::error file=") for line in said.splitlines())
    assert "file=cr%0D%3A%3Aerror%3A%3Ax.py," in said and "file=esc?[31mred.py," in said


def test_what_is_known_of_lines_and_loaders(project: Path) -> None:
    code, said, _ = _run(project, "workers")
    assert code == 0 and said.count("the DataLoader in main() at ") == len(NAMES)
    code, _, out = _run(project, "workers", "--output-format", "json")
    assert {os.fsencode(one["path"]) for one in json.loads(out)["loaders"]} == set(NAMES)
    for name in (b"bad\xff.py", b"esc\x1b[31mred.py"):
        code, said, _ = _run(project, "explain", name + b":10")
        assert code == 0 and "[LDR101 duplicate-numpy-randomness]" in said
        code, _, out = _run(project, "explain", "--output-format", "json", name + b":10")
        assert os.fsencode(json.loads(out)["path"]) == name


def test_a_name_that_does_not_exist(project: Path) -> None:
    code, said, _ = _run(project, "check", b"\x1b[31m\nloaderlint: gone\xff.py")
    assert code == 2 and "?[31m?loaderlint: gone?.py: no such file" in said


def test_fixes_and_baselines(project: Path) -> None:
    code, _, _ = _run(project, "check", "--write-baseline")
    assert code == 0
    assert _run(project, "check", "--baseline", "loaderlint-baseline.json")[0] == 0
    done = _run(project, "check", "--fix")
    assert done[0] == 0 and f"Fixed {len(NAMES)} files." in done[1]


def test_a_diff_that_git_applies(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    command = [sys.executable, "-m", "loaderlint", "check", "--diff"]
    paths = {"PYTHONPATH": str(Path(loaderlint.__file__).parents[1])}
    done = subprocess.run(command, cwd=project, capture_output=True, env={**os.environ, **paths}, timeout=300)
    assert b"\x1b" not in done.stdout and b"\r" not in done.stdout
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=project, check=True, timeout=60)
    assert all(b"def seed_worker" in (project / os.fsdecode(name)).read_bytes() for name in NAMES)
