"""Notebooks of a client that pulls diagnostics: each cell is a separate text, and if an edit in one cell changes
another, that is pulled again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loaderlint.lsp import refreshes
from loaderlint.lsp.backend import Loaderlint
from tests.lsp.cells import Cells, Puller
from tests.lsp.session import Session, capabilities, run, session
from tests.lsp.test_file_events import DATA, OLD, TRAIN, made

PULLS = capabilities(pulls=True)
IMPORTS, DRAW = DATA.split("\n\n\n")
LOADER = "from torch.utils.data import DataLoader\n\ntrain_loader = DataLoader(Noisy(), num_workers=4)"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send refreshes without a wait in between."""
    monkeypatch.setattr(refreshes, "APART", 0.0)


async def pull(client: Session, uri: str, previous: str | None = None) -> dict[str, Any]:
    known = {} if previous is None else {"previousResultId": previous}
    return dict(await client.request("textDocument/diagnostic", textDocument={"uri": uri}, **known))


@pytest.mark.parametrize("pulls", [True, False])
def test_a_draw_and_its_loader_in_different_cells(pulls: bool, tmp_path: Path) -> None:
    made(tmp_path, {"requirements.txt": OLD, "pyproject.toml": "[project]\n"})

    async def scenario() -> None:
        async with session(capabilities(pulls=pulls), [tmp_path], backend=Loaderlint()) as client:
            puller = Puller(client) if pulls else None
            book = Cells(client, tmp_path / "a.ipynb", IMPORTS, DRAW, LOADER, puller=puller)
            assert await book.codes() == [[], ["LDR101"], []]
            await book.fix(1, "Seed each worker")
            assert "worker_init_fn" in book.texts[book.order[2]] and book.texts[book.order[1]] == DRAW
            assert await book.codes() == [[], [], []]

    run(scenario())


def test_a_draw_and_its_loader_in_different_files(tmp_path: Path) -> None:
    made(tmp_path, {"requirements.txt": OLD, "pyproject.toml": "[project]\n"})
    data, train = (tmp_path / "data.py").as_uri(), (tmp_path / "train.py").as_uri()

    async def scenario() -> None:
        async with session(PULLS, [tmp_path], backend=Loaderlint()) as client:
            puller = Puller(client)

            async def codes() -> list[str]:
                await puller.settled()
                return [one["code"] for one in puller.shown[data]]

            client.open(data, DATA)
            client.open(train, TRAIN)
            puller.ask(data)
            puller.ask(train)
            assert await codes() == ["LDR101"]
            for version, workers, expected in ((2, "0", []), (3, "4", ["LDR101"])):
                client.change(train, version, TRAIN.replace("4", workers))
                puller.ask(train)
                assert await codes() == expected
            assert puller.refreshes == 2

    run(scenario())


def test_only_what_changes_in_another_cell_needs_a_refresh(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "GUESS", "x", "BUG", puller=puller)
            assert await book.shown() == [["GUESS is a fault"], [], ["BUG is a fault"]]
            book.type(1, "BUG2")
            assert await book.shown() == [["GUESS is a fault"], ["BUG2 is a fault"], ["BUG is a fault"]]
            assert puller.refreshes == 0
            book.type(1, "HUSH")
            assert await book.shown() == [[], [], ["BUG is a fault"]]
            book.type(1, "")
            assert await book.shown() == [["GUESS is a fault"], [], ["BUG is a fault"]]
            assert puller.refreshes == 2

    run(scenario())


def test_a_refresh_sends_again_only_what_is_new(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "GUESS", "x", "BUG", "BUG", puller=puller)
            await book.shown()
            assert puller.full == 4
            book.type(1, "HUSH")
            await book.shown()
            assert puller.full == 5  # the first cell; all others are unchanged
            first, second = [await pull(client, uri) for uri in book.order[2:]]
            assert first["resultId"] != second["resultId"] or first["items"] == second["items"]

    run(scenario())


def test_cells_that_come_go_move_and_change_their_kind(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "# %% text", "GUESS", "BUG\nHUSH", puller=puller)
            guess, bug = ["GUESS is a fault"], ["BUG is a fault"]
            assert await book.shown() == [[], [], bug]
            book.split(2, 1)
            assert await book.shown() == [[], [], bug, []]
            book.move(3, 0)
            assert await book.shown() == [[], [], [], bug]
            book.turn(0)
            assert await book.shown() == [[], [], guess, bug]
            book.mark(2)
            assert await book.shown() == [[], [], [], bug]
            book.mark(2)
            assert await book.shown() == [[], [], guess, bug]
            book.insert(4, "%%time\nHUSH")
            assert await book.shown() == [[], [], [], bug, []]
            book.delete(4)
            assert await book.shown() == [[], [], guess, bug]
            book.merge(2)
            assert await book.shown() == [[], [], guess + bug]
            book.type(2, "")
            assert await book.shown() == [[], [], []]

    run(scenario())


def test_closed_and_opened_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "GUESS", "x", puller=puller)
            assert await book.shown() == [["GUESS is a fault"], []]
            book.close()
            await puller.settled()
            book.texts[book.order[1]] = "HUSH"
            book.reopen()
            assert await book.shown() == [[], []]
            book.type(1, "x")
            assert await book.shown() == [["GUESS is a fault"], []]
            assert puller.refreshes == 1

    run(scenario())


