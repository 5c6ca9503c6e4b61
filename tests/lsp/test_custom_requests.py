"""Our own requests: texts that an editor shows, and the check of the whole workspace."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from loaderlint import __version__
from loaderlint.lsp import debug_information
from tests.lsp.session import PATIENCE, Refused, Session, capabilities, run, session
from tests.lsp.test_notebooks import Cells

NOWHERE = {"textDocument": {"uri": "untitled:Untitled-1"}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("LOADER(4)\nBUG\n")
    (tmp_path / "b.py").write_text("BUG GUESS\n")
    (tmp_path / "fine.py").write_text("\n")
    return tmp_path


def at(uri: str, line: int, character: int = 0) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


# --- symptom ----------------------------------------------------------------------------------------------------------


def test_a_line_that_a_program_printed_leads_to_its_rules() -> None:
    async def scenario() -> None:
        async with session() as client:
            told = await client.request("loaderlint/symptom", text="zipfile.BadZipFile: Bad CRC-32 for file 'a'")
            assert "\n    zipfile.BadZipFile: Bad CRC-32 for file 'a'\n" in told["text"]
            assert "\n- Cause: a zip archive crossed a fork.\n- What helps: `handle-across-workers`.\n" in told["text"]
            told = await client.request("loaderlint/symptom", text="worker (pid 7) is killed by signal: Bus error. It")
            assert "- What helps: `docker run --ipc=host` or `--shm-size=8g`; fewer workers.\n" in told["text"]
            for unknown in ("epoch 1: loss 0.5", "", " " * 600 + "zipfile.BadZipFile: Bad CRC-32"):
                assert await client.request("loaderlint/symptom", text=unknown) is None
            with pytest.raises(Refused, match="'text' is missing"):
                await client.request("loaderlint/symptom")

    run(scenario())


# --- explain ----------------------------------------------------------------------------------------------------------


def test_a_line_of_the_text_in_the_editor_is_explained(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            uri = (project / "a.py").as_uri()
            client.open(uri, "\nLOADER(7)  # not saved")
            told = await client.request("loaderlint/explain", **at(uri, 1, 3))
            assert told["folder"] == project.as_uri()
            assert told["text"].startswith("a.py:2: LOADER(7)  # not saved\n")
            assert "makes `loader`: Loader, num_workers=7" in told["text"]

    run(scenario())


def test_an_explanation_in_markdown(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            uri = (project / "a.py").as_uri()
            client.open(uri, "\nLOADER(7)  # *not* saved")
            lines = (await client.request("loaderlint/explain", **at(uri, 1, 3), format="markdown"))["text"].split("\n")
            assert lines[:6] == ["# a.py:2", "", "```python", "LOADER(7)  # *not* saved", "```", ""]
            assert any(line.startswith("## makes `loader`: Loader, `num_workers=7`") for line in lines)
            told = await client.request("loaderlint/explain", **at(uri, 0), format="markdown")
            assert told["text"].startswith("# a.py:1\n\n"), "an empty line has no block of code"

    run(scenario())


def test_a_line_of_a_cell_is_named_by_its_cell(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            book = Cells(client, tmp_path / "a.ipynb", "x = 1", "\nLOADER(2)")
            told = await client.request("loaderlint/explain", **at(book.order[1], 1))
            assert told["text"].startswith("a.ipynb:cell 2:2: LOADER(2)\n")

    run(scenario())


def test_an_edit_meanwhile_is_told(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            uri = (project / "a.py").as_uri()
            client.open(uri, "HANG")
            _, asked = client.ask("loaderlint/explain", at(uri, 0))
            await client.until(lambda: client.backend.hanging)
            client.change(uri, 2, "BUG")
            client.backend.release.set()
            assert (await asyncio.wait_for(asked, PATIENCE))["error"]["code"] == -32801

    run(scenario())


@pytest.mark.parametrize("params", [at("untitled:Untitled-1", 0), at("file:///closed.py", 0), {}, NOWHERE])
@pytest.mark.parametrize("method", ["loaderlint/explain"])
def test_what_cannot_be_explained_is_refused_with_a_reason(method: str, params: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open("untitled:Untitled-1", "x")
            with pytest.raises(Refused, match=r"open and saved|position"):
                await client.request(method, **params)

    run(scenario())


# --- workers ----------------------------------------------------------------------------------------------------------


def test_the_worker_map_of_a_file_and_of_the_workspace(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            (project / "c.py").write_text("LOADER(2)\n")
            uri = (project / "a.py").as_uri()
            client.open(uri, "LOADER(7)  # not saved")
            told = await client.request("loaderlint/workers", textDocument={"uri": uri})
            assert told["text"].startswith("`loader` at a.py:1: Loader, num_workers=7\n")
            assert "c.py" not in told["text"] and told["folder"] == project.as_uri()
            everything = (await client.request("loaderlint/workers"))["text"]
            assert "a.py:1" in everything and "c.py:1" in everything

    run(scenario())


def test_the_worker_map_in_markdown(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            told = await client.request("loaderlint/workers", format="markdown")
            assert told["text"].startswith("# Worker map\n\n## `loader` at a.py:1: Loader, `num_workers=4`\n\n- ")

    run(scenario())


def test_the_worker_map_of_a_file_that_is_not_open(project: Path) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            told = await client.request("loaderlint/workers", textDocument={"uri": (project / "a.py").as_uri()})
            assert "num_workers=4" in told["text"]

    run(scenario())


def test_a_worker_map_of_nothing_is_refused_with_a_reason() -> None:
    async def scenario() -> None:
        async with session() as client:
            with pytest.raises(Refused, match="no folder is open"):
                await client.request("loaderlint/workers")
            with pytest.raises(Refused, match="this is neither"):
                await client.request("loaderlint/workers", **NOWHERE)

    run(scenario())


# --- the whole workspace ----------------------------------------------------------------------------------------------


def shown(client: Session, path: Path) -> int | None:
    """The number of diagnostics shown for a file; None if none were ever sent."""
    sent = client.published(path.as_uri())
    return len(sent[-1]["diagnostics"]) if sent else None


def touch(client: Session, path: Path) -> None:
    client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": path.as_uri(), "type": 2}])


def test_one_that_is_sent_diagnostics_gets_those_of_all_files_and_they_do_not_grow_stale(project: Path) -> None:
    a, b = project / "a.py", project / "b.py"

    async def scenario() -> None:
        async with session(folders=[project]) as client:
            await client.settled()
            assert shown(client, a) is None
            told = await client.request("loaderlint/checkWorkspace")
            assert (told["findings"], told["files"]) == (3, 2)
            assert told["message"].startswith("loaderlint: 3 findings in 2 files;")
            await client.until(lambda: shown(client, b) == 2)
            assert shown(client, a) == 1
            b.write_text("GUESS\n")
            touch(client, b)
            await client.until(lambda: shown(client, b) == 1)
            b.unlink()
            touch(client, b)
            await client.until(lambda: shown(client, b) == 0)
            await client.request("loaderlint/showOpenFilesOnly")
            await client.until(lambda: shown(client, a) == 0)

    run(scenario())


def test_opening_and_closing_a_file_among_them(project: Path) -> None:
    a = project / "a.py"

    async def scenario() -> None:
        async with session(folders=[project]) as client:
            await client.request("loaderlint/checkWorkspace")
            await client.until(lambda: shown(client, a) == 1)
            client.open(a.as_uri(), "BUG BUG BUG")
            await client.settled()
            await client.until(lambda: shown(client, a) == 3)
            client.shut(a.as_uri())
            await client.settled()
            await client.until(lambda: shown(client, a) == 1)
            client.open(a.as_uri(), "BUG BUG BUG")
            await client.request("loaderlint/showOpenFilesOnly")
            await client.settled()
            assert shown(client, a) == 3, "an open file lost its own"

    run(scenario())


def test_the_setting_says_the_same(project: Path) -> None:
    async def scenario() -> None:
        options = {"initializationOptions": {"settings": {"diagnosticMode": "workspace"}}}
        async with session(folders=[project], **options) as client:
            await client.until(lambda: shown(client, project / "b.py") == 2)

    run(scenario())


def test_one_that_asks_gets_them_by_the_question_it_has_open(project: Path) -> None:
    async def scenario() -> None:
        async with session(capabilities(pulls=True), [project]) as client:
            held = asyncio.ensure_future(client.request("workspace/diagnostic", previousResultIds=[]))
            await client.settled()
            told = await client.request("loaderlint/checkWorkspace")
            assert (told["findings"], told["files"]) == (3, 2)
            assert told["message"].startswith("loaderlint: 3 findings in 2 files;")
            items = (await held)["items"]
            assert {Path(item["uri"]).name for item in items} == {"a.py", "b.py"}
            known = [{"uri": item["uri"], "value": item["resultId"]} for item in items]
            held = asyncio.ensure_future(client.request("workspace/diagnostic", previousResultIds=known))
            await client.request("loaderlint/showOpenFilesOnly")
            assert [item["items"] for item in (await held)["items"]] == [[], []]
            assert not client.published((project / "a.py").as_uri())

    run(scenario())


def test_one_that_spells_names_in_its_own_way_is_not_told_the_same_again(project: Path) -> None:
    """VS Code on Windows writes `file:///c%3A/a.py`."""

    async def scenario() -> None:
        async with session(capabilities(pulls=True), [project]) as client:
            await client.request("loaderlint/checkWorkspace")
            items = (await client.request("workspace/diagnostic", previousResultIds=[]))["items"]
            known = [
                {"uri": f"{item['uri'][:-4]}%{ord(item['uri'][-4]):x}.py", "value": item["resultId"]} for item in items
            ]
            assert {one["uri"][-6:] for one in known} == {"%61.py", "%62.py"}
            held = asyncio.ensure_future(client.request("workspace/diagnostic", previousResultIds=known))
            await client.settled()
            assert not held.done(), "nothing is new"
            (project / "b.py").write_text("GUESS\n")
            touch(client, project / "b.py")
            assert [(item["uri"], len(item["items"])) for item in (await held)["items"]] == [
                ((project / "b.py").as_uri(), 1)
            ]

    run(scenario())


def progress(client: Session, token: str) -> list[str]:
    told = [message["params"] for message in client.received if message.get("method") == "$/progress"]
    return [one["value"]["kind"] for one in told if one["token"] == token]


def test_progress_under_the_client_s_token_or_ours(project: Path) -> None:
    able = capabilities()
    able["window"] = {"workDoneProgress": True}
    tokens: list[str] = []

    async def scenario() -> None:
        async with session(able, [project]) as client:
            client.replies["window/workDoneProgress/create"] = lambda params: tokens.append(params["token"])
            await client.request("loaderlint/checkWorkspace", workDoneToken="t")
            assert tokens == [] and progress(client, "t")[0] == "begin" and progress(client, "t")[-1] == "end"
            await client.request("loaderlint/checkWorkspace")
            assert progress(client, tokens[0])[-1] == "end"

    run(scenario())


@pytest.mark.parametrize("by_progress", [True, False])
def test_cancelled_it_changes_nothing(project: Path, by_progress: bool) -> None:
    async def scenario() -> None:
        async with session(folders=[project]) as client:
            (project / "c.py").write_text("HANG\n")
            number, asked = client.ask("loaderlint/checkWorkspace", {"workDoneToken": "t"})
            await client.until(lambda: client.backend.hanging)
            if by_progress:
                client.notify("window/workDoneProgress/cancel", token="t")
            else:
                client.notify("$/cancelRequest", id=number)
            assert "error" in await asyncio.wait_for(asked, PATIENCE)
            (project / "c.py").unlink()
            await client.settled()
            assert not client.server.shows_workspace and shown(client, project / "a.py") is None
            assert progress(client, "t")[-1] == "end"

    run(scenario())


def test_a_client_that_remembers_gets_all_findings_from_the_start(project: Path) -> None:
    async def scenario() -> None:
        options = {"initializationOptions": {"diagnosticMode": "workspace"}}
        async with session(folders=[project], **options) as client:
            await client.until(lambda: shown(client, project / "b.py") == 2)
            await client.request("loaderlint/showOpenFilesOnly")
            await client.until(lambda: shown(client, project / "b.py") == 0)

    run(scenario())


# --- fixing the whole workspace ---------------------------------------------------------------------------------------


def fixing(client: Session, *, applied: bool) -> list[dict[str, Any]]:
    """Let the client accept or reject edits. They are collected in the list."""
    edits: list[dict[str, Any]] = []

    def apply(params: dict[str, Any]) -> dict[str, Any]:
        edits.append(params["edit"])
        return {"applied": applied, "failureReason": "read-only"}

    client.replies["workspace/applyEdit"] = apply
    return edits


def able_to_edit() -> dict[str, Any]:
    able = capabilities()
    able["workspace"]["applyEdit"] = True
    return able


def test_all_safe_fixes_of_the_workspace_are_one_edit(project: Path) -> None:
    (project / "closed.ipynb").write_text("BUG\n")

    async def scenario() -> None:
        async with session(able_to_edit(), [project]) as client:
            edits = fixing(client, applied=True)
            a = (project / "a.py").as_uri()
            client.open(a, "BUG2 GUESS\n", version=7)
            told = await client.request("loaderlint/fixWorkspace")
            assert (told["files"], told["message"]) == (2, "loaderlint: all safe fixes are applied; 2 files edited")
            ((first, second),) = [edit["documentChanges"] for edit in edits]
            assert first["textDocument"] == {"uri": a, "version": 7}
            assert first["edits"][0]["newText"] == "FIXED GUESS\n", "a fix that made room for another"
            assert second["textDocument"] == {"uri": (project / "b.py").as_uri(), "version": None}
            assert "changeAnnotations" not in edits[0], "nobody asks again"

    run(scenario())


def test_fixes_of_the_workspace_that_are_not_made_are_told(project: Path) -> None:
    async def scenario() -> None:
        async with session(able_to_edit(), [project]) as client:
            edits = fixing(client, applied=False)
            with pytest.raises(Refused, match="did not apply the fixes: read-only"):
                await client.request("loaderlint/fixWorkspace")
            for name in ("a.py", "b.py"):
                client.open((project / name).as_uri(), "GUESS")
            assert (await client.request("loaderlint/fixWorkspace"))["files"] == 0
            assert len(edits) == 1
        async with session(folders=[project]) as client:
            with pytest.raises(Refused, match="check --fix"):
                await client.request("loaderlint/fixWorkspace")

    run(scenario())


# --- debug information ------------------------------------------------------------------------------------------------


def test_debug_information(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: project)

    async def scenario() -> None:
        options = {
            "initializationOptions": {"interpreter": f"{project}/.venv/bin/python", "settings": {"ignore": ["LDR1"]}}
        }
        async with session(folders=[project], **options) as client:
            client.open((project / "a.py").as_uri(), "BUG")
            await client.settled()
            debug_information.RECENT.handle(
                logging.LogRecord("x", logging.ERROR, "", 0, "no https://me:hunter2@host/x", None, None)
            )
            text = (await client.request("loaderlint/debugInformation"))["text"]
            assert f"loaderlint {__version__}" in text and "pygls " in text and "libcst 1" in text
            assert "`~/.venv/bin/python`" in text and str(project) not in text
            assert "'ignore': ['LDR1']" in text and "1 document open" in text
            assert "- `~`: 3 files" in text and "torch 2.4.1, from uv.lock" in text
            assert "ERROR x: no https://host/x" in text and "hunter2" not in text

    run(scenario())


def test_debug_information_of_an_engine_that_hangs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debug_information, "PATIENCE", 0.01)

    async def scenario() -> None:
        async with session(folders=[project]) as client:
            client.open((project / "a.py").as_uri(), "HANG")
            await client.until(lambda: client.backend.hanging)
            text = (await client.request("loaderlint/debugInformation"))["text"]
            assert "is busy" in text and "- the analysis is running" in text

    run(scenario())
