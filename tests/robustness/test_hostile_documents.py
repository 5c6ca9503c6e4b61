"""Hostile inputs as documents of an editor: the server answers every question about them, and a normal file after each.

One server takes many inputs, so that what an input leaves behind is seen too."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.client import Client, ServerError
from tests.robustness.hostile_inputs import FINDING, ROWS, TRAIN, Hostile, write
from tests.robustness.scale import is_long, scaled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the rows need links, pipes and devices")

#: Inputs that one server takes.
INPUTS_OF_A_SERVER = 30
#: The short form opens one row of so many.
STEP = 6
#: Documents of an input that are opened; some rows write hundreds of files.
MOST_DOCUMENTS = 3
#: Bytes that the server and the engine may take, each.
MEMORY = 1 << 30
#: Rows whose sizes are seeds.
SEEDED = ("program", "damage")
#: The answer to a question that has no answer, with the reason (RequestFailed).
REFUSED = "-32803"
_FINDING_LINE = 13
_ALLOWED_ERRORS = re.compile(rf"'code': {REFUSED}\b")

Record = Callable[[str, object], None]
Cells = Sequence[str]


def _inputs() -> list[tuple[Hostile, int]]:
    """The rows that are documents, with their sizes; whether a row has any is seen when it is written."""
    rows = [row for row in ROWS if row.name not in SEEDED]
    chosen = (
        [(row, size) for row in rows for size in row.sizes] if is_long() else [(r, r.sizes[0]) for r in rows[::STEP]]
    )
    return chosen + [(row, seed) for row in ROWS if row.name in SEEDED for seed in range(scaled(10))]


def _servers() -> Iterator[pytest.param]:
    inputs = _inputs()
    for number, start in enumerate(range(0, len(inputs), INPUTS_OF_A_SERVER)):
        group = inputs[start : start + INPUTS_OF_A_SERVER]
        for pulls in (False, True) if is_long() else (number % 2 == 1,):
            yield pytest.param(group, pulls, id=f"{number}-{'pull' if pulls else 'push'}")


@pytest.mark.parametrize(("group", "pulls"), list(_servers()))
def test_document_is_answered(
    group: Sequence[tuple[Hostile, int]], pulls: bool, tmp_path: Path, record_property: Record
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text(TRAIN)
    opened = 0
    with Client(root, tmp_path / "log", pulls=pulls) as client:
        normal = Normal(client, root / "train.py")
        for number, (row, size) in enumerate(group):
            for name, text in _documents(row, size, tmp_path / f"input-{number}"):
                try:
                    _live_with(client, root / name, text)
                    normal.check()
                except (AssertionError, ServerError) as error:
                    raise AssertionError(f"{row.name} of {size}, {name!r}: {error}") from error
                opened += 1
        _assert_quiet(client)
        _assert_small(client)
    record_property("documents", opened)


class Normal:
    """The file that is still answered. Each check moves its finding by a line, so that an old answer is seen."""

    def __init__(self, client: Client, path: Path) -> None:
        self._client = client
        self._uri = path.as_uri()
        self._version = 1
        _open(client, self._uri, TRAIN)

    def check(self) -> None:
        """Edit the file, and ask about it."""
        self._version += 1
        moved = self._version % 2
        document = {"uri": self._uri, "version": self._version}
        text = "\n" * moved + TRAIN
        self._client.notify("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])
        self._client.settle(self._uri)
        found = {one["code"]: one["range"]["start"] for one in self._client.shown(self._uri)}
        assert FINDING in found, f"the finding in train.py is lost: {found}"
        place = found[FINDING]
        assert place["line"] == _FINDING_LINE + moved
        hover = self._client.request("textDocument/hover", textDocument={"uri": self._uri}, position=place)
        assert hover is not None and FINDING in str(hover)


def _documents(row: Hostile, size: int, folder: Path) -> Iterator[tuple[str, str | Cells]]:
    """The names and texts of the sources that a row writes; of a notebook the texts of its cells."""
    if not row.finds:
        return
    write(row, folder, size)
    paths = [path for path in sorted(folder.glob("*")) if path.suffix in (".py", ".ipynb") and path.name != "train.py"]
    regular = [path for path in paths if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o400]
    for path in regular[:MOST_DOCUMENTS]:
        text = path.read_bytes().decode("utf-8", "replace")
        cells = _cells(text) if path.suffix == ".ipynb" else text
        if cells is not None:
            yield path.name, cells


def _cells(text: str) -> Cells | None:
    """The cells that an editor would send; None if it could not open the notebook."""
    try:
        cells = json.loads(text)["cells"]
        sources = [one["source"] for one in cells if one["cell_type"] == "code"]
        return ["".join(one) for one in sources]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _live_with(client: Client, path: Path, text: str | Cells) -> None:
    """Open a document, ask everything, edit it, ask again, and close it."""
    if not isinstance(text, str):
        _live_with_notebook(client, path, text)
        return
    uri = path.as_uri()
    _open(client, uri, text)
    _ask_everything(client, uri, text)
    start = {"line": 0, "character": 0}
    edits: list[dict[str, Any]] = [{"range": {"start": start, "end": start}, "text": "x = (\n"}, {"text": text + "\n"}]
    for version, edit in enumerate(edits, 2):
        document = {"uri": uri, "version": version}
        client.notify("textDocument/didChange", textDocument=document, contentChanges=[edit])
    _ask_everything(client, uri, text)
    client.notify("textDocument/didClose", textDocument={"uri": uri})


def _live_with_notebook(client: Client, path: Path, texts: Cells) -> None:
    uri = path.as_uri()
    cells = [f"vscode-notebook-cell:{uri[5:]}#{number}" for number in range(len(texts))]
    client.notify(
        "notebookDocument/didOpen",
        notebookDocument={
            "uri": uri,
            "notebookType": "jupyter-notebook",
            "version": 1,
            "cells": [{"kind": 2, "document": cell} for cell in cells],
        },
        cellTextDocuments=[
            {"uri": cell, "languageId": "python", "version": 1, "text": text}
            for cell, text in zip(cells, texts, strict=True)
        ],
    )
    for cell, text in list(zip(cells, texts, strict=True))[:2]:
        _ask_everything(client, cell, text)
    client.notify(
        "notebookDocument/didClose",
        notebookDocument={"uri": uri},
        cellTextDocuments=[{"uri": cell} for cell in cells],
    )


def _open(client: Client, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", textDocument=document)


def _ask_everything(client: Client, uri: str, text: str) -> None:
    client.settle(uri)
    client.shown(uri)
    document, start = {"uri": uri}, {"line": 0, "character": 0}
    end = {"line": text.count("\n") + 1, "character": 0}
    whole = {"start": start, "end": end}
    context = {"diagnostics": client.published.get(uri, [])[:5]}
    client.request("textDocument/hover", textDocument=document, position=start)
    client.request("textDocument/codeAction", textDocument=document, range=whole, context=context)
    client.request("textDocument/codeLens", textDocument=document)
    for method in ("loaderlint/explain", "loaderlint/workers"):
        try:
            client.request(method, textDocument=document, position=start)
        except ServerError as error:
            if _ALLOWED_ERRORS.search(str(error)) is None:
                raise


def _assert_quiet(client: Client) -> None:
    said = "\n".join([client.errors(), *client.messages])
    for word in ("Traceback", "internal error", "started again"):
        assert word not in said, said[-3000:]


def _assert_small(client: Client) -> None:
    """The server and its engine never took more than their share of memory."""
    tasks = Path(f"/proc/{client.process.pid}/task").glob("*/children")
    processes = [client.process.pid, *(int(word) for one in tasks for word in one.read_text().split())]
    for pid in processes:
        peak = re.search(r"^VmHWM:\s*(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        assert peak is not None and int(peak[1]) << 10 <= MEMORY, f"{peak and peak[1]} kB"
