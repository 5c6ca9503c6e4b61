"""Server processes, and access to them at the level of bytes, below a client."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.lsp.editor import FAKE

URI = "file:///project/a.py"


@dataclass(frozen=True)
class Listening:
    """A server that is listening. `lines`: its output on stderr."""

    process: subprocess.Popen[bytes]
    port: int
    token: str
    lines: list[str]


@contextmanager
def listening(*command: str, token: str = "", **options: Any) -> Iterator[Listening]:
    """Start a server with `python COMMAND`, and wait until it prints its address. `token`: the token that it is
    given."""
    process = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, **options)
    assert process.stderr is not None
    lines: list[str] = []

    def line() -> str:
        lines.append(process.stderr.readline().decode())
        return lines[-1]

    def rest() -> None:
        while line():
            pass

    reader = threading.Thread(target=rest, daemon=True)
    try:
        found = re.search(r"listening on (?:tcp|ws)://[\d.]+:(\d+)", line())
        assert found, lines
        while not token and (said := line()):
            token = said.partition("the token of this server is ")[2].strip()
        assert token, lines
        reader.start()
        yield Listening(process, int(found[1]), token, lines)
    finally:
        process.kill()
        process.wait()
        if reader.is_alive():
            reader.join()
        process.stderr.close()


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
        """The answer to a request; messages before it are skipped."""
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
def piped(stderr: Path | None = None) -> Iterator[Pipe]:
    """A server on stdin and stdout. Its stderr can be redirected to a file."""
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(stderr.open("wb")) if stderr else None
        command = [sys.executable, FAKE, "stdio"]
        pipe = Pipe(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors))
    try:
        yield pipe
    finally:
        pipe.process.kill()
        pipe.process.wait()
        pipe.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            pipe.stdin.close()
