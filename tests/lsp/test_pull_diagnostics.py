"""Clients that pull diagnostics, of a document and of the workspace, and when they are asked to pull again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.cells import Cells
from tests.lsp.session import PATIENCE, Session, capabilities, run, session, span

A, B = "file:///project/a.py", "file:///project/b.py"
PULLS = capabilities(pulls=True)


async def pull(client: Session, uri: str, previous: str | None = None) -> dict[str, Any]:
    known = {} if previous is None else {"previousResultId": previous}
    return dict(await client.request("textDocument/diagnostic", textDocument={"uri": uri}, **known))


def refreshes(client: Session) -> list[Any]:
    return [message for message in client.received if message.get("method") == "workspace/diagnostic/refresh"]


def accept_refreshes(client: Session) -> None:
    client.replies["workspace/diagnostic/refresh"] = lambda params: None


def test_who_asks_is_sent_nothing_and_who_does_not_is_not_offered_it() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            provider = (await client.initialize(PULLS))["capabilities"]["diagnosticProvider"]
            assert provider["interFileDependencies"] and provider["workspaceDiagnostics"]
            client.open(A, "BUG")
            report = await pull(client, A)
            assert report["kind"] == "full" and [one["code"] for one in report["items"]] == ["FAK003"]
            client.shut(A)
            await client.settled()
            assert not client.published(A)
        async with session(bare=True) as client:
            assert "diagnosticProvider" not in (await client.initialize(capabilities()))["capabilities"]
            client.open(A, "BUG")
            assert await client.diagnostics(A)

    run(scenario())


@pytest.mark.parametrize("declared", [True, False])
def test_what_it_shows_it_may_declare_for_its_questions_alone(tmp_path: Path, declared: bool) -> None:
    able = capabilities(pulls=True)
    shows = able["textDocument"].pop("publishDiagnostics")
    if declared:
        able["textDocument"]["diagnostic"] |= shows

    async def scenario() -> None:
        async with session(able, [tmp_path]) as client:
            (tmp_path / "b.py").write_text("the cause\n")
            a = (tmp_path / "a.py").as_uri()
            client.open(a, "FAR(b.py)")
            (one,) = (await pull(client, a))["items"]
            assert ("relatedInformation" in one, "codeDescription" in one, "data" in one) == (declared,) * 3

    run(scenario())


def test_one_that_cannot_be_told_to_ask_again_is_sent_all() -> None:
    able = capabilities(pulls=True)
    del able["workspace"]["diagnostics"]

    async def scenario() -> None:
        async with session(bare=True) as client:
            assert "diagnosticProvider" not in (await client.initialize(able))["capabilities"]
            client.open(A, "BUG")
            assert await client.diagnostics(A)

    run(scenario())


def test_neovim_is_sent_all() -> None:
    """After a refresh, it does not pull the documents that it shows."""

    async def scenario() -> None:
        async with session(bare=True) as client:
            result = await client.initialize(PULLS, clientInfo={"name": "Neovim", "version": "0.12.4"})
            assert "diagnosticProvider" not in result["capabilities"]
            client.open(A, "BUG")
            assert await client.diagnostics(A)

    run(scenario())


@pytest.mark.usefixtures("answers_come_first")
def test_what_is_known_is_not_sent_again() -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            client.open(A, "BUG")
            first = await pull(client, A)
            assert await pull(client, A, first["resultId"]) == {"kind": "unchanged", "resultId": first["resultId"]}
            client.change(A, 2, "BUG  # the same finding")
            assert (await pull(client, A, first["resultId"]))["kind"] == "unchanged"
            client.change(A, 3, "BUG BUG")
            assert len((await pull(client, A, first["resultId"]))["items"]) == 2
            assert (await pull(client, "file:///project/none.py"))["items"] == []

    run(scenario())


def test_an_edit_while_it_is_looked_at_makes_the_client_ask_again() -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            client.open(A, "HANG BUG")
            _, asked = client.ask("textDocument/diagnostic", {"textDocument": {"uri": A}})
            await client.until(lambda: client.backend.hanging)
            client.change(A, 2, "BUG")
            client.backend.release.set()
            answer = await asyncio.wait_for(asked, PATIENCE)
            assert answer["error"]["code"] == -32802 and answer["error"]["data"] == {"retriggerRequest": True}
            assert len((await pull(client, A))["items"]) == 1

    run(scenario())


def test_what_stands_is_answered_and_the_client_told_to_ask_again() -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            client.replies["workspace/diagnostic/refresh"] = lambda params: None
            client.open(A, "BUG\n")
            assert len((await pull(client, A))["items"]) == 1
            client.change(A, 2, "HANG BUG\nBUG\n")
            first = await pull(client, A)
            assert [one["range"] for one in first["items"]] == [span(1, 0, 1, 3)]
            assert not client.server.analysis.is_settled
            client.change(A, 3, "HANG BUG\nBUG\n\n")  # the engine is at work: the answer is there at once
            again = await pull(client, A, first["resultId"])
            assert again["kind"] == "unchanged" and not client.server.analysis.is_settled
            client.backend.release.set()
            await client.until(lambda: any(one.get("method") == REFRESH for one in client.received))
            assert len((await pull(client, A))["items"]) == 2

    run(scenario())


REFRESH = "workspace/diagnostic/refresh"


def test_a_crash_is_answered_and_not_asked_about_for_ever() -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            client.open(A, "CRASH")
            assert (await pull(client, A))["items"] == []

    run(scenario())


@pytest.mark.usefixtures("answers_come_first")
def test_the_last_findings_stay_when_the_engine_fails() -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            client.open(A, "BUG\n")
            assert len((await pull(client, A))["items"]) == 1
            client.change(A, 2, "\nBUG\nCRASH\n")
            (shown,) = (await pull(client, A))["items"]
            assert shown["range"]["start"] == {"line": 1, "character": 0}
            client.change(A, 3, "\nBUG BUG")
            assert len((await pull(client, A))["items"]) == 2

    run(scenario())


def test_a_change_elsewhere_asks_for_a_new_question(tmp_path: Path) -> None:
    a = (tmp_path / "a.py").as_uri()

    async def scenario() -> None:
        async with session(PULLS, [tmp_path]) as client:
            accept_refreshes(client)
            client.open(a, "BUG")
            before = await pull(client, a)
            client.change(a, 2, "BUG BUG")  # the client asks by itself
            await client.settled()
            assert not refreshes(client)
            now = await pull(client, a, before["resultId"])
            (tmp_path / "loud.txt").touch()
            client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": (tmp_path / "x.py").as_uri(), "type": 2}])
            await client.until(lambda: refreshes(client))
            after = await pull(client, a, now["resultId"])
            assert {one["severity"] for one in after["items"]} == {1}
            await client.settled()
            assert len(refreshes(client)) == 1

    run(scenario())


# --- the workspace ----------------------------------------------------------------------------------------------------


async def pull_all(client: Session, previous: dict[str, str] | None = None, **more: Any) -> dict[str, dict[str, Any]]:
    known = [{"uri": uri, "value": value} for uri, value in (previous or {}).items()]
    answer = await client.request("workspace/diagnostic", previousResultIds=known, **more)
    return {Path(item["uri"]).name: item for item in answer["items"]}


def ids(items: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {item["uri"]: item["resultId"] for item in items.values()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("BUG\n")
    (tmp_path / "b.py").write_text("BUG GUESS\n")
    (tmp_path / "fine.py").write_text("\n")
    return tmp_path


WORKSPACE = {"initializationOptions": {"settings": {"diagnosticMode": "workspace"}}}


def test_the_whole_workspace(project: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS, [project], **WORKSPACE) as client:
            a = (project / "a.py").as_uri()
            client.open(a, "BUG BUG BUG", version=5)
            found = await pull_all(client)
            assert {name: len(item["items"]) for name, item in found.items()} == {"a.py": 3, "b.py": 2}
            assert found["a.py"]["version"] == 5 and found["b.py"]["version"] is None

    run(scenario())


def test_findings_of_a_notebook_are_told_of_its_file_until_it_is_open(project: Path) -> None:
    async def scenario() -> None:
        path = project / "c.ipynb"
        path.write_text("fine\nfine\nfine\nBUG\n")
        async with session(PULLS, [project], **WORKSPACE) as client:
            found = await pull_all(client)
            (shown,) = found["c.ipynb"]["items"]
            assert shown["message"] == "cell 2, line 2: BUG is a fault"
            assert shown["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
            assert (await client.request("loaderlint/checkWorkspace"))["files"] == 3
            cells = Cells(client, path, "fine\nfine", "fine\nBUG")
            await client.settled()
            news = await pull_all(client, ids(found))
            assert {name: item["items"] for name, item in news.items()} == {"c.ipynb": []}, "shown twice"
            assert [len((await pull(client, uri))["items"]) for uri in cells.order] == [0, 1]
            assert (await client.request("loaderlint/checkWorkspace"))["files"] == 3, "open notebooks are counted"
            cells.close()
            await client.settled()
            again = await pull_all(client, ids(found) | ids(news))
            assert [item["message"] for item in again["c.ipynb"]["items"]] == [shown["message"]]

    run(scenario())


def test_a_client_that_is_sent_diagnostics_gets_those_of_closed_notebooks(project: Path) -> None:
    async def scenario() -> None:
        path = project / "c.ipynb"
        path.write_text("BUG\n")
        uri = path.as_uri()
        async with session(None, [project], **WORKSPACE) as client:
            client.open((project / "fine.py").as_uri(), "")

            def shown() -> int | None:
                published = client.published(uri)
                return len(published[-1]["diagnostics"]) if published else None

            await client.until(lambda: shown() == 1)
            cells = Cells(client, path, "BUG")
            await client.until(lambda: shown() == 0)
            assert await cells.shown() == [["BUG is a fault"]]
            cells.close()
            await client.until(lambda: shown() == 1)

    run(scenario())


def test_a_question_is_held_until_there_is_something_new(project: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS, [project], **WORKSPACE) as client:
            known = ids(await pull_all(client))
            held = asyncio.ensure_future(pull_all(client, known))
            await client.settled()
            assert not held.done()
            (project / "b.py").write_text("fine\n")
            client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": (project / "b.py").as_uri(), "type": 2}])
            news = await held
            assert list(news) == ["b.py"] and news["b.py"]["items"] == []
            known.update(ids(news))
            held = asyncio.ensure_future(pull_all(client, known))
            await client.settled()
            assert not held.done()
            held.cancel()

    run(scenario())


def test_only_open_files_unless_the_setting_says_so(project: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS, [project]) as client:
            held = asyncio.ensure_future(pull_all(client))
            await client.settled()
            assert not held.done()
            settings = {"loaderlint": {"diagnosticMode": "workspace"}}
            client.notify("workspace/didChangeConfiguration", settings=settings)
            found = await held
            assert set(found) == {"a.py", "b.py"}
            held = asyncio.ensure_future(pull_all(client, ids(found)))
            client.notify("workspace/didChangeConfiguration", settings={"loaderlint": {}})
            assert [item["items"] for item in (await held).values()] == [[], []]

    run(scenario())


def test_progress_and_cancel(project: Path) -> None:
    def progress(client: Session) -> list[str]:
        told = [message["params"] for message in client.received if message.get("method") == "$/progress"]
        return [one["value"]["kind"] for one in told if one["token"] == "t"]

    async def scenario() -> None:
        async with session(PULLS, [project], **WORKSPACE) as client:
            await pull_all(client, workDoneToken="t")
            assert progress(client)[0] == "begin" and progress(client)[-1] == "end" and "report" in progress(client)
            (project / "c.py").write_text("HANG\n")
            number, asked = client.ask("workspace/diagnostic", {"previousResultIds": []})
            await client.until(lambda: client.backend.hanging)
            client.notify("$/cancelRequest", id=number)
            assert "error" in await asyncio.wait_for(asked, PATIENCE)
            (project / "c.py").unlink()
            assert set(await pull_all(client)) == {"a.py", "b.py"}  # the engine is idle again

    run(scenario())


def test_an_edit_goes_before_the_workspace(project: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS, [project], **WORKSPACE) as client:
            (project / "c.py").write_text("HANG\n")
            asked = asyncio.ensure_future(pull_all(client))
            await client.until(lambda: client.backend.hanging)
            (project / "c.py").unlink()
            a = (project / "a.py").as_uri()
            client.open(a, "BUG BUG")
            assert len((await pull(client, a))["items"]) == 2
            assert set(await asked) == {"a.py", "b.py"}

    run(scenario())


def test_a_closed_document_is_told_once_more_after_it_was_asked_about(project: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS, [project], **WORKSPACE) as client:
            a = project / "a.py"
            client.open(a.as_uri(), "BUG BUG")
            await pull(client, a.as_uri())
            all_known = await results(client)
            client.shut(a.as_uri())
            a.unlink()
            client.notify("workspace/didDeleteFiles", files=[{"uri": a.as_uri()}])
            # VS Code discards this answer, but remembers its result id.
            first = await client.request("workspace/diagnostic", previousResultIds=all_known)
            (told,) = [one for one in first["items"] if one["uri"] == a.as_uri()]
            assert told["items"] == []
            known = [one for one in all_known if one["uri"] != a.as_uri()]
            known.append({"uri": a.as_uri(), "value": told["resultId"]})
            _, asked = client.ask("workspace/diagnostic", {"previousResultIds": known})
            assert (await pull(client, a.as_uri()))["items"] == []
            again = (await asyncio.wait_for(asked, PATIENCE))["result"]
            assert [one["uri"] for one in again["items"]] == [a.as_uri()]

    run(scenario())


@pytest.mark.parametrize("settings", [{}, WORKSPACE])
def test_what_is_known_of_open_texts_is_not_contradicted(settings: dict[str, Any], project: Path) -> None:
    """VS Code also sends the result ids of documents that it pulled separately; each answer makes it pull again."""

    async def scenario() -> None:
        async with session(PULLS, [project], **settings) as client:
            a = (project / "a.py").as_uri()
            client.open(a, "BUG BUG")
            cells = Cells(client, project / "a.ipynb", "BUG", "x").order
            known = {uri: (await pull(client, uri))["resultId"] for uri in (a, *cells)}
            if settings:
                known = ids(await pull_all(client, known)) | known
            told = [{"uri": uri, "value": value} for uri, value in known.items()]
            _, held = client.ask("workspace/diagnostic", {"previousResultIds": told})
            if settings:  # a later request is answered later
                await pull_all(client)
            await pull(client, a)
            await client.settled()
            assert not held.done()

    run(scenario())


async def results(client: Session) -> list[dict[str, str]]:
    """The result ids of a client that got all reports."""
    answer = await client.request("workspace/diagnostic", previousResultIds=[])
    return [{"uri": one["uri"], "value": one["resultId"]} for one in answer["items"]]
