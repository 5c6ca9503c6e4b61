"""Files that were open when a worker was forked: it shares their position with all other processes that have them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

#: How many open files are watched.
_FILES = 32

_SYSTEM = ("/dev/", "/proc/", "/sys/", "/memfd:")


class Inherited(Struct):
    """A file that was open before this process started. `copy`: a descriptor of our own for the same open file, which
    stays when the user's code closes or replaces the first one."""

    number: int
    target: str
    copy: int
    position: int

    def moved(self) -> bool:
        """Whether the position has changed since the last time that it was asked for."""
        with contextlib.suppress(OSError):
            now = os.lseek(self.copy, 0, os.SEEK_CUR)
            if now != self.position:
                self.position = now
                return True
        return False


def inherited() -> list[Inherited]:
    """The regular files that are open for reading. To be asked first thing in a worker."""
    found: list[Inherited] = []
    with contextlib.suppress(OSError):
        for number in sorted(map(int, os.listdir("/proc/self/fd")))[:512]:
            # The listing has its own descriptor, whose number the next copy gets.
            if number > 2 and len(found) < _FILES and number not in {file.copy for file in found}:
                found += _inherited(number)
    return found


def _inherited(number: int) -> list[Inherited]:
    import fcntl  # not on Windows, where this module is imported all the same

    try:
        target = os.readlink(f"/proc/self/fd/{number}")
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
        if target.startswith(_SYSTEM) or not stat.S_ISREG(os.fstat(number).st_mode):
            return []
        # What is only written to is a log: lines of several processes in one file are what is wanted there.
        if flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_APPEND or target.endswith(" (deleted)"):
            return []
        return [Inherited(number, target, os.dup(number), os.lseek(number, 0, os.SEEK_CUR))]
    except OSError:
        return []


def poison(files: Sequence[Inherited]) -> None:
    """Have their descriptors lead to an empty file, so that only what still reads from them sees a difference."""
    empty = os.open(os.devnull, os.O_RDONLY)
    for file in files:
        with contextlib.suppress(OSError):
            os.dup2(empty, file.number)
    os.close(empty)


def shown(target: str) -> str:
    """A file as it is best named: from the current folder, if it is below."""
    try:
        return Path(target).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return target
