"""Files that nobody should have to read: whatever stands in the place of a file, the rest is checked, and what was left
out is named. Over the command line and over the server."""

from __future__ import annotations

import ast
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.files import reading
from loaderlint.files.reading import Limit, MissingFile, NotAFile, TooLarge, UnreadableFile
from loaderlint.settings import settings
from loaderlint.sources import discovery
from tests.engine.test_which_files import FAULT
from tests.lsp.editor import SERVER, editor
from tests.lsp.session import run as run_scenario
from tests.robustness.bounded import Bound, Ended, Runner

RULE, CODE = "shared-generator", "LDR102"
#: Seconds and bytes that only a process that never ends or fills the memory needs.
PATIENCE = 120
BOUND = Bound(cpu=PATIENCE, memory=3 << 29)

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs fork, RLIMIT_AS and /proc")
posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes and devices")


def check(runner: Runner, folder: Path, *arguments: str) -> Ended:
    """The command line in a process of its own, which may not use much memory."""
    return runner.run(folder, ("check", "--no-cache", *arguments), BOUND)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(FAULT)
    (tmp_path / "setup.cfg").write_text("")
    return tmp_path


# --- what stands in the place of a file -------------------------------------------------------------------------------


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def _folder(path: Path) -> None:
    path.mkdir()


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


WRONG: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "endless": _endless,
    "socket": _socket,
    "folder": _folder,
    "large": _large,
}
VERSIONS = ("requirements.txt", "environment.yml", "uv.lock", "setup.py", ".python-version", "pyproject.toml")
OTHERS = (".gitignore", "loaderlint.toml")


@linux
@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", [*VERSIONS, *OTHERS])
def test_no_file_of_a_project_stops_a_check(name: str, kind: str, project: Path, runner: Runner) -> None:
    WRONG[kind](project / name)
    result = check(runner, project)
    assert RULE in result.stdout, result.stderr
    assert name in result.stderr


@linux
@pytest.mark.parametrize("kind", sorted(set(WRONG) - {"folder"}))
@pytest.mark.parametrize("name", ["bad.py", "bad.ipynb"])
def test_a_source_file_that_is_none(name: str, kind: str, project: Path, runner: Runner) -> None:
    WRONG[kind](project / name)
    result = check(runner, project, "--select", RULE)
    assert (result.code, RULE in result.stdout) == (1, True), result.stderr
    if kind == "large":
        limit = "5 MB, the limit for a Python file" if name.endswith(".py") else "100 MB, the limit for a notebook"
        assert f"{name}: larger than {limit}; not checked" in result.stderr


@linux
def test_a_notebook_whose_outputs_would_fill_the_memory(project: Path, runner: Runner) -> None:
    cell = {"cell_type": "code", "source": "x = 1", "outputs": ["@"]}
    notebook = json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]})
    (project / "bad.ipynb").write_text(notebook.replace('"@"', "[]" + ",[]" * 20_000_000))
    result = check(runner, project, "--select", RULE)
    assert (result.code, RULE in result.stdout) == (1, True), result.stderr
    assert "bad.ipynb: its JSON has more than 5,000,000 values; clear its outputs" in result.stderr


@linux
@pytest.mark.parametrize("kind", WRONG)
def test_a_baseline_and_an_environment_that_are_none(kind: str, project: Path, runner: Runner) -> None:
    (project / ".venv").mkdir()
    WRONG[kind](project / ".venv" / "pyvenv.cfg")
    WRONG[kind](project / "old.json")
    result = check(runner, project, "--select", RULE, "--baseline=old.json")
    if kind == "folder":  # said before anything is read
        assert "'old.json' is taken as the baseline file" in result.stderr
        return
    assert (result.code, RULE in result.stdout) == (2, True)
    assert ("/dev/zero" if kind == "endless" else "old.json") in result.stderr