def test_two_notebooks_with_the_same_texts(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            first, second = (Cells(client, tmp_path / f"{name}.ipynb", "GUESS", "x", puller=puller) for name in "ab")
            assert await first.shown() == await second.shown() == [["GUESS is a fault"], []]
            first.type(1, "HUSH")
            assert await first.shown() == [[], []]
            assert await second.shown() == [["GUESS is a fault"], []]

    run(scenario())


def test_notebooks_that_give_their_cells_the_same_names(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session() as client:
            first, second = (Cells(client, tmp_path / f"{name}.ipynb", "BUG", "x") for name in "ab")
            assert await first.shown() == [["BUG is a fault"], []]
            second.close()
            second.order, second.texts, second.kinds = list(first.order), dict(first.texts), dict(first.kinds)
            second.reopen()
            second.close()
            gone = first.delete(0)
            assert await first.shown() == [[]]
            assert client.published(gone)[-1]["diagnostics"] == []

    run(scenario())


def test_a_cell_that_is_asked_about_before_its_notebook_is_open(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            early = (tmp_path / "a.ipynb").as_uri().replace("file:", "vscode-notebook-cell:") + "#c0"
            puller.ask(early)
            await puller.settled()
            assert puller.shown[early] == []
            Cells(client, tmp_path / "a.ipynb", "BUG")
            await puller.settled()
            assert [one["code"] for one in puller.shown[early]] == ["FAK003"]

    run(scenario())


def test_a_check_that_failed_is_followed_by_one_that_does_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "BUG", "CRASH", puller=puller)
            assert await book.shown() == [[], []]
            book.type(1, "x")
            assert await book.shown() == [["BUG is a fault"], []]

    run(scenario())


def test_refreshes_are_told_seldom_and_the_last_change_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refreshes, "APART", 3600.0)

    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "GUESS", "x", puller=puller)
            await book.shown()
            for text in ("HUSH", "x", "HUSH", "x", "HUSH"):
                book.type(1, text)
                await puller.settled()
            assert puller.refreshes == 1
            client.server.shown.refreshes._consider_again()  # an hour later
            assert puller.refreshes == 1, "what the client shows is right by now"
            book.type(1, "x")
            await puller.settled()
            assert puller.refreshes == 1
            monkeypatch.setattr(refreshes, "APART", 0.0)
            client.server.shown.refreshes._consider_again()
            assert await book.shown() == [["GUESS is a fault"], []]
            assert puller.refreshes == 2

    run(scenario())


def test_a_text_that_changes_without_a_new_version(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", "GUESS", "x", puller=puller)
            assert await book.shown() == [["GUESS is a fault"], []]
            book.versions[book.order[1]] -= 1
            book.type(1, "HUSH")
            assert await book.shown() == [[], []]

    run(scenario())


def test_a_cell_that_is_listed_twice_counts_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG", "x")
            again = book._cell(book.order[0])
            book._change({"structure": {"array": {"start": 2, "deleteCount": 0, "cells": [again]}}})
            assert len((await pull(client, book.order[0]))["items"]) == 1

    run(scenario())


def test_a_cell_that_is_closed_and_opened_by_one_notification_is_open(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            book = Cells(client, tmp_path / "a.ipynb", "x")
            book.texts[book.order[0]] = "BUG"
            array = {"start": 0, "deleteCount": 1, "cells": [book._cell(book.order[0])]}
            written = {"didClose": [{"uri": book.order[0]}], "didOpen": [book._document(book.order[0])]}
            book._change({"structure": {"array": array, **written}})
            assert len((await pull(client, book.order[0]))["items"]) == 1

    run(scenario())


@pytest.mark.parametrize("on_disk", ["no notebook", '{"cells": [], "metadata": {}, "nbformat": 4}'])
def test_what_is_on_disk_does_not_count_while_the_notebook_is_open(on_disk: str, tmp_path: Path) -> None:
    made(tmp_path, {"requirements.txt": OLD, "pyproject.toml": "[project]\n", "a.ipynb": "{}"})

    async def scenario() -> None:
        async with session(PULLS, [tmp_path], backend=Loaderlint()) as client:
            puller = Puller(client)
            book = Cells(client, tmp_path / "a.ipynb", IMPORTS, DRAW, LOADER, puller=puller)
            assert await book.codes() == [[], ["LDR101"], []]
            (tmp_path / "a.ipynb").write_text(on_disk)
            changed = {"uri": (tmp_path / "a.ipynb").as_uri(), "type": 2}
            client.notify("workspace/didChangeWatchedFiles", changes=[changed])
            assert await book.codes() == [[], ["LDR101"], []]
            book.type(2, "")
            book.insert(3, LOADER.replace("4", "0"))
            assert await book.codes() == [[], [], [], []]

    run(scenario())


@pytest.mark.parametrize("uri", ["untitled:Untitled-1.ipynb", "vscode-interactive:Interactive-1.interactive"])
def test_the_cells_of_a_notebook_that_is_no_file_have_no_findings(uri: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with session(PULLS) as client:
            book = Cells(client, tmp_path / "a.ipynb", "BUG")
            book.close()
            book.uri = uri
            book.reopen()
            assert (await pull(client, book.order[0]))["items"] == []

    run(scenario())
