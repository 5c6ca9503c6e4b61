"""Reads untrusted files. Every file of a workspace is read here, and nowhere else.

`requirements.txt` may be a named pipe that blocks on opening, a link to `/dev/zero` that never ends (git stores such
links), or a file of many gigabytes. So a file is opened without blocking, must be a regular file, and is read up to the
limit of its kind. The limit counts the bytes that were read, because files in `/proc` and `/sys` have the size 0.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from loaderlint.files import file_accesses

StrPath = str | os.PathLike[str]


class Limit(NamedTuple):
    """The maximum `size` in bytes of a kind of file. `kind` completes 'the limit for ...'."""

    kind: str
    size: int


SOURCE = Limit("a Python file", 5_000_000)
#: A notebook contains its images too. Its code has the limit of any source.
NOTEBOOK = Limit("a notebook", 100_000_000)
SETTINGS = Limit("a settings file", 2_000_000)
IGNORE_FILE = Limit("an ignore file", 1_000_000)
BASELINE = Limit("a baseline", 100_000_000)
REQUIREMENTS = Limit("a requirements file", 2_000_000)
LOCK_FILE = Limit("a lock file", 20_000_000)
ENVIRONMENT = Limit("pyvenv.cfg", 100_000)
GIT_DATA = Limit("a file of git", 20_000_000)
#: The limit for files of all other kinds.
ANY = Limit("any file of a project", 100_000_000)

_CHUNK = 1 << 20
#: The number of bytes that are read first from files that do not state their size.
_FIRST = 1 << 16
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnreadableFile(Exception):
    """A file that cannot be read. The message, for users, says why and what to do; it does not name the file."""


class MissingFile(UnreadableFile):
    """There is no such file."""


class NotAFile(UnreadableFile):
    """A folder, a named pipe, a socket or a device."""


class TooLarge(UnreadableFile):
    """The file is larger than the limit of its kind."""


def read(path: StrPath, limit: Limit) -> bytes:
    """The bytes of a regular file, or of the one that a link leads to. The access is recorded (`file_accesses`).

    Raises UnreadableFile."""
    file_accesses.saw(path)
    return read_unseen(path, limit)


def read_unseen(path: StrPath, limit: Limit) -> bytes:
    """The same without recording the access, for a file on which no finding depends.

    Raises UnreadableFile, MissingFile among them."""
    try:
        _check_regular(os.stat(path).st_mode)  # before opening, because opening a device may have an effect
        handle = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile("there is no such file") from None
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    try:
        status = os.fstat(handle)
        _check_regular(status.st_mode)
        return _up_to(handle, status.st_size, limit)
    except OSError as error:
        raise _unreadable(error) from error
    finally:
        os.close(handle)


def _check_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "not a regular file")
        raise NotAFile(f"is {kind}; put a regular file in its place, or remove it")


def _up_to(handle: int, size: int, limit: Limit) -> bytes:
    """The rest of an open file. `size` is what the file system says, which may be wrong."""
    if size > limit.size:
        raise TooLarge(too_large(limit))
    parts: list[bytes] = []
    left = limit.size + 1
    wanted = size + 1 if size else _FIRST
    while left and (part := os.read(handle, min(wanted, left))):
        parts.append(part)
        left -= len(part)
        wanted = _CHUNK
    if not left:
        raise TooLarge(too_large(limit))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def too_large(limit: Limit) -> str:
    """The message for a file that is larger than the limit of its kind."""
    return f"larger than {shown_size(limit.size)}, the limit for {limit.kind}"


def _unreadable(error: OSError | ValueError) -> UnreadableFile:
    return UnreadableFile(f"cannot be read: {(error.strerror if isinstance(error, OSError) else None) or error}")


def shown_size(size: int) -> str:
    """'5 MB', '100 kB'."""
    for unit, factor in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
