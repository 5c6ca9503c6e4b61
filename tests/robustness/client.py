"""A small synchronous client on a real server process over stdio: one blocking call after the other, plain JSON."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.lsp.editor import SERVER
from tests.lsp.session import capabilities

#: Seconds until a request without an answer counts as a hang. Nothing is measured with it.
PATIENCE = 120.0
#: The answers to requests whose document changed meanwhile: ContentModified, ServerCancelled, RequestCancelled.
SUPERSEDED = (-32801, -32802, -32800)


class ServerError(AssertionError):
    """The server answered with an error, hung, or ended."""


class Client:
    """One editor on one server process. `encoding` is that of positions; `pulls`: it asks for diagnostics.

    `published` holds what the server last sent of each URI, `log` the path of what it wrote to stderr."""

    def __init__(
        self,
        folder: Path,
        log: Path,
        *,
        encoding: str = "utf-16",
        pulls: bool = False,
        options: Sequence[str] = ("--no-cache",),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.log = log
        self.pulls = pulls
        self.published: dict[str, list[dict[str, Any]]] = {}
        self.messages: list[str] = []
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._number = 0
        with log.open("ab") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "loaderlint", "server", *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=log.parent,
                env={**os.environ, "PYTHONPATH": SERVER, **(environment or {})},
            )
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.request(
            "initialize",
            processId=None,
            rootUri=folder.as_uri(),
            capabilities=capabilities(encoding, pulls=pulls),
            workspaceFolders=[{"uri": folder.as_uri(), "name": folder.name}],
        )
        self.notify("initialized")

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.leave()
        else:
            self.kill()

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def request(self, method: str, **params: Any) -> Any:
        """The result of a request; None where the document changed meanwhile. Raises ServerError."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            try:
                answer = self._answers.get(timeout=PATIENCE)
            except queue.Empty:
                raise ServerError(f"{method}: no answer within {PATIENCE:g} seconds\n{self.errors()}") from None
            if answer is None:
                raise ServerError(f"{method}: the server has ended with {self.process.wait()}\n{self.errors()}")
            if answer["id"] == self._number:
                break
        if "error" in answer and answer["error"]["code"] not in SUPERSEDED:
            raise ServerError(f"{method}: {answer['error']}\n{self.errors()}")
        return answer.get("result")

    def settle(self, uri: str = "file:///none.py") -> None:
        """Wait until everything that was sent has been looked at."""
        assert self.request("loaderlint/status", uri=uri, wait=True)["settled"]

    def shown(self, uri: str) -> list[dict[str, Any]]:
        """The diagnostics of a document as the editor shows them: those sent last, or those that it asks for."""
        if not self.pulls:
            return self.published.get(uri, [])
        report = self.request("textDocument/diagnostic", textDocument={"uri": uri})
        assert report is not None, "a diagnostic request was superseded, and nothing had changed"
        items: list[dict[str, Any]] = report["items"]
        return items

    def errors(self) -> str:
        """What the server and the engine's process wrote to stderr."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def leave(self) -> None:
        """Shut down in good order: the process ends with 0."""
        self.request("shutdown")
        self._send({"method": "exit"})
        code = self.process.wait(PATIENCE)
        self._close()
        assert code == 0, f"the server ended with {code}\n{self.errors()}"

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        self._reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                pass  # What was not written yet can no longer be.

    def _send(self, message: dict[str, Any]) -> None:
        # Lone surrogates are kept as escapes, as JavaScript's editors send them.
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stdin = self.process.stdin
        assert stdin is not None
        try:
            with self._writing:
                stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                stdin.flush()
        except OSError:
            raise ServerError(f"the server has ended with {self.process.wait()}\n{self.errors()}") from None

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        while (header := stdout.readline()) != b"":
            length = int(header.split(b":")[1])
            while stdout.readline().strip():
                pass
            self._take(json.loads(stdout.read(length)))
        self._answers.put(None)

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self._answers.put(message)
        elif "id" in message:
            self._send({"id": message["id"], "result": None})
        elif method == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif method in ("window/logMessage", "window/showMessage"):
            self.messages.append(message["params"]["message"])
