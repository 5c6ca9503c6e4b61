"""pytest-lsp's client with additions for the tests: state that can be polled, an editor's buffers, and edits applied to
them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import LanguageClient, make_test_lsp_client

from loaderlint.lsp.documents import Document
from loaderlint.lsp.text_positions import Encoding
from tests.lsp import wire
from tests.lsp.session import PATIENCE, capabilities

HERE = Path(__file__).parent
SERVER = HERE.parents[1] / "server"
FAKE = str(HERE / "fake_server.py")


def _watch(client: LanguageClient) -> None:
    """Report every message in both directions to `wire`."""
    protocol = client.protocol
    send, handle = protocol._send_data, protocol.handle_message

    def sends(data: Any) -> None:
        wire.to_server(getattr(data, "method", None))
        send(data)

    def handles(message: Any) -> None:
        wire.from_server(getattr(message, "method", None))
        handle(message)

    protocol._send_data, protocol.handle_message = sends, handles


class Editor:
    """One editor window on one server."""

    def __init__(self, client: LanguageClient, encoding: Encoding) -> None:
        self.client = client
        self.encoding = encoding
        self.buffers: dict[str, Document] = {}
        self.registered: list[types.Registration] = []
        self.versions: dict[str, list[int | None]] = {}

        _watch(client)

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered.extend(params.registrations)

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, with the text on disk if none is given. Returns its URI."""
        if text is None:
            with path.open(encoding="utf-8", newline="") as file:
                text = file.read()
        uri = path.as_uri()
        item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text)
        self.buffers[uri] = Document(uri, path, "python", 1, 1)
        self.buffers[uri].apply(types.TextDocumentContentChangeWholeDocument(text=text), self.encoding)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        return uri

    def edit(self, uri: str, edits: Sequence[types.TextEdit]) -> None:
        """Edit a buffer, from the last place to the first, and notify the server."""
        buffer = self.buffers[uri]
        changes: list[types.TextDocumentContentChangeEvent] = [
            types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
            for edit in sorted(edits, key=lambda one: one.range.start, reverse=True)
        ]
        for change in changes:
            buffer.apply(change, self.encoding)
        buffer.version += 1
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=buffer.version)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=identifier, content_changes=changes)
        )

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Apply a fix, in buffers and on disk."""
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            uri = change.text_document.uri
            edits = [one for one in change.edits if isinstance(one, types.TextEdit)]
            if uri in self.buffers:
                assert change.text_document.version == self.buffers[uri].version
                self.edit(uri, edits)
            else:
                raise AssertionError(f"{uri} is not open")

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics shown when everything is settled."""
        await self.settled(uri)
        return list(self.client.diagnostics.get(uri, ()))

    async def pulled(self, uri: str) -> list[types.Diagnostic]:
        """The server's answer to a pull of the document."""
        identifier = types.TextDocumentIdentifier(uri=uri)
        request = self.client.text_document_diagnostic_async(types.DocumentDiagnosticParams(identifier))
        report = await asyncio.wait_for(request, PATIENCE)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)

    async def settled(self, uri: str) -> Any:
        request = self.client.protocol.send_request_async("loaderlint/status", {"uri": uri, "wait": True})
        return await asyncio.wait_for(request, PATIENCE)

    async def actions(self, uri: str, place: types.Range) -> list[types.CodeAction]:
        context = types.CodeActionContext(diagnostics=[])
        identifier = types.TextDocumentIdentifier(uri=uri)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(text_document=identifier, range=place, context=context)
        )
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    async def hover(self, uri: str, position: types.Position) -> str | None:
        identifier = types.TextDocumentIdentifier(uri=uri)
        shown = await self.client.text_document_hover_async(types.HoverParams(identifier, position))
        return shown.contents.value if shown and isinstance(shown.contents, types.MarkupContent) else None

    async def fix(self, uri: str, title: str, place: types.Range) -> None:
        """Apply the action whose title begins with `title`."""
        actions = await self.actions(uri, place)
        action = next(one for one in actions if one.title.startswith(title))
        resolved = await self.client.code_action_resolve_async(action)
        assert resolved.edit is not None
        self.apply(resolved.edit)


@asynccontextmanager
async def editor(
    *command: str,
    folder: Path,
    encoding: Encoding = "utf-16",
    asked: bool = False,
    pulls: bool = False,
    settings: dict[str, Any] | None = None,
    tcp: tuple[str, int] | None = None,
    ws: tuple[str, int] | None = None,
    token: str = "",
    cwd: Path | None = None,
) -> AsyncIterator[Editor]:
    """An editor on a server process over stdio, or on one that is already listening and has this `token`. Shuts the
    server down properly."""
    client = make_test_lsp_client()
    window = Editor(client, encoding)
    client.set_configuration({"loaderlint": settings or {}})
    if tcp:
        await client.start_tcp(*tcp)
    elif ws:
        await client.start_ws(ws[0], f"{ws[1]}/?token={token}")  # type: ignore[arg-type]
    else:
        await client.start_io(*command, env={**os.environ, "PYTHONPATH": str(SERVER)}, cwd=cwd)
    able = get_converter().structure(capabilities(encoding, asked=asked, pulls=pulls), types.ClientCapabilities)
    workspace = [types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)]
    params = types.InitializeParams(
        capabilities=able,
        workspace_folders=workspace,
        root_uri=folder.as_uri(),
        initialization_options={"token": token} if tcp else None,
    )
    await asyncio.wait_for(client.initialize_session(params), PATIENCE)
    try:
        yield window
    finally:
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
        if not tcp and not ws:
            await client.stop()
