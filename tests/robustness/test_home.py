"""The server where it is opened at a home folder, which holds more than one project."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loaderlint.sources.discovery import SMALL
from tests.engine.test_which_files import FAULT
from tests.lsp.editor import editor
from tests.lsp.session import run as run_scenario

CODE = "LDR102"


def test_a_server_that_is_opened_at_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path.resolve()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for number in range(SMALL.files + 10):
        folder = home / f"a{number % 10}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").touch()
    (home / "z").mkdir()
    (home / "z" / "train.py").write_text("from z.data import loader\n")
    (home / "z" / "data.py").write_text(FAULT)

    async def scenario() -> None:
        command = (sys.executable, "-m", "loaderlint", "server")
        async with editor(*command, folder=home, asked=True, settings={"select": [CODE]}) as window:
            uri = window.open(home / "z" / "data.py")
            assert [one.code for one in await window.diagnostics(uri)] == [CODE]
            window.open(home / "z" / "train.py")
            assert [one.code for one in await window.diagnostics(uri)] == [CODE]
            said = [one.message for one in window.client.log_messages if "too large" in one.message]
            (message,) = said
            assert message.startswith(f"{home}: ") and f"stopped after {SMALL.files:,} Python files" in message
            assert "name or open the project's own folder" in message and "pyproject.toml" in message

    run_scenario(scenario())
