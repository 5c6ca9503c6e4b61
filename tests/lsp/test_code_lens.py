"""Code lenses at loaders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.lsp.session import Session, capabilities, run, session, span
from tests.lsp.test_notebooks import Cells

A = "file:///project/a.py"


async def lenses(client: Session, uri: str) -> list[dict[str, Any]]:
    return list(await client.request("textDocument/codeLens", textDocument={"uri": uri}))


def test_what_it_says_and_where() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "\U0001f600 = LOADER(4)\nLOADER(0)")
            assert await lenses(client, A) == [
                {
                    "range": span(0, 5, 0, 11),
                    "command": {
                        "title": "num_workers=4: 1 function in its workers, 1 object copied into each",
                        "command": "",
                        "arguments": [A],
                    },
                },
                {
                    "range": span(1, 0, 1, 6),
                    "command": {
                        "title": "num_workers=0: 1 function in the main process",
                        "command": "",
                        "arguments": [A],
                    },
                },
            ]
            assert await client.request("textDocument/codeLens", textDocument={"uri": "file:///no.py"}) is None

    run(scenario())


def test_a_client_that_knows_the_command_gets_it() -> None:
    async def scenario() -> None:
        options = {"initializationOptions": {"commands": ["loaderlint.showWorkerMap"]}}
        async with session(capabilities(), **options) as client:
            client.open(A, "LOADER(4)")
            assert [one["command"]["command"] for one in await lenses(client, A)] == ["loaderlint.showWorkerMap"]

    run(scenario())


def test_a_client_that_can_audit_is_offered_it_in_programs(tmp_path: Path) -> None:
    async def scenario() -> None:
        options = {"initializationOptions": {"commands": ["loaderlint.audit"]}}
        async with session(capabilities(), **options) as client:

            async def offered(uri: str, text: str) -> list[list[Any]]:
                client.open(uri, text)
                commands = [one["command"] for one in await lenses(client, uri)]
                assert all(one["title"] == "Audit this loader" for one in commands if one["command"])
                return [one["arguments"] for one in commands if one["command"] == "loaderlint.audit"]

            guarded = "file:///project/guarded.py"
            assert await offered(A, "x = LOADER(4)\n") == [[A]]
            assert await offered(guarded, "if x:\n    LOADER(4)\nif __name__ == '__main__':\n    f()\n") == [[guarded]]
            assert await offered("file:///project/loaders.py", "def make():\n    LOADER(4)\n") == []
            book = Cells(client, tmp_path / "a.ipynb", "LOADER(1)")
            assert [one["command"]["command"] for one in await lenses(client, book.order[0])] == [""]

    run(scenario())


def test_in_its_cell(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "LOADER(1)", "\nLOADER(2)")
            first, second = [await lenses(client, uri) for uri in book.order]
            assert [one["range"]["start"]["line"] for one in first + second] == [0, 1]

    run(scenario())


def test_asked_for_again_when_the_project_was_linked_anew() -> None:
    able = capabilities()
    able["workspace"]["codeLens"] = {"refreshSupport": True}

    def refreshes(client: Session) -> list[Any]:
        return [message for message in client.received if message.get("method") == "workspace/codeLens/refresh"]

    async def scenario() -> None:
        async with session(able) as client:
            client.replies["workspace/codeLens/refresh"] = lambda params: None
            client.open(A, "LOADER(4)")
            await client.settled()
            assert not refreshes(client)
            client.change(A, 2, "LOADER(4) # relink")
            await client.until(lambda: refreshes(client))

    run(scenario())
