"""Replaces files in one step: a reader finds either the old or the new content, however the writer ends.

The new content is written to a temporary file in the same folder, which is then renamed. A process that is killed in
between leaves that file behind; the next one that writes in the folder removes it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

#: `.loaderlint-k3v_x9a1.tmp`: a name by `tempfile.mkstemp`, short however long the name of the file is.
_PREFIX, _SUFFIX = ".loaderlint-", ".tmp"
_OURS = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}" + re.escape(_SUFFIX))


def replace(path: Path, data: bytes) -> None:
    """Replace the content of the file at `path` (not a symbolic link). It keeps its permissions, and its owner if root
    writes it. A new file gets the usual permissions.

    Raises OSError; PermissionError if the file is write-protected."""
    status = _status(path)
    if status is not None and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied")  # replacing the file would bypass its write protection
    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with contextlib.suppress(OSError):  # the file system has no locks
                _lock(file.fileno())
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            _take_over(name, status)
            if os.name != "nt":
                os.replace(name, path)  # while it is locked, so that no process removes it as left behind
        if os.name == "nt":
            os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):  # the next process that writes here removes it
            os.unlink(name)
        raise


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _take_over(name: str, status: os.stat_result | None) -> None:
    """Give a new file the permissions of the one that it replaces."""
    if status is None:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        return
    os.chmod(name, stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown") and os.geteuid() == 0:
        os.chown(name, status.st_uid, status.st_gid)  # otherwise root would own the file


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Remove the files that killed processes left in these folders, but not those of a process that is still writing.
    Files that cannot be read or removed stay: they do no harm."""
    for folder in folders:
        for name in _leftovers(folder):
            with contextlib.suppress(OSError):
                _remove_unless_locked(name)


def is_leftover(name: str) -> bool:
    """Whether a file with this name is a temporary one that has not replaced its file (yet)."""
    return _OURS.fullmatch(name) is not None


def _leftovers(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if is_leftover(entry.name)]
            yield from (entry.path for entry in found if entry.is_file(follow_symlinks=False))
    except OSError:
        return


def _remove_unless_locked(name: str) -> None:
    """Remove a file. Raises OSError if a process still writes to it: on Windows an open file cannot be removed."""
    if os.name == "nt":
        os.unlink(name)
        return
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        _lock(handle)
        os.unlink(name)
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Mark a file as being written, until it is closed or the process ends. Raises OSError if another process has
    marked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