@posix
def test_the_server_goes_on(project: Path) -> None:
    (project / ".venv").mkdir()
    names = (*VERSIONS, ".venv/pyvenv.cfg", "bad.py", "other.ipynb", ".gitignore", "loaderlint.toml")
    for name, make in zip(names, [_pipe, _endless, _socket, _large] * 3, strict=False):
        make(project / name)

    async def scenario() -> None:
        command = (sys.executable, "-m", "loaderlint", "server")
        async with editor(*command, folder=project, asked=True) as window:
            shown = await window.diagnostics(window.open(project / "good.py"))
            assert [one.code for one in shown] == [CODE]
            said = " ".join(one.message for one in window.client.log_messages)
            assert all(name in said for name in (*VERSIONS, "bad.py", ".gitignore", "loaderlint.toml")), said

    run_scenario(scenario())


# --- reading ----------------------------------------------------------------------------------------------------------

SMALL = Limit("a test", 100)


@posix
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_read(kind: str, tmp_path: Path) -> None:
    WRONG[kind](tmp_path / "x")
    with pytest.raises(TooLarge if kind == "large" else NotAFile):
        reading.read(tmp_path / "x", SMALL)


def test_the_limit_counts_the_bytes_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"x" * 100)
    assert reading.read(tmp_path / "x", SMALL) == b"x" * 100
    (tmp_path / "x").write_bytes(b"x" * 101)
    monkeypatch.setattr(reading.os, "fstat", lambda handle: os.stat_result((0o100644, *[0] * 9)))  # as below /proc
    with pytest.raises(TooLarge, match=r"larger than 100 bytes, the limit for a test"):
        reading.read(tmp_path / "x", SMALL)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
def test_a_file_that_says_it_is_empty() -> None:
    assert reading.read("/proc/self/maps", reading.SOURCE)
    with pytest.raises(TooLarge):
        reading.read("/proc/self/maps", SMALL)


def test_a_file_that_grows_or_goes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"x" * 10)
    real = os.read

    def read(handle: int, size: int) -> bytes:
        with (tmp_path / "x").open("ab") as file:
            file.write(b"more than there was before")
        return real(handle, size)

    monkeypatch.setattr(reading.os, "read", read)
    with pytest.raises(TooLarge):
        reading.read(tmp_path / "x", SMALL)
    monkeypatch.undo()
    opened = os.open
    monkeypatch.setattr(reading.os, "open", lambda path, flags: [os.unlink(path), opened(path, flags)][1])
    with pytest.raises(MissingFile):
        reading.read(tmp_path / "x", SMALL)


def test_names_that_no_file_can_have() -> None:
    for name in ("a\0b", "\ud800", "x" * 10_000):
        with pytest.raises(UnreadableFile):
            reading.read(name, SMALL)


#: What opens files in another way, and why it may.
ELSEWHERE = {
    "files/reading.py": "this is the way",
    "audit/open_files.py": "what stands for a file of the user's program in a copy of it",
    "audit/sandbox.py": "/proc/<pid>",
    "audit/resources.py": "/proc/self/status",
    "knowledge/symptoms.py": "loaderlint's own table",
    "files/atomic_write.py": "what loaderlint itself wrote and a killed process left behind",
    "cache/database.py": "the cache's own file, which is made here",
    "cache/cache_folder.py": "libcst's own version file",
    "cli.py": "/dev/null",
    "commands/survey.py": "a list that the user names, which may be piped in",
    "runtime/child_processes.py": "/dev/null",
    "survey/result_store.py": "results that the user names and loaderlint writes",
}


