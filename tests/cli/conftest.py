"""A project in a temporary folder, and the command line with the fake workspace."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from loaderlint import cli
from loaderlint.commands import check
from loaderlint.settings import settings
from tests.cli import fake


class Result(NamedTuple):
    """The result of a run."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, which is the current folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    settings.clear()
    return folder


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line in this process. `stdin`: the bytes of its standard input."""
    monkeypatch.setattr(check, "Workspace", fake.Workspace)
    monkeypatch.setattr(settings, "_rule_names", lambda: (("shared-generator",), ("LDR101", "LDR102", "LDR401")))
    fake.Workspace.made.clear()

    def go(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.main(arguments)
        out, err = capsysbinary.readouterr()
        return Result(code, out.decode("utf-8", "surrogateescape"), err.decode())

    return go
