"""Child processes of loaderlint, and the pipes to them.

Each is isolated: it imports nothing from the folder that it runs in. The messages are pickles with their length in
front. Both ends are loaderlint, and nobody else has the pipes; nothing from a client or a file is ever unpickled."""

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
#: Without this flag, Windows opens a console for the process. It is not defined on other systems.
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)
#: Seconds that a process gets to end by itself after it closed its end of the pipe.
_PATIENCE = 5.0


class Child:
    """A Python process that runs `main(*arguments)` of a module.

    `heard` is called on a separate thread with each message, still pickled, and with None after the last one.
    `variables` are added to the environment of the process. Raises OSError if the process cannot be started."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        heard: Callable[[bytes | None], None],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        read_end, self._lifeline = _lifeline()
        try:
            self._process = subprocess.Popen(
                _command(module, arguments, read_end),
                env={**_environment(), **(variables or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                creationflags=_NO_WINDOW,
                pass_fds=[read_end] if read_end >= 0 else [],
            )
        finally:
            if read_end >= 0:
                os.close(read_end)
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
        if self._lifeline is not None:
            self._lifeline.close()
        self._process.wait()

    def exit_code(self) -> int:
        """The exit code, once `heard` got None; negative for a signal."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self.end()
        return self._process.returncode


def _lifeline() -> tuple[int, BinaryIO | None]:
    """A pipe that is never written to, through which the kernel tells a child that its parent has ended: the child's
    end, as a file descriptor, and the parent's. (-1, None) on systems without such a signal."""
    if sys.platform != "linux":
        return -1, None
    read_end, write_end = os.pipe()
    return read_end, os.fdopen(write_end, "wb", buffering=0)


def _command(module: str, arguments: tuple[str, ...], lifeline: int) -> list[str]:
    package = str(Path(__file__).parents[2])
    path = import_path.trusted()
    folders = path if package in path else [package, *path]
    options = ["-s", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.dont_write_bytecode else [])]
    return [sys.executable or "", *options, _START, str(lifeline), str(len(folders)), *folders, module, *arguments]


def _environment() -> dict[str, str]:
    """The environment without the user's variables for Python, as with `python -I`; except PYTHONHOME, without which
    Python may not start."""
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
    except (OSError, ValueError):  # the other thread has closed it
        return None
    return data if len(data) == length else None


# --- in the process ---------------------------------------------------------------------------------------------------


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of stdin and stdout. All other output goes to stderr, and all other code sees an empty stdin, so
    that nothing gets between the messages."""
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return source, sink


def each_message(source: BinaryIO, take: Callable[[bytes], object]) -> NoReturn:
    """Call `take` with each message, still pickled. At the end of the stream, the parent has ended: end the process at
    once, whatever other threads do."""
    while (data := read(source)) is not None:
        take(data)
    os._exit(0)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C: it is meant for the parent process, which ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
