"""The files that were open when a worker was forked. All processes that inherited one share its position."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

#: The maximum number of open files that are watched.
_FILES = 32

_SYSTEM = ("/dev/", "/proc/", "/sys/", "/memfd:")


class Inherited(Struct):
    """A file that was open before this process started. `copy`: a duplicate descriptor of the same open file, which
    stays valid when the user's code closes or replaces the first one."""

    number: int
    target: str
    copy: int
    position: int

    def moved(self) -> bool:
        """Whether the position has changed since the last call."""
        with contextlib.suppress(OSError):
            now = os.lseek(self.copy, 0, os.SEEK_CUR)
            if now != self.position:
                self.position = now
                return True
        return False


def inherited() -> list[Inherited]:
    """The regular files that are open for reading. Call it before anything else in a worker."""
    found: list[Inherited] = []
    with contextlib.suppress(OSError):
        for number in sorted(map(int, os.listdir("/proc/self/fd")))[:512]:
            # The listing has its own descriptor, whose number the next copy gets.
            if number > 2 and len(found) < _FILES and number not in {file.copy for file in found}:
                found += _inherited(number)
    return found


def _inherited(number: int) -> list[Inherited]:
    import fcntl  # missing on Windows, where this module is imported too

    try:
        target = os.readlink(f"/proc/self/fd/{number}")
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
        if target.startswith(_SYSTEM) or not stat.S_ISREG(os.fstat(number).st_mode):
            return []
        # A file that is only written to is a log, where lines of several processes are wanted.
        if flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_APPEND or target.endswith(" (deleted)"):
            return []
        return [Inherited(number, target, os.dup(number), os.lseek(number, 0, os.SEEK_CUR))]
    except OSError:
        return []


def poison(files: Sequence[Inherited]) -> None:
    """Point their descriptors to an empty file, so that only code that still reads from them sees a difference."""
    empty = os.open(os.devnull, os.O_RDONLY)
    for file in files:
        with contextlib.suppress(OSError):
            os.dup2(empty, file.number)
    os.close(empty)


def shown(target: str) -> str:
    """The path of a file for people: relative to the current folder if it is below it."""
    try:
        return Path(target).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return target
