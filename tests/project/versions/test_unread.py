"""Files of versions that cannot be read: each is named, once, with what is wrong and what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.project.versions.project_versions import Versions
from tests.lsp.editor import SERVER
from tests.robustness.hostile_inputs import FINDING, TRAIN

NOT_KNOWN = "; the versions in it are not known"
MALFORMED = [
    ("pyproject.toml", "[project\n", "is not valid TOML: "),
    ("pyproject.toml", "a = " + "[" * 5000, "is not valid TOML: it is nested too deeply; correct it"),
    ("pixi.toml", "= 1\n", "is not valid TOML: "),
    ("Pipfile", "[packages\n", "is not valid TOML: "),
    ("Pipfile.lock", '{"default": {', "is not valid JSON: "),
    ("Pipfile.lock", '{"default":' * 200_000, "is nested too deep; correct it"),
    (
        "environment.yml",
        "dependencies: [\n",
        "is not valid YAML: did not find expected node content (line 2); correct it",
    ),
    ("environment.yml", "dependencies: " + "[" * 60 + "]" * 60, "is nested more than 50 levels deep; correct it"),
    ("cog.yaml", "build: *x: y\n", "is not valid YAML: "),
    ("setup.cfg", "[options\n", "is not a valid INI file: "),
    ("setup.py", "#" * 200_001, "has more than 200,000 characters; correct it"),
    ("requirements.txt", "torch" + " " * 60_000 + "==1.8\n", "has a line of more than 50,000 characters; correct it"),
]


@pytest.mark.parametrize(("name", "text", "why"), MALFORMED)
def test_malformed_file_is_named(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    versions = Versions(tmp_path)
    versions.at(tmp_path, ("linux",))
    assert list(versions.unread) == [tmp_path / name]
    assert versions.unread[tmp_path / name].startswith(why)


def test_what_can_be_read_of_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy" + " " * 60_000 + "\ntorch==1.8\n")
    versions = Versions(tmp_path)
    assert versions.at(tmp_path, ("linux",))["torch"].described == "1.8, from requirements.txt"
    assert list(versions.unread) == [tmp_path / "requirements.txt"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "-r not-there.txt\ntorch\n"),
        ("environment.yml", ""),
        ("environment.yml", "key: [\n"),  # no environment of conda
        ("pyproject.toml", "a" * 6_000 + " = 1\n"),
        ("setup.py", "print 'Python 2'\n"),  # reported as any other source
        (".python-version", "system\n"),
    ],
)
def test_nothing_is_said_of_other_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    versions = Versions(tmp_path)
    versions.at(tmp_path, ("linux",))
    assert not versions.unread


def test_more_files_than_are_read(tmp_path: Path) -> None:
    for number in range(201):
        (tmp_path / f"requirements-{number}.txt").write_text("numpy\n")
    versions = Versions(tmp_path)
    versions.at(tmp_path, ("linux",))
    assert versions.unread == {tmp_path: "more than 200 files in it declare versions"}


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(30_000_000)


def _broken(path: Path) -> None:
    path.write_text("dependencies: [\n")


UNREADABLE: list[tuple[str, Callable[[Path], None], str]] = [
    ("requirements.txt", _large, "larger than 2 MB, the limit for a requirements file"),
    ("uv.lock", _large, "larger than 20 MB, the limit for a lock file"),
    ("environment.yml", _broken, "is not valid YAML: did not find expected node content (line 2); correct it"),
]
if hasattr(os, "mkfifo"):
    wrong_kind = "is a named pipe; put a regular file in its place, or remove it"
    UNREADABLE += [(name, os.mkfifo, wrong_kind) for name in ("requirements.txt", "poetry.lock", "pyproject.toml")]


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(("name", "make", "why"), UNREADABLE)
def test_command_line_names_the_file(
    tmp_path: Path, name: str, make: Callable[[Path], None], why: str, cached: bool
) -> None:
    """In one line, also when the answer comes from the cache; findings and exit code are those of a check without."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAIN)
    make(project / name)
    cache = [f"--cache-dir={tmp_path / 'cache'}"] if cached else ["--no-cache"]
    for _ in range(1 + cached):
        ended = subprocess.run(
            [sys.executable, "-m", "loaderlint", "check", "--output-format=json", *cache, "."],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(SERVER)},
            capture_output=True,
            text=True,
        )
        assert ended.stderr == f"loaderlint: {name}: {why}{NOT_KNOWN}\n"
        assert ended.returncode == 1 and FINDING in ended.stdout
        assert json.loads(ended.stdout)


@pytest.mark.parametrize(
    ("text", "code"), [("[project\n", 1), ("[tool.loaderlint\n", 2), ("[tool.loaderlint]\nunheard-of = 1\n", 2)]
)
def test_only_wrong_settings_change_the_exit_code(tmp_path: Path, text: str, code: int) -> None:
    """A pyproject.toml is read for both, and what is wrong with it is said once."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "pyproject.toml").write_text(text)
    ended = subprocess.run(
        [sys.executable, "-m", "loaderlint", "check", "--no-cache", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SERVER)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code and FINDING in ended.stdout
    assert ended.stderr.count("loaderlint: pyproject.toml: ") == 1, ended.stderr
