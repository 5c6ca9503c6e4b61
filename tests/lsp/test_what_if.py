"""`loaderlint.whatIf`: the effect of a change on the findings, while editing continues."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.lsp.editor import editor
from tests.lsp.session import PATIENCE, Refused, Session, run, session
from tests.lsp.test_end_to_end import DATA, TRAIN

SERVER = (sys.executable, "-m", "loaderlint", "server")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("BUG\nLATER\n")
    return tmp_path


def params(*arguments: object) -> dict[str, Any]:
    return {"command": "loaderlint.whatIf", "arguments": [*arguments]}


async def asked(client: Session, *arguments: object) -> Any:
    return await client.request("workspace/executeCommand", **params(*arguments))


def test_what_comes_is_told_with_its_place(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            told = await asked(client, "python=3.14")
            lines = [
                "With python=3.14:",
                "  1 finding appears:",
                "    a.py:2: warning: LATER is a fault [FAK005 fake-lat]",
            ]
            assert told == {"text": "\n".join(lines) + "\n", "folder": project.as_uri()}
            assert (await asked(client, "python=3.13"))["text"] == "With python=3.13: no change.\n"

    run(scenario())


def test_several_changes_in_markdown(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            lines = (await asked(client, "python=3.14,torch=2.4", "markdown"))["text"].split("\n")
            assert lines[:2] == ["# What if", ""]
            assert [line for line in lines if line.startswith(("## ", "With", "Only"))] == [
                "## With python=3.14:",
                "With torch=2.4: no change.",
                "Only with python=3.14, torch=2.4 together: nothing more.",
            ]
            assert "- 1 finding appears:" in lines

    run(scenario())


def test_text_that_is_not_saved_counts(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            client.open((project / "a.py").as_uri(), "\n\n\nLATER LATER")
            text = (await asked(client, "python=3.14"))["text"]
            assert "2 findings appear" in text and text.count("a.py:4:") == 2

    run(scenario())


def test_settings_of_the_editor_count(project: Path) -> None:
    options = {"initializationOptions": {"settings": {"targetPython": "3.14"}}}

    async def scenario() -> None:
        async with session(folders=[project], **options) as client:
            assert "1 finding disappears" in (await asked(client, "python=3.12"))["text"]

    run(scenario())


def test_other_questions_are_answered_meanwhile_and_it_can_be_cancelled(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            await client.settled()
            (project / "b.py").write_text("HANG\n")
            number, answer = client.ask("workspace/executeCommand", params("python=3.14"))
            await client.until(lambda: client.backend.hanging)
            uri = (project / "a.py").as_uri()
            client.open(uri, "BUG BUG")
            assert len(await client.diagnostics(uri)) == 2
            assert not answer.done()
            client.notify("$/cancelRequest", id=number)
            assert "error" in await asyncio.wait_for(answer, PATIENCE)
            await client.until(lambda: client.backend.closed)

    run(scenario())


def test_the_settings_of_the_editor_stay(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            await asked(client, "python=3.14")
            uri = (project / "a.py").as_uri()
            client.open(uri, "BUG LATER")
            assert len(await client.diagnostics(uri)) == 1

    run(scenario())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pyton=3.14"], "did you mean 'python'"),
        (["python"], "cannot be read"),
        ([], "the first argument"),
        ([3], "the first argument"),
    ],
)
def test_what_cannot_be_supposed_is_refused_with_a_reason(project: Path, arguments: list[object], message: str) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            with pytest.raises(Refused, match=message):
                await asked(client, *arguments)

    run(scenario())


def test_without_a_folder_it_is_refused() -> None:
    async def scenario() -> None:
        async with session() as client:
            with pytest.raises(Refused, match="no folder is open"):
                await asked(client, "python=3.14")

    run(scenario())


def test_an_internal_error_is_told(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            await client.settled()
            (project / "b.py").write_text("CRASH\n")
            with pytest.raises(Refused, match="internal error"):
                await asked(client, "python=3.14")

    run(scenario())


def test_the_real_engine(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(DATA, encoding="utf-8")
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.loaderlint]\ntarget-torch = "2.4"\nplatforms = ["linux"]\n')

    async def scenario() -> None:
        async with editor(*SERVER, folder=tmp_path) as window:
            command = types.ExecuteCommandParams("loaderlint.whatIf", ["torch=1.8,start-method=spawn", "markdown"])
            told = await window.client.workspace_execute_command_async(command)
            assert "## With torch=1.8:" in told["text"]
            assert "data.py:13: " in told["text"] and "duplicate-numpy-randomness" in told["text"]

    run(scenario())
