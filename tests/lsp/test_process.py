"""The real process over real pipes and sockets, on the tiny engine."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from lsprotocol import types

from loaderlint.lsp.text import Encoding
from tests.lsp.editor import FAKE, SERVER, Editor, editor
from tests.lsp.session import PATIENCE, run

URI = "file:///project/a.py"


def anywhere() -> types.Range:
    return types.Range(types.Position(0, 0), types.Position(99, 0))


async def fix_a_bug(window: Editor, folder: Path) -> None:
    uri = window.open(folder / "a.py", "x = '\U0001f600'\x0c\u2028 + BUG\r\n")
    (shown,) = await window.diagnostics(uri)
    assert shown.message == "BUG is a fault"
    await window.fix(uri, "Fix this BUG", shown.range)
    assert window.buffers[uri].text == "x = '\U0001f600'\x0c\u2028 + FIXED\r\n"
    assert await window.diagnostics(uri) == []
    assert window.client.messages == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_stdio(encoding: Encoding, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with editor(sys.executable, FAKE, "stdio", folder=tmp_path, encoding=encoding, asked=True) as window:
            await fix_a_bug(window, tmp_path)
            assert {one.method for one in window.registered} == {
                "workspace/didChangeWatchedFiles",
                "workspace/didChangeConfiguration",
            }
        server = window.client._server
        assert server is not None and server.returncode == 0

    run(scenario())


@contextmanager
def listening(kind: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server that waits for a connection, and the port that it tells."""
    process = subprocess.Popen([sys.executable, FAKE, kind, "0"], stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        found = re.search(rb"listening on (\w+)://127\.0\.0\.1:(\d+)", process.stderr.readline())
        assert found and found[1].decode() == kind
        yield process, int(found[2])
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize("kind", ["tcp", "ws"])
def test_sockets(kind: str, tmp_path: Path) -> None:
    if kind == "ws":
        pytest.importorskip("websockets")
    with listening(kind) as (process, port):
        address = {kind: ("127.0.0.1", port)}

        async def scenario() -> None:
            async with editor(folder=tmp_path, **address) as window:  # type: ignore[arg-type]
                await fix_a_bug(window, tmp_path)

        run(scenario())
        assert process.wait(PATIENCE) == 0


def test_a_port_that_is_taken() -> None:
    with listening("tcp") as (_, port):
        done = subprocess.run([sys.executable, FAKE, "tcp", str(port)], capture_output=True, text=True)
        assert done.returncode == 2
        assert f"cannot listen on 127.0.0.1:{port}" in done.stderr and "Traceback" not in done.stderr


# --- below the client: bytes ------------------------------------------------------------------------------------------


class Pipe:
    """The server's stdin and stdout."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self.process = process
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout

    def send(self, method: str, params: Any = None, number: int | None = None, header: str = "Content-Length") -> None:
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        self.raw(f"{header}: {len(body)}\r\n\r\n".encode() + body)

    def raw(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def read(self) -> dict[str, Any]:
        length = 0
        while header := self.stdout.readline().strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
            else:
                assert header.lower().startswith(b"content-type:"), header
        return dict(json.loads(self.stdout.read(length)))

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request; what comes before it is read over."""
        while (message := self.read()).get("id") != number:
            pass
        return message

    def initialize(self) -> None:
        self.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
        assert "capabilities" in self.answer(1)["result"]
        self.send("initialized", {})

    def open(self, text: str) -> None:
        document = {"uri": URI, "languageId": "python", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})


@contextmanager
def piped() -> Iterator[Pipe]:
    pipe = Pipe(subprocess.Popen([sys.executable, FAKE, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    try:
        yield pipe
    finally:
        pipe.process.kill()
        pipe.process.wait()
        pipe.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            pipe.stdin.close()


def test_the_end_of_stdin_is_the_end() -> None:
    with piped() as pipe:
        pipe.initialize()
        pipe.stdin.close()
        assert pipe.process.wait(PATIENCE) == 1


def test_the_end_of_stdin_ends_an_analysis() -> None:
    with piped() as pipe:
        pipe.initialize()
        pipe.open("HANG")
        pipe.send("loaderlint/status", {"uri": URI}, 2)
        assert pipe.answer(2)["result"]["settled"] is False
        pipe.stdin.close()
        assert pipe.process.wait(PATIENCE) == 1


def test_exit_codes() -> None:
    with piped() as pipe:
        pipe.initialize()
        pipe.send("exit")
        assert pipe.process.wait(PATIENCE) == 1
    with piped() as pipe:
        pipe.initialize()
        pipe.send("shutdown", number=2)
        assert pipe.answer(2)["result"] is None
        pipe.send("exit")
        assert pipe.process.wait(PATIENCE) == 0
    with piped() as pipe:
        pipe.send("exit")
        assert pipe.process.wait(PATIENCE) == 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"\r\n\r\n",
        b"hello\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: 4\r\n\r\nnull",
        b"Content-Length: 5\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{\xff\xfe\n}",
        b"\x00" * 100_000 + b"\n",
    ],
)
def test_garbage_between_messages(garbage: bytes) -> None:
    with piped() as pipe:
        pipe.raw(garbage)
        pipe.initialize()
        pipe.raw(garbage)
        pipe.send("loaderlint/status", {"uri": URI, "wait": True}, 2, header="content-length ")
        assert pipe.answer(2)["result"]["settled"] is True


def test_what_is_printed_does_not_get_between_the_messages() -> None:
    with piped() as pipe:
        pipe.initialize()
        pipe.open("PRINT BUG")
        # The child process of the engine finds an empty stdin, not this message.
        pipe.send("loaderlint/status", {"uri": URI, "wait": True}, 2)
        assert pipe.answer(2)["result"]["settled"] is True
        pipe.send("shutdown", number=3)
        pipe.answer(3)
        pipe.send("exit")
        assert pipe.process.wait(PATIENCE) == 0


def test_two_thousand_edits() -> None:
    with piped() as pipe:
        pipe.initialize()
        pipe.open("")
        for version in range(2, 2002):
            place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
            changes = [{"range": place, "text": "BUG\n"}]
            pipe.send(
                "textDocument/didChange",
                {"textDocument": {"uri": URI, "version": version}, "contentChanges": changes},
            )
        pipe.send("loaderlint/status", {"uri": URI, "wait": True}, 2)
        published = []
        while (message := pipe.read()).get("id") != 2:
            if message.get("method") == "textDocument/publishDiagnostics":
                published.append(message["params"])
        assert published[-1]["version"] == 2001 and len(published[-1]["diagnostics"]) == 2000


def test_the_module_can_be_started_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loaderlint.lsp", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SERVER)},
    )
    assert "--tcp" in done.stdout
