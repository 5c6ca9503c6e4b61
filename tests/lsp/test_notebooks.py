"""Notebooks: one module over all code cells, shown and fixed cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.cells import Cells
from tests.lsp.session import Refused, capabilities, run, session, span

FIX_ALL = "notebook.source.fixAll.loaderlint"


def test_the_capability_names_notebooks_and_their_python_cells() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            able = capabilities()
            able["notebookDocument"] = {"synchronization": {}}
            sync = (await client.initialize(able))["capabilities"]["notebookDocumentSync"]
            assert sync["notebookSelector"] == [{"notebook": "*", "cells": [{"language": "python"}]}]

    run(scenario())


def test_findings_stand_in_their_cells(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "x = 1", "# %% BUG in prose", "%time BUG\ny = BUG\nz = GUESS\n")
            assert await book.shown() == [[], [], ["BUG is a fault", "GUESS is a fault"]]
            (params,) = client.published(book.order[2])
            assert params["version"] == 1
            assert [one["range"] for one in params["diagnostics"]] == [span(1, 4, 1, 7), span(2, 4, 2, 9)]
            assert not client.published(book.uri) and not client.published(book.order[1])

    run(scenario())


def test_cells_come_go_and_change(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG", "GUESS")
            assert await book.shown() == [["BUG is a fault"], ["GUESS is a fault"]]
            book.insert(1, "\nBUG2")
            assert await book.shown() == [["BUG is a fault"], ["BUG2 is a fault"], ["GUESS is a fault"]]
            gone = book.delete(0)
            assert await book.shown() == [["BUG2 is a fault"], ["GUESS is a fault"]]
            assert client.published(gone)[-1]["diagnostics"] == []
            book.type(1, "fine")
            assert await book.shown() == [["BUG2 is a fault"], []]
            book.type(1, "BUG")
            client.notify(
                "notebookDocument/didClose",
                notebookDocument={"uri": book.uri},
                cellTextDocuments=[{"uri": uri} for uri in book.order],
            )
            await client.settled()
            assert all(client.published(uri)[-1]["diagnostics"] == [] for uri in book.order)
            assert client.server.documents.get(book.order[0]) is None

    run(scenario())


def test_a_cell_that_is_made_another_language_loses_its_findings(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG", "BUG")
            short = "BUG is a fault: same cause as the first such finding in this file"
            assert await book.shown() == [["BUG is a fault"], [short]]
            book._change({"data": [{"kind": 1, "document": book.order[0]}]})
            assert await book.shown() == [[], ["BUG is a fault"]]

    run(scenario())


def test_a_fix_changes_its_cell_only(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "%matplotlib inline\nBUG", "!ls\n'\U0001f600', BUG")
            await book.fix(1, "Fix this BUG")
            assert list(book.texts.values()) == ["%matplotlib inline\nBUG", "!ls\n'\U0001f600', FIXED"]
            assert await book.shown() == [["BUG is a fault"], []]

    run(scenario())


def test_running_a_cell_does_not_outdate_a_fix(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG", "x")
            await book.shown()
            checks = len(client.backend.checks)
            (action, *_) = await client.actions(book.order[0], (0, 0))
            book._change({"data": [{"kind": 2, "document": uri, "metadata": {"run": 1}} for uri in book.order]})
            client.notify(
                "notebookDocument/didChange",
                notebookDocument={"uri": book.uri, "version": 9},
                change={"metadata": {"kernel": "x"}},
            )
            resolved = await client.request("codeAction/resolve", **action)
            assert resolved["edit"]["documentChanges"]
            assert len(client.backend.checks) == checks

    run(scenario())


def test_suppress_here(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "x", "\nBUG")
            await book.fix(1, "Suppress")
            assert book.texts[book.order[1]] == "\nBUG  # loaderlint: ignore[fake-bug]"
            assert await book.shown() == [[], []]

    run(scenario())


def test_fix_all_is_for_the_notebook(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG\n%time", "BUG2 BUG")
            await book.shown()
            for only, titles in (("source.fixAll", 0), ("source.fixAll.loaderlint", 0), (FIX_ALL, 1), ("notebook", 1)):
                assert len(await client.actions(book.order[0], (0, 0), only=[only])) == titles, only
            await book.fix(0, "Fix all", only=[FIX_ALL])
            assert list(book.texts.values()) == ["FIXED\n%time", "FIXED FIXED"]

    run(scenario())


@pytest.mark.parametrize("first", ["", "%matplotlib inline", "%%bash\nls", "# %% # A title"])
def test_fix_all_is_offered_at_any_first_cell(first: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", first, "BUG")
            await book.fix(0, "Fix all", only=[FIX_ALL])
            assert list(book.texts.values()) == [first, "FIXED"]

    run(scenario())


@pytest.mark.parametrize(("first", "line"), [("# %% # A title", 0), ("x\n", 1)])
def test_nothing_of_the_next_cell_is_offered(first: str, line: int, tmp_path: Path) -> None:
    """Neither in Markdown nor on the empty line after a line end."""

    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", first, "BUG LOADER(4)")
            place = {"textDocument": {"uri": book.order[0]}, "position": {"line": line, "character": 0}}
            await client.settled()
            assert await client.actions(book.order[0], (line, 0), only=["quickfix", "refactor"]) == []
            assert await client.request("textDocument/hover", **place) is None
            assert len(await client.actions(book.order[1], (0, 0), only=["quickfix"])) == 2

    run(scenario())


def test_a_cell_without_python_is_not_explained(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            book = Cells(client, tmp_path / "a.ipynb", "# %% # A title", "BUG LOADER(4)")
            place = {"textDocument": {"uri": book.order[0]}, "position": {"line": 0, "character": 0}}
            await client.settled()
            with pytest.raises(Refused, match="no Python"):
                await client.request("loaderlint/explain", **place)

    run(scenario())


def test_hover_and_pull_know_cells(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(capabilities(pulls=True)) as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG", "\nBUG  # loaderlint: ignore[fake-gue]\nGUESS")

            async def hover(number: int, line: int, character: int) -> Any:
                document = {"uri": book.order[number]}
                place = {"line": line, "character": character}
                return await client.request("textDocument/hover", textDocument=document, position=place)

            reports = [await client.request("textDocument/diagnostic", textDocument={"uri": uri}) for uri in book.order]
            assert [[one["range"]["start"]["line"] for one in report["items"]] for report in reports] == [[0], [1, 2]]
            assert not any(client.published(uri) for uri in book.order)
            assert "fake-bug" in (await hover(1, 1, 1))["contents"]["value"]
            assert (await hover(1, 1, 1))["range"] == span(1, 0, 1, 3)
            assert "fake-gue" in (await hover(1, 1, 33))["contents"]["value"]
            assert await hover(1, 0, 0) is None

    run(scenario())


@pytest.mark.parametrize("path", ["untitled:Untitled-1.ipynb", "vscode-interactive:Interactive-1.interactive"])
def test_a_notebook_that_is_no_file_is_left_alone(path: str) -> None:
    async def scenario() -> None:
        async with session() as client:
            cell = {"uri": f"{path}#c0", "languageId": "python", "version": 1, "text": "BUG"}
            cells = [{"kind": 2, "document": cell["uri"]}]
            document = {"uri": path, "notebookType": "interactive", "version": 1, "cells": cells}
            client.notify("notebookDocument/didOpen", notebookDocument=document, cellTextDocuments=[cell])
            await client.settled()
            assert not client.published(str(cell["uri"]))
            assert await client.actions(str(cell["uri"]), (0, 0)) is None

    run(scenario())
