"""Nothing that a client sends stops the server, and every request is answered."""

from __future__ import annotations

import asyncio
import gc
import io
import os
import subprocess
import sys
from typing import Any

import pytest

from loaderlint.lsp import transport
from loaderlint.lsp.protocol import Protocol
from tests.lsp.editor import SERVER
from tests.lsp.session import PATIENCE, Refused, Session, run, session, span

URI = "file:///project/a.py"
SHOW = "window/showMessage"


async def alive(client: Session) -> None:
    """Check that the server still works, and has shown nothing to the user."""
    client.open("file:///project/alive.py", "BUG")
    assert len(await client.diagnostics("file:///project/alive.py")) == 1
    assert not [message for message in client.received if message.get("method") == SHOW]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"3",
        b"[]",
        b'[{"jsonrpc": "2.0", "method": "exit"}]',
        b"{}",
        b'{"jsonrpc": "1.0", "method": "initialized"}',
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": 7}',
        b'{"jsonrpc": "2.0", "id": 7, "result": 1, "error": 2}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "textDocument/hover"}',
        b'{"jsonrpc": "2.0", "method": 5, "params": {}}',
        b'{"jsonrpc": "2.0", "method": "no/such/notification", "params": {"a": {"b": []}}}',
        b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 99}}',
        b'{"jsonrpc": "2.0", "method": "$/cancelRequest"}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": 3}}',
        b'{"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {"settings": 3}}',
        b'{"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "notebookDocument/didChange", "params": {"notebookDocument":'
        b' {"uri": "file:///n.ipynb", "version": 2}, "change": {}}}',
    ],
)
def test_malformed_messages(body: bytes) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.server.protocol.receive(body)
            await alive(client)

    run(scenario())


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("textDocument/hover", {"textDocument": {"uri": URI}}, -32602),
        ("textDocument/codeAction", None, -32602),
        ("no/such/request", {}, -32601),
        ("loaderlint/status", {}, -32602),
        ("loaderlint/status", None, -32602),
        ("workspace/executeCommand", {"command": "no.such.command"}, -32602),
        ("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, -32600),
    ],
)
def test_bad_requests_are_answered_with_an_error(method: str, params: Any, code: int) -> None:
    async def scenario() -> None:
        async with session() as client:
            _, future = client.ask(method, params)
            answer = await asyncio.wait_for(future, PATIENCE)
            assert answer["error"]["code"] == code
            await alive(client)

    run(scenario())


def test_requests_before_initialize_and_after_shutdown() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            client.open(URI, "BUG")
            with pytest.raises(Refused) as refused:
                await client.settled(URI)
            assert refused.value.code == -32002
            await client.initialize()
            await alive(client)
            await client.request("shutdown")
            with pytest.raises(Refused) as refused:
                await client.settled(URI)
            assert refused.value.code == -32600
            assert not client.server.left
            client.notify("exit")
            assert client.server.left and client.server.exit_code == 0

    run(scenario())


def test_exit_without_shutdown() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.notify("exit")
            assert client.server.left and client.server.exit_code == 1

    run(scenario())


def test_unknown_documents() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.change(URI, 2, "BUG")
            client.shut(URI)
            assert await client.actions(URI, (0, 0)) is None
            assert (
                await client.request(
                    "textDocument/hover", textDocument={"uri": URI}, position=span(0, 0, 0, 0)["start"]
                )
                is None
            )
            assert (await client.settled(URI))["version"] is None
            await alive(client)
            assert not client.published(URI)

    run(scenario())


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "git:/a/b.py?%7B%7D", "vscode-notebook-cell:/n.ipynb#W0", "x", ""]
)
def test_documents_that_are_no_files(uri: str) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(uri, "BUG")
            client.change(uri, 2, {"range": span(0, 0, 0, 0), "text": "x"})
            assert (await client.settled(uri))["version"] == 2
            assert client.server.documents.get(uri).text == "xBUG"  # type: ignore[union-attr]
            assert await client.actions(uri, (0, 0)) is None
            client.shut(uri)
            await alive(client)
            assert not client.published(uri)

    run(scenario())


def test_notifications_leave_nothing_behind() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(URI, "x")
            await client.settled(URI)
            await asyncio.sleep(0)
            before = len(client.server.protocol._request_futures)
            for version in range(2, 2002):
                client.change(URI, version, {"range": span(0, 0, 0, 0), "text": "y"})
            for _ in range(100):
                client.notify("workspace/didChangeWorkspaceFolders", event={"added": [], "removed": []})
                client.notify("workspace/didChangeConfiguration", settings={})
            await client.settled(URI)
            gc.collect()
            assert len(client.server.protocol._request_futures) == before
            assert not client.server.protocol._result_types
            assert client.server.documents.get(URI).text == "y" * 2000 + "x"  # type: ignore[union-attr]

    run(scenario())


def test_a_request_can_be_cancelled() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(URI, "HANG")
            await client.until(lambda: client.backend.checks)
            number, future = client.ask("loaderlint/status", {"uri": URI, "wait": True})
            client.notify("$/cancelRequest", id=number)
            answer = await asyncio.wait_for(future, PATIENCE)
            assert answer["error"]["code"] == -32800
            client.change(URI, 2, "BUG")
            client.backend.release.set()
            assert len(await client.diagnostics(URI)) == 1

    run(scenario())


def test_errors_of_handlers_are_logged_only(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with session() as client:

            def broken(*_: Any) -> None:
                raise RuntimeError("broken on purpose")

            monkeypatch.setattr(client.server.documents, "open", broken)
            client.open(URI, "BUG")
            monkeypatch.undo()
            await alive(client)

    run(scenario())
    assert "broken on purpose" in caplog.text


def test_the_engine_is_loaded_after_the_answer_to_initialize() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            await client.request("initialize", processId=None, rootUri=None, capabilities={})
            assert client.loads == 0
            client.notify("initialized")
            await client.settled(URI)
            assert client.loads == 1

    run(scenario())


def test_the_server_itself_does_not_import_libcst() -> None:
    code = (
        "import sys, loaderlint.lsp.server, loaderlint.lsp.backend;"
        "print(sorted(name for name in sys.modules if name.startswith(('libcst', 'rich', 'websockets'))))"
    )
    env = {**os.environ, "PYTHONPATH": str(SERVER)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[]"


def test_pygls_still_has_what_the_protocol_replaces() -> None:
    base = Protocol.__mro__[1]
    for name in ("_execute_handler", "_handle_response", "lsp_exit", "lsp_text_document__did_change"):
        assert name in vars(base) or any(name in vars(other) for other in base.__mro__), name


def test_the_server_ends_if_a_message_does_not_fit_into_memory(caplog: pytest.LogCaptureFixture) -> None:
    """If only the reader died, the server would no longer receive anything."""

    class Full(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise MemoryError

    assert transport._read_message(Full(b"Content-Length: 10\r\n\r\n{}")) is None
    assert "no memory for a message of 10 bytes" in caplog.text
