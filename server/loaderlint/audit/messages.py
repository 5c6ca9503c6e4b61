"""The messages of the processes of an audit: plain data, one message per datagram, so that several writers never
mix."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import time
from collections.abc import Iterator

import msgspec

#: The places in the sources where something happened, innermost first: "augment (data.py:12)".
Stack = tuple[str, ...]

#: The size of a datagram in bytes, which must not exceed the sender's buffer.
CHUNK = 32 * 1024
#: The minimum size of both buffers in bytes. The default is 208 KiB on Linux, 2 and 4 KiB on macOS.
_BUFFER = 4 * CHUNK
#: Seconds to wait if the reader's buffer is full, and how often. Linux waits by itself; macOS raises ENOBUFS.
_PAUSE, _PAUSES = 0.001, 10_000


class Move(msgspec.Struct, frozen=True):
    """A line that changed the state of a stream of random numbers: where, and the digest of the state after it.
    `watched`: whether every source that the line can draw from is watched."""

    stack: Stack
    state: str
    watched: bool = True


class StreamUse(msgspec.Struct, frozen=True):
    """The states of a stream (digests) before and after a unit of work. `moves` is None if no lines were watched."""

    name: str
    before: str
    after: str
    moves: tuple[Move, ...] | None = None


class Failure(msgspec.Struct, frozen=True):
    """An exception in the user's code, with its traceback as text."""

    kind: str
    text: str
    traceback: str


class Unit(msgspec.Struct, frozen=True):
    """One sample, or the collating of one batch.

    `number` counts the units of this worker in this epoch. `index` is what the sampler asked for, `digest` that of the
    result ('' if there was none). `streams`: those whose state was watched. `offsets`: files opened before the worker
    started whose position this unit moved. `remarks`: what is odd about the value, such as 'None'.
    """

    kind: str
    number: int
    index: str
    digest: str
    streams: tuple[StreamUse, ...] = ()
    offsets: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    failure: Failure | None = None


class Change(msgspec.Struct, frozen=True):
    """Something reachable from the dataset that has changed, or that should not be there.

    `kind`: 'data' (content of an array, tensor or container), 'shared' (the same, where other processes or a file share
    it), 'filled' (a member of a container that was None), 'grown' (a container), 'number' (an attribute), 'stream' (a
    new generator of random numbers), 'crossed' (the worker still has an object of the main process)."""

    path: str
    kind: str
    before: str
    after: str


class Started(msgspec.Struct, frozen=True, tag=True):
    """A worker has started, or begins another epoch: the states of its streams before and after `worker_init_fn`, and
    their classes; `files` are the open ones that it inherited from the main process."""

    worker: int
    pid: int
    epoch: int
    born: dict[str, str]
    initialised: dict[str, str]
    files: tuple[str, ...] = ()
    kinds: dict[str, str] = {}


class Began(msgspec.Struct, frozen=True, tag=True):
    """A worker begins a batch."""

    worker: int
    pid: int
    epoch: int
    index: str


class Used(msgspec.Struct, frozen=True):
    """The resources of a process: its own `memory` and the `shared` memory that it has open, in KiB, and the number of
    other open `descriptors`, without sockets. -1 if the system does not say."""

    memory: int = -1
    shared: int = -1
    descriptors: int = -1


class Batch(msgspec.Struct, frozen=True, tag=True):
    """What a worker did for one batch, and the resources that it uses after it."""

    worker: int
    pid: int
    epoch: int
    units: tuple[Unit, ...]
    used: Used = Used()


class Changed(msgspec.Struct, frozen=True, tag=True):
    """What a worker has changed in the dataset in an epoch."""

    worker: int
    pid: int
    epoch: int
    changes: tuple[Change, ...]


class Holds(msgspec.Struct, frozen=True, tag=True):
    """The attributes and items that a process has when an epoch begins: their values as text, by path."""

    worker: int
    pid: int
    epoch: int
    values: dict[str, str]


class Loaded(msgspec.Struct, frozen=True, tag=True):
    """The files of the user's modules that a process of a run has imported."""

    files: tuple[str, ...]


class EpochEnded(msgspec.Struct, frozen=True, tag=True):
    """The main process has read its batches. `complete`: the loader had no more; `used`: its resources after releasing
    them."""

    epoch: int
    batches: int
    complete: bool
    used: Used = Used()


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The main process of a run got an exception."""

    failure: Failure


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The answer of a probe: texts by name."""

    values: dict[str, tuple[str, ...]]


Message = Started | Began | Batch | Changed | Holds | Loaded | EpochEnded | Failed | Answer

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def channel() -> tuple[socket.socket, socket.socket]:
    """A reader and a writer of messages, with room for the largest datagram. Raises OSError."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for end in ends:
        make_room(end)
    return ends


def make_room(end: socket.socket) -> None:
    """Enlarge a socket's buffers to what datagrams of `CHUNK` bytes need, if they are smaller."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        if end.getsockopt(socket.SOL_SOCKET, option) < _BUFFER:
            end.setsockopt(socket.SOL_SOCKET, option, _BUFFER)


class Sender:
    """Sends messages to the original process. Every process with a copy may send. It can be pickled for a worker that
    is being spawned."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._number = 0

    def send(self, message: Message) -> None:
        """Send one message. It is no error if nobody listens."""
        data = _ENCODER.encode(message)
        self._number += 1
        head = b"%d:%d:" % (os.getpid(), self._number)
        with contextlib.suppress(OSError):
            for start in range(0, len(data), CHUNK):
                last = b"1" if start + CHUNK >= len(data) else b"0"
                self._send(head + last + data[start : start + CHUNK])

    def _send(self, datagram: bytes) -> None:
        for _ in range(_PAUSES):
            try:
                self._channel.send(datagram)
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                time.sleep(_PAUSE)

    def fileno(self) -> int:
        """The file descriptor that it writes to."""
        return self._channel.fileno()


class Receiver:
    """Reassembles messages that arrive in several datagrams."""

    def __init__(self) -> None:
        self._parts: dict[bytes, bytearray] = {}

    def messages(self, datagram: bytes) -> Iterator[Message]:
        """The message that this datagram completes, if any."""
        pid, number, rest = datagram.split(b":", 2)
        key = pid + b":" + number
        parts = self._parts.setdefault(key, bytearray())
        parts += rest[1:]
        if rest[:1] == b"1":
            yield _DECODER.decode(bytes(self._parts.pop(key)))
