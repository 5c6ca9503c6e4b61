"""Processes of our own beside this one, and the pipes to them.

Each is isolated: it imports nothing from the folder that it runs in. The messages are pickles, each with its length
before it. Both ends are this program, joined by pipes that nobody else has; nothing that comes from a client or from a
file is read as a pickle."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NoReturn

from loaderlint.runtime import import_path

_START = str(Path(__file__).with_name("start_child.py"))
_LENGTH = struct.Struct("<Q")
#: A console of its own would pop up (Windows; the flag has no name elsewhere).
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)
#: Seconds that a process which has closed its end of the pipe gets to end by itself.
_PATIENCE = 5.0


class Child:
    """A Python process that runs `main(*arguments)` of a module.

    `heard` is called on a thread of its own with each message, still pickled, and with None when there are no more.
    `variables` are added to its environment. Raises OSError if it cannot be started."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        heard: Callable[[bytes | None], None],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            _command(module, arguments),
            env={**_environment(), **(variables or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            creationflags=_NO_WINDOW,
        )
        self.pid = self._process.pid
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin: BinaryIO = self._process.stdin  # type: ignore[assignment]
        stdout: BinaryIO = self._process.stdout  # type: ignore[assignment]
        threading.Thread(target=_listen, args=(stdout, heard), name="loaderlint-answers", daemon=True).start()

    def send(self, message: object) -> None:
        """Send a message. Raises OSError or ValueError if the process has ended."""
        write(self._stdin, message)

    def end(self) -> None:
        """End the process, if it has not ended."""
        with contextlib.suppress(OSError):
            self._process.kill()
        with contextlib.suppress(OSError, ValueError):
            self._stdin.close()
        self._process.wait()

    def exit_code(self) -> int:
        """The exit code of a process that was heard to its end; negative for a signal."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self.end()
        return self._process.returncode


def _command(module: str, arguments: tuple[str, ...]) -> list[str]:
    package = str(Path(__file__).parents[2])
    path = import_path.trusted()
    folders = path if package in path else [package, *path]
    options = ["-s", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.dont_write_bytecode else [])]
    return [sys.executable or "", *options, _START, str(len(folders)), *folders, module, *arguments]


def _environment() -> dict[str, str]:
    """As with `python -I`, the user's variables for Python do not count; without its home Python may not start."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") or name == "PYTHONHOME"}


def _listen(stdout: BinaryIO, heard: Callable[[bytes | None], None]) -> None:
    with stdout:
        data: bytes | None = b""
        while data is not None:
            data = read(stdout)
            heard(data)


def write(stream: BinaryIO, message: object) -> None:
    """Send a message. Raises OSError or ValueError if the other end is gone."""
    write_pickled(stream, pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def write_pickled(stream: BinaryIO, data: bytes) -> None:
    """Send a message that is pickled already. Raises OSError or ValueError if the other end is gone."""
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read(stream: BinaryIO) -> bytes | None:
    """The next message, for `pickle.loads`; None at the end of the stream."""
    try:
        head = stream.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(head)
        data = stream.read(length)
    except (OSError, ValueError):  # closed meanwhile
        return None
    return data if len(data) == length else None


# --- in the process ---------------------------------------------------------------------------------------------------


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of stdin and stdout. What else is printed goes to stderr, and stdin is empty for everybody else,
    so that nothing gets between the messages."""
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return source, sink


def each_message(source: BinaryIO, take: Callable[[bytes], object]) -> NoReturn:
    """Call `take` with each message, still pickled. At the end of the stream, when the parent has ended, end at once,
    whatever other threads do."""
    while (data := read(source)) is not None:
        take(data)
    os._exit(0)


def ignore_interrupts() -> None:
    """Ctrl-C is for the parent process, which ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
