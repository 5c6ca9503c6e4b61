"""Records what a check reads on disk, and its state at that time, so that a later run can decide whether a check would
find the same again.

`saw` must be called before a file is read, before a folder is listed, and before the existence of a path is tested. It
costs nothing unless `watch` was called."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from hashlib import blake2b
from stat import S_ISDIR
from typing import NamedTuple

CONTENT = 16


class Stamp(NamedTuple):
    """The state of a file or folder: times in nanoseconds, size in bytes, -1 for a folder."""

    modified: int
    changed: int
    size: int


_seen: dict[str, Stamp | None] | None = None
_began = 0


def watch() -> None:
    """Start recording accesses."""
    global _seen, _began
    _seen, _began = {}, time.time_ns()


def seen() -> tuple[int, dict[str, Stamp | None]]:
    """The time when recording began, in nanoseconds, and the paths that were accessed since, each with its state at the
    first access; None for a path that did not exist. Recording continues."""
    return _began, dict(_seen or {})


def also_saw(seen: Mapping[str, Stamp | None]) -> None:
    """Add the accesses of another process."""
    if _seen is not None:
        _seen.update({**seen, **_seen})


def saw(path: str | os.PathLike[str]) -> None:
    """Record that this path is accessed now."""
    if _seen is None:
        return
    name = os.fspath(path)
    if name not in _seen:
        _seen[name] = stamp(name)


def content(data: bytes) -> bytes:
    """The digest of a file's content, of `CONTENT` bytes."""
    return blake2b(data, digest_size=CONTENT).digest()


def stamp(path: str) -> Stamp | None:
    """The present state of a file or folder; None if it does not exist, or cannot be accessed."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return Stamp(found.st_mtime_ns, found.st_ctime_ns, -1 if S_ISDIR(found.st_mode) else found.st_size)
