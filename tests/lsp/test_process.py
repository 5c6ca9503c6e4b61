"""The real process over real pipes and sockets, with the tiny engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from loaderlint.lsp.text_positions import Encoding
from tests.lsp.editor import FAKE, Editor, editor
from tests.lsp.processes import URI, listening, piped
from tests.lsp.session import PATIENCE, run


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


@pytest.mark.parametrize("kind", ["tcp", "ws"])
def test_sockets(kind: str, tmp_path: Path) -> None:
    if kind == "ws":
        pytest.importorskip("websockets")
    with listening(FAKE, kind, "0") as server:
        address = {kind: ("127.0.0.1", server.port)}

        async def scenario() -> None:
            async with editor(folder=tmp_path, token=server.token, **address) as window:  # type: ignore[arg-type]
                await fix_a_bug(window, tmp_path)

        run(scenario())
        assert server.process.wait(PATIENCE) == 0


def test_a_port_that_is_taken() -> None:
    with listening(FAKE, "tcp", "0") as server:
        done = subprocess.run([sys.executable, FAKE, "tcp", str(server.port)], capture_output=True, text=True)
        assert done.returncode == 2
        assert f"cannot listen on 127.0.0.1:{server.port}" in done.stderr and "Traceback" not in done.stderr


# --- below the client: bytes ------------------------------------------------------------------------------------------


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
    ("level", "logged"),
    [
        ("error", set()),
        ("warning", {"WARNING"}),
        (None, {"WARNING"}),
        ("info", {"WARNING", "INFO"}),
        ("debug", {"WARNING", "INFO", "DEBUG"}),
    ],
)
def test_the_log_level_says_what_is_logged(level: str | None, logged: set[str], tmp_path: Path) -> None:
    """The settings are information, a change of a file that is not open is a warning, and that a request is cancelled
    too late is for debugging."""
    with piped(tmp_path / "stderr") as pipe:
        pipe.initialize()
        pipe.send("workspace/didChangeConfiguration", {"settings": {"loaderlint": {"logLevel": level}}})
        document = {"uri": URI, "version": 2}
        pipe.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": ""}]})
        pipe.send("$/cancelRequest", {"id": 77})
        pipe.send("shutdown", number=2)
        pipe.answer(2)
        pipe.send("exit")
        assert pipe.process.wait(PATIENCE) == 0
    lines = (tmp_path / "stderr").read_text("utf-8").splitlines()
    assert {line.split()[0] for line in lines} == logged, lines


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
        # The child process of the engine sees an empty stdin, not this message.
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
