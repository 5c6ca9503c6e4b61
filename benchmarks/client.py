"""A client of the language server in another process: it sends what an editor sends, and measures the server's CPU
time."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Seconds until the client gives up on a server that does not answer.
_PATIENCE = 1800
#: Seconds after which the server has finished its background work, which begins half a second after the last question.
_REST = 5

Message = dict[str, Any]


class Server:
    """`loaderlint server` on pipes, with `folder` as its workspace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ids = itertools.count(1)
        self._versions: dict[Path, int] = {}
        command = [sys.executable, "-m", "loaderlint", "server", "--no-cache"]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # real servers do not recompile their modules
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    # --- what an editor does ------------------------------------------------------------------------------------------

    def initialize(self) -> None:
        """Send `initialize` and wait for the answer."""
        uri = self.folder.as_uri()
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "benchmark"}],
                "capabilities": {"textDocument": {"publishDiagnostics": {"versionSupport": True}}},
                "initializationOptions": {"status": True},
            },
        )

    def open(self, path: Path, text: str) -> None:
        """Show a file."""
        self._versions[path] = 1
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, text: str) -> int:
        """Replace the text of an open file. Returns its new version."""
        self._versions[path] += 1
        document = {"uri": path.as_uri(), "version": self._versions[path]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return self._versions[path]

    def published(self, path: Path, version: int = 1) -> list[Any]:
        """Wait for the diagnostics of a version of a file."""
        uri = path.as_uri()

        def wanted(message: Message) -> bool:
            params = message.get("params", {})
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and (params.get("version") or 0) >= version
            )

        return list(self._until(wanted)["params"]["diagnostics"])

    def settled(self, path: Path) -> None:
        """Wait until everything has been checked."""
        self.request("loaderlint/status", {"uri": path.as_uri(), "wait": True})

    # --- what it costs ------------------------------------------------------------------------------------------------

    def cpu(self) -> float:
        """Seconds of CPU time of the server's processes so far. On Linux only."""
        return sum(time.clock_gettime((~process << 3) | 2) for process in self._processes())

    def memory(self) -> float:
        """MiB of memory of the server's processes: their private memory, and their share of shared memory. On Linux
        only."""
        return sum(map(_held, self._processes()))

    def rested_memory(self) -> float:
        """`memory` after waiting for the server's background work."""
        time.sleep(_REST)
        return self.memory()

    def loaded(self, library: str) -> bool:
        """Whether one of the server's processes has loaded a native library of this name. On Linux only."""
        maps = [Path(f"/proc/{process}/maps").read_text(encoding="utf-8") for process in self._processes()]
        return any(library in one for one in maps)

    def _processes(self) -> list[int]:
        """The server and its children."""
        found = [self._process.pid]
        for process in found:
            for children in Path(f"/proc/{process}/task").glob("*/children"):
                found += map(int, children.read_text(encoding="utf-8").split())
        return found

    # --- messages -----------------------------------------------------------------------------------------------------

    def request(self, method: str, params: object) -> Any:
        """Send a request, and wait for its result. Raises RuntimeError if it is an error."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        answer = self._until(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _until(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message that is `wanted`. Requests of the server are answered with null, as an editor may do. Raises
        TimeoutError or EOFError if none comes."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            message = self._receive()
            if wanted(message):
                return message
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
        raise TimeoutError("the server said nothing that was waited for")

    def _receive(self) -> Message:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EOFError("the server ended")
        message: Message = json.loads(self._process.stdout.read(length))
        return message


def _held(process: int) -> float:
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    return int(rollup.partition("Pss:")[2].split()[0]) / 1024
