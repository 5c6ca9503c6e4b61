"""A client in the same process: it passes JSON to the server's protocol, without pipes.

Answers and notifications are plain JSON values, as an editor sees them."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from loaderlint.lsp.server import Server
from tests.lsp import wire
from tests.lsp.fake_engine import FakeBackend

#: Seconds after which a test stops waiting. Not a measurement.
PATIENCE = 20


def capabilities(
    encoding: str | None = None, *, rich: bool = True, asked: bool = False, pulls: bool = False
) -> dict[str, Any]:
    """The capabilities of a client: like VS Code if `rich`, else the minimum; `asked`: it can be asked for its
    settings; `pulls`: it pulls diagnostics."""
    able: dict[str, Any] = {"workspace": {}, "textDocument": {}}
    if encoding:
        able["general"] = {"positionEncodings": [encoding]}
    if rich:
        able["workspace"] = {
            "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}},
            "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
            "didChangeConfiguration": {"dynamicRegistration": True},
            "fileOperations": {"didRename": True, "didCreate": True, "didDelete": True},
            "workspaceFolders": True,
        }
        able["textDocument"] = {
            "publishDiagnostics": {
                "relatedInformation": True,
                "versionSupport": True,
                "codeDescriptionSupport": True,
                "dataSupport": True,
                "tagSupport": {"valueSet": [1, 2]},
            },
            "codeAction": {
                "dataSupport": True,
                "resolveSupport": {"properties": ["edit"]},
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
            },
            "hover": {"contentFormat": ["markdown", "plaintext"]},
        }
    if asked:
        able["workspace"]["configuration"] = True
    if pulls:
        able["textDocument"]["diagnostic"] = {"relatedDocumentSupport": False}
        able["workspace"]["diagnostics"] = {"refreshSupport": True}
    return able


class Refused(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]


class Session:
    def __init__(self, backend: FakeBackend) -> None:
        self.backend = backend
        self.loads = 0
        self.server = Server(self._load)
        self.server.protocol.set_writer(self, include_headers=False)
        self.received: list[dict[str, Any]] = []
        self.replies: dict[str, Callable[[Any], Any]] = {"client/registerCapability": lambda params: None}
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)

    def _load(self) -> FakeBackend:
        self.loads += 1
        return self.backend

    # what pygls writes to

    def write(self, data: bytes) -> None:
        message = json.loads(data)
        wire.from_server(message.get("method"))
        self.received.append(message)
        if "method" not in message and message.get("id") in self._answers:
            future = self._answers.pop(message["id"])
            if not future.done():
                future.set_result(message)
        elif "method" in message and "id" in message and message["method"] in self.replies:
            result = self.replies[message["method"]](message.get("params"))
            self.send({"id": message["id"], "result": result}, soon=True)

    def close(self) -> None:
        pass

    # what an editor does

    def send(self, message: dict[str, Any], *, soon: bool = False) -> None:
        wire.to_server(message.get("method"))
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if soon:
            asyncio.get_running_loop().call_soon(self.server.protocol.receive, body)
        else:
            self.server.protocol.receive(body)

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> tuple[int, asyncio.Future[Any]]:
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        future = self._answers[number]
        self.send({"id": number, "method": method, "params": params})
        return number, future

    async def request(self, method: str, **params: Any) -> Any:
        _, future = self.ask(method, params)
        answer = await asyncio.wait_for(future, PATIENCE)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Poll until `condition` is true. It may be about messages, or about questions to the engine."""

        async def wait() -> Any:
            while not (found := condition()):
                await asyncio.sleep(0.001)
            return found

        return await asyncio.wait_for(wait(), PATIENCE)

    async def settled(self, uri: str = "file:///none.py") -> Any:
        return await self.request("loaderlint/status", uri=uri, wait=True)

    async def initialize(
        self, able: dict[str, Any] | None = None, folders: Sequence[Path] = (), **more: Any
    ) -> dict[str, Any]:
        workspace = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders] or None
        able = capabilities() if able is None else able
        result = await self.request(
            "initialize",
            **{"processId": None, "rootUri": None, "capabilities": able, "workspaceFolders": workspace, **more},
        )
        self.notify("initialized")
        return dict(result)

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", textDocument=document)

    def change(self, uri: str, version: int, *changes: dict[str, Any] | str) -> None:
        """Edit a document. Each change is a whole text, or {"range": ..., "text": ...}."""
        events = [{"text": change} if isinstance(change, str) else change for change in changes]
        self.notify("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=events)

    def shut(self, uri: str) -> None:
        self.notify("textDocument/didClose", textDocument={"uri": uri})

    def published(self, uri: str) -> list[dict[str, Any]]:
        """All diagnostics notifications for a document, the oldest first."""
        return [
            message["params"]
            for message in self.received
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri
        ]

    async def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """The diagnostics shown for the document when everything is settled."""
        await self.settled(uri)
        return list(self.published(uri)[-1]["diagnostics"])

    async def actions(
        self, uri: str, start: tuple[int, int], end: tuple[int, int] | None = None, **context: Any
    ) -> list[dict[str, Any]]:
        return await self.request(
            "textDocument/codeAction",
            textDocument={"uri": uri},
            range=span(*start, *(end or start)),
            context={"diagnostics": [], **context},
        )


def span(line: int, column: int, end_line: int, end_column: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": column}, "end": {"line": end_line, "character": end_column}}


@asynccontextmanager
async def session(
    able: dict[str, Any] | None = None,
    folders: Sequence[Path] = (),
    *,
    bare: bool = False,
    backend: Any = None,
    **more: Any,
) -> AsyncIterator[Session]:
    """A session with the tiny engine, or another one, which is initialized unless `bare`."""
    client = Session(backend or FakeBackend())
    try:
        if not bare:
            await client.initialize(able, folders, **more)
        yield client
    finally:
        client.server.analysis.stop()
        client.server.engine.close()


def run(scenario: Coroutine[Any, Any, None]) -> None:
    """Run an asynchronous test."""
    asyncio.run(asyncio.wait_for(scenario, 4 * PATIENCE))
