"""A cache that another process holds costs one short wait, and then none is used."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from loaderlint import cli
from loaderlint.cache import database


def test_a_run_waits_for_a_locked_cache_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.py").write_text("import os\n")
    monkeypatch.chdir(tmp_path)
    command = ["check", "--cache-dir", str(tmp_path / ".cache")]
    assert cli.main(command) == 0
    before = capsys.readouterr()
    connect, waits = sqlite3.connect, []

    def connected(*about: Any, timeout: float, **more: Any) -> sqlite3.Connection:
        waits.append(timeout)
        return connect(*about, timeout=timeout, **more)

    other = connect(tmp_path / ".cache" / database.NAME, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite3, "connect", connected)
    try:
        (tmp_path / "data.py").write_text("import sys\n")
        assert cli.main(command) == 0
    finally:
        other.close()
    assert capsys.readouterr() == before
    assert waits == [database.PATIENCE] and database.PATIENCE <= 0.2
