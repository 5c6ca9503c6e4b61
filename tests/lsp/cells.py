"""A notebook in an editor: its cells, and the actions of a user."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

from tests.lsp.session import PATIENCE, Session

REFRESH = "workspace/diagnostic/refresh"
#: The errors after which the client must ask again: ContentModified, ServerCancelled.
_AGAIN = (-32801, -32802)
_CODE, _MARKUP = 2, 1


class Puller:
    """Pulls diagnostics as VS Code does: of a text that is opened or edited, and of all texts after a refresh.

    `shown` is what the user sees of each text, by URI; `full` counts the answers that were not 'unchanged'."""

    def __init__(self, client: Session) -> None:
        self.client = client
        self.shown: dict[str, list[dict[str, Any]]] = {}
        self.full = 0
        self._ids: dict[str, str] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._requests: dict[str, int] = {}
        client.replies[REFRESH] = self._refresh

    @property
    def refreshes(self) -> int:
        """How often the server asked the client to pull everything."""
        return sum(message.get("method") == REFRESH for message in self.client.received)

    def ask(self, uri: str) -> None:
        """Pull the diagnostics of a text; a pending request is cancelled and sent again."""
        self.shown.setdefault(uri, [])
        if uri in self._asking:
            self._asking[uri].cancel()
            self.client.notify("$/cancelRequest", id=self._requests[uri])
        self._asking[uri] = asyncio.ensure_future(self._answered(uri, self._asked(uri)))

    def forget(self, uri: str) -> None:
        """Close a text: VS Code pulls it one last time, and shows nothing."""
        self.client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        for known in (self.shown, self._ids):
            known.pop(uri, None)
        if uri in self._asking:
            self._asking.pop(uri).cancel()

    async def settled(self) -> None:
        """Wait until the server has checked everything and no pull is pending."""
        await self.client.settled()
        while self._asking:
            await asyncio.wait(self._asking.values(), timeout=PATIENCE)
            await self.client.settled()

    def _refresh(self, params: Any) -> None:
        for uri in self.shown:
            self.ask(uri)

    def _asked(self, uri: str) -> asyncio.Future[Any]:
        known = {"previousResultId": self._ids[uri]} if uri in self._ids else {}
        params = {"textDocument": {"uri": uri}, **known}
        self._requests[uri], answer = self.client.ask("textDocument/diagnostic", params)
        return answer

    async def _answered(self, uri: str, answer: asyncio.Future[Any]) -> None:
        message = await asyncio.wait_for(answer, PATIENCE)
        while message.get("error", {}).get("code") in _AGAIN:
            message = await asyncio.wait_for(self._asked(uri), PATIENCE)
        del self._asking[uri]
        report = message["result"]
        if report["kind"] == "full":
            self.full += 1
            self.shown[uri] = report["items"]
        else:
            assert report["resultId"] == self._ids[uri]
        self._ids[uri] = report.get("resultId") or self._ids.pop(uri, "")


class Cells:
    """A notebook in an editor. Cells are code unless their text starts with '# %% '. With a `puller`, the client pulls
    the diagnostics of what it opens and edits; otherwise they are pushed."""

    def __init__(self, client: Session, path: Path, *texts: str, puller: Puller | None = None) -> None:
        self.client, self.uri, self.version, self.made = client, path.as_uri(), 1, 0
        self.puller = puller
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.order: list[str] = [self._new(text) for text in texts]
        self.reopen()

    def again(self, client: Session, puller: Puller | None) -> Cells:
        """The notebook in its present state, opened in another editor."""
        other = copy.copy(self)
        other.client, other.puller = client, puller
        other.reopen()
        return other

    def _new(self, text: str) -> str:
        uri = self.uri.replace("file:", "vscode-notebook-cell:") + f"#c{self.made}"
        self.made += 1
        self.texts[uri], self.versions[uri] = text, 1
        self.kinds[uri] = _MARKUP if text.startswith("# %% ") else _CODE
        return uri

    def _cell(self, uri: str) -> dict[str, Any]:
        return {"kind": self.kinds[uri], "document": uri}

    def _document(self, uri: str) -> dict[str, Any]:
        language = "python" if self.kinds[uri] == _CODE else "markdown"
        return {"uri": uri, "languageId": language, "version": self.versions[uri], "text": self.texts[uri]}

    def _change(self, cells: dict[str, Any], *written: str) -> None:
        """Notify the server; `written` are the cells with a new text."""
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("notebookDocument/didChange", notebookDocument=document, change={"cells": cells})
        self._ask(*written)

    def _ask(self, *uris: str) -> None:
        for uri in uris if self.puller else ():
            self.puller.ask(uri)

    def _forget(self, *uris: str) -> None:
        for uri in uris if self.puller else ():
            self.puller.forget(uri)

    # --- what a user does

    def reopen(self) -> None:
        """Open the notebook again; versions start from the beginning."""
        self.version = 1
        self.versions = dict.fromkeys(self.order, 1)
        document = {"uri": self.uri, "notebookType": "jupyter-notebook", "version": 1}
        cells = [self._cell(uri) for uri in self.order]
        documents = [self._document(uri) for uri in self.order]
        self.client.notify(
            "notebookDocument/didOpen", notebookDocument={**document, "cells": cells}, cellTextDocuments=documents
        )
        self._ask(*self.order)

    def close(self) -> None:
        """Close the notebook."""
        closed = [{"uri": uri} for uri in self.order]
        self.client.notify("notebookDocument/didClose", notebookDocument={"uri": self.uri}, cellTextDocuments=closed)
        self._forget(*self.order)

    def type(self, number: int, text: str) -> None:
        """Replace the text of a cell."""
        uri = self.order[number]
        self.texts[uri] = text
        self.versions[uri] += 1
        changed = {"document": {"uri": uri, "version": self.versions[uri]}, "changes": [{"text": text}]}
        self._change({"textContent": [changed]}, uri)

    def insert(self, at: int, text: str) -> None:
        """Insert a cell."""
        uri = self._new(text)
        self.order.insert(at, uri)
        array = {"start": at, "deleteCount": 0, "cells": [self._cell(uri)]}
        self._change({"structure": {"array": array, "didOpen": [self._document(uri)]}}, uri)

    def delete(self, at: int) -> str:
        """Delete a cell. Returns its URI."""
        uri = self.order.pop(at)
        array = {"start": at, "deleteCount": 1}
        self._change({"structure": {"array": array, "didClose": [{"uri": uri}]}})
        self._forget(uri)
        return uri

    def move(self, at: int, to: int) -> None:
        """Move a cell: the notification contains all cells between the two places in their new order."""
        first, last = min(at, to), max(at, to)
        self.order.insert(to, self.order.pop(at))
        moved = [self._cell(uri) for uri in self.order[first : last + 1]]
        self._change({"structure": {"array": {"start": first, "deleteCount": last - first + 1, "cells": moved}}})

    def split(self, at: int, line: int) -> None:
        """Cut a cell before one of its lines."""
        lines = self.texts[self.order[at]].split("\n")
        self.type(at, "\n".join(lines[:line]))
        self.insert(at + 1, "\n".join(lines[line:]))

    def merge(self, at: int) -> None:
        """Join a cell with the next one."""
        text = self.texts[self.order[at + 1]]
        self.delete(at + 1)
        self.type(at, f"{self.texts[self.order[at]]}\n{text}")

    def mark(self, at: int) -> None:
        """Turn code into Markdown, or Markdown into code, in the same cell: its kind changes, but not its text."""
        uri = self.order[at]
        self.kinds[uri] = _CODE if self.kinds[uri] == _MARKUP else _MARKUP
        self._change({"data": [self._cell(uri)]})

    def turn(self, at: int) -> None:
        """Change a cell's language as VS Code does: it is removed, and added in the other language with the same name
        and version."""
        uri = self.order[at]
        self._change({"structure": {"array": {"start": at, "deleteCount": 1}, "didClose": [{"uri": uri}]}})
        self.kinds[uri] = _CODE if self.kinds[uri] == _MARKUP else _MARKUP
        array = {"start": at, "deleteCount": 0, "cells": [self._cell(uri)]}
        self._change({"structure": {"array": array, "didOpen": [self._document(uri)]}}, uri)

    # --- what a user sees

    async def diagnostics(self) -> list[list[dict[str, Any]]]:
        """The diagnostics shown in each cell when everything is settled."""
        if self.puller:
            await self.puller.settled()
            return [self.puller.shown[uri] for uri in self.order]
        await self.client.settled()
        published = [self.client.published(uri) for uri in self.order]
        return [params[-1]["diagnostics"] if params else [] for params in published]

    async def shown(self) -> list[list[str]]:
        """The messages in each cell when everything is settled."""
        return [[one["message"] for one in found] for found in await self.diagnostics()]

    async def codes(self) -> list[list[str]]:
        """The codes in each cell when everything is settled."""
        return [[one["code"] for one in found] for found in await self.diagnostics()]

    async def fix(self, number: int, title: str, **context: Any) -> None:
        """Choose an action of a cell and apply its edits."""
        lines = self.texts[self.order[number]].split("\n")
        actions = await self.client.actions(self.order[number], (0, 0), (len(lines) - 1, len(lines[-1])), **context)
        action = next(one for one in actions if one["title"].startswith(title))
        if "edit" not in action:
            action = await self.client.request("codeAction/resolve", **action)
        for change in action["edit"]["documentChanges"]:
            uri = change["textDocument"]["uri"]
            assert change["textDocument"]["version"] == self.versions[uri]
            text = self.texts[uri]
            for edit in sorted(change["edits"], key=lambda one: -one["range"]["start"]["line"]):
                text = replaced(text, edit)
            self.type(self.order.index(uri), text)


def replaced(text: str, edit: dict[str, Any]) -> str:
    """`text` after one edit of the protocol, if every character is one unit."""
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    start, end = (starts[edit["range"][at]["line"]] + edit["range"][at]["character"] for at in ("start", "end"))
    return text[:start] + edit["newText"] + text[end:]
