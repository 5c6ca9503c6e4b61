"""What the server and the process of its engine say to each other: pickles, each with its length before it.

Both ends are this program, joined by pipes that nobody else has; nothing that comes from a client or a file on disk is
read as a pickle."""

from __future__ import annotations

import pickle
import struct
from typing import Any, BinaryIO, Literal, NamedTuple

_LENGTH = struct.Struct("<Q")

Kind = Literal["early", "part", "progress", "done", "cancelled", "failed"]


class Told(NamedTuple):
    """Something that needs no answer: a method of the workspace, or `workspace` itself, with its arguments."""

    method: str
    about: tuple[Any, ...]


class Call(NamedTuple):
    """A question, and all that has to be known before it. No `method`: nobody waits for the answer any more."""

    number: int
    told: tuple[Told, ...]
    method: str
    about: tuple[Any, ...]


class Stop(NamedTuple):
    """The answer to a call is not wanted any more."""

    number: int


class Reply(NamedTuple):
    """Of a call; the last one of each is `done`, `cancelled` or `failed`."""

    number: int
    kind: Kind
    value: Any


def write(stream: BinaryIO, message: Call | Stop | Reply) -> None:
    """Send a message. Raises OSError or ValueError if the other end is gone."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
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
    except (OSError, ValueError):  # closed under our hands
        return None
    return data if len(data) == length else None