def test_every_file_is_read_in_one_place() -> None:
    package = SERVER / "loaderlint"
    others = {
        path.relative_to(package).as_posix(): lines
        for path in sorted(package.rglob("*.py"))
        if (lines := list(_opened(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert others.keys() == ELSEWHERE.keys(), others


def _opened(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        func = node.func
        if isinstance(func, ast.Name) and func.id == "open":
            yield node.lineno
        elif isinstance(func, ast.Attribute):
            of_module = isinstance(func.value, ast.Name) and func.value.id in ("os", "io", "codecs", "tokenize")
            mode = node.args[0] if node.args else None
            with_mode = isinstance(mode, ast.Constant) and isinstance(mode.value, str) and mode.value[:1] in "rwa"
            if func.attr in ("read_text", "read_bytes") or (func.attr == "open" and (of_module or with_mode)):
                yield node.lineno


# --- folders and names ------------------------------------------------------------------------------------------------


def test_a_folder_that_may_not_be_listed_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "open"):
        (project / name).mkdir()
    (project / "open" / "x.py").touch()
    real = os.scandir

    def scandir(path: Path) -> object:
        if path.name in ("a", "b"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(discovery.os, "scandir", scandir)
    found = discovery.python_files(project)
    assert found.files == (project / "good.py", project / "open" / "x.py")
    assert [one.path.name for one in found.unlisted] == ["a", "b"]
    assert "cannot be listed: Permission denied" in found.unlisted[0].message


@pytest.mark.parametrize("named", [True, False])
def test_a_folder_that_may_not_be_looked_into(
    named: bool, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As for a user without rights; whoever runs the tests may have them all."""
    secret = project / "secret"
    secret.mkdir()
    (secret / "a.py").touch()

    def closed(name: str) -> None:
        real = getattr(os, name)

        def call(path: str | Path, *args: object, **more: object) -> object:
            inside = f"{secret}{os.sep}"
            if isinstance(path, (str, Path)) and (str(path).startswith(inside) or (name, path) == ("scandir", secret)):
                raise PermissionError(13, "Permission denied")
            return real(path, *args, **more)

        monkeypatch.setattr(os, name, call)

    for name in ("stat", "lstat", "open", "scandir"):
        closed(name)
    monkeypatch.chdir(project)
    settings.clear()
    code = cli.main(["check", "--no-cache", "--select", RULE, *(["secret", "good.py"] if named else [])])
    monkeypatch.undo()
    out, err = capsys.readouterr()
    assert code == (2 if named else 1), err
    assert RULE in out
    assert "secret: cannot be listed: Permission denied; check its permissions" in err


FORMATS = ("text", "json", "sarif", "github")


@linux
@pytest.mark.parametrize("format_", FORMATS)
def test_a_name_that_is_no_text(format_: str, project: Path, runner: Runner) -> None:
    odd = os.fsdecode(b"od\xffd")
    (project / odd).mkdir()
    (project / odd / f"{odd}.py").write_text(FAULT)
    (project / odd / "loaderlint.toml").write_text("exclude = ['x']\n")
    (project / odd / ".gitignore").write_bytes(b"\xfe.py\n")
    for arguments in ([], [f"{odd}/{odd}.py"]):
        result = check(runner, project, "--select", RULE, "--output-format", format_, *arguments)
        assert result.code == 1 and "Traceback" not in result.stderr, result.stderr
        assert RULE in result.stdout or "LDR" in result.stdout


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are text there")
def test_the_cache_and_the_server_take_a_name_that_is_no_text(project: Path) -> None:
    odd = project / os.fsdecode(b"od\xffd.py")
    odd.write_text(FAULT)
    command = [sys.executable, "-m", "loaderlint", "check", "--select", RULE]
    environment = {**os.environ, "PYTHONPATH": str(SERVER), "LOADERLINT_CACHE_DIR": str(project / ".cache")}
    first, second = (
        subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=PATIENCE) for _ in range(2)
    )
    assert (first.returncode, first.stdout) == (second.returncode, second.stdout)
    assert first.stdout.count(b"LDR") + first.stdout.count(RULE.encode()) >= 2 and not first.stderr

    async def scenario() -> None:
        server = (sys.executable, "-m", "loaderlint", "server")
        async with editor(*server, folder=project, asked=True, settings={"select": [RULE]}) as window:
            for path in (odd, project / "good.py"):
                assert [one.code for one in await window.diagnostics(window.open(path, FAULT))] == [CODE]

    run_scenario(scenario())
