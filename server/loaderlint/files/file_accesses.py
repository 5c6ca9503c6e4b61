"""What a check reads on disk, and its state at that time: with it, a later run can decide whether a check would find
the same again.

`saw` is called before a file is read, before a folder is listed, and when the existence of something is tested; nothing
else may access the disk. It costs nothing unless something `watch`es."""

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
    """Begin to note what is looked at."""
    global _seen, _began
    _seen, _began = {}, time.time_ns()


def seen() -> tuple[int, dict[str, Stamp | None]]:
    """When the watch began, in nanoseconds, and what was looked at since, each as it was when it was first looked at;
    None for what was not there. The watch goes on."""
    return _began, dict(_seen or {})


def also_saw(seen: Mapping[str, Stamp | None]) -> None:
    """This was looked at by another process."""
    if _seen is not None:
        _seen.update({**seen, **_seen})


def saw(path: str | os.PathLike[str]) -> None:
    """This is looked at now."""
    if _seen is None:
        return
    name = os.fspath(path)
    if name not in _seen:
        _seen[name] = stamp(name)


def content(data: bytes) -> bytes:
    """What tells the content of a file, in `CONTENT` bytes."""
    return blake2b(data, digest_size=CONTENT).digest()


def stamp(path: str) -> Stamp | None:
    """The present state of a file or folder; None if it is not there, or cannot be looked at."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return Stamp(found.st_mtime_ns, found.st_ctime_ns, -1 if S_ISDIR(found.st_mode) else found.st_size)
