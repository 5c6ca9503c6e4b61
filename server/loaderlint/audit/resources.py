"""What a process uses of the machine, as Linux tells it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

#: Memory without mapped files, and without the shared memory in which batches wait for the main process. A page that a
#: forked process begins to write to counts before and after. (The PSS of smaps_rollup tells such pages apart, and takes
#: 5 ms to read in a process that has imported PyTorch.)
_MEMORY = "RssAnon:"
#: What PyTorch opens to send batches.
_SHARED = ("/dev/shm/", "/memfd:")


class Used(NamedTuple):
    """`memory` in KiB, and how many regular `files` are open. -1 where the system does not tell."""

    memory: int = -1
    files: int = -1


def used() -> Used:
    """What this process uses now."""
    return Used(_memory(), _files())


def _memory() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(_MEMORY):
                return int(line.split()[1])
    return -1


def _files() -> int:
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return -1
    return sum(map(_is_open_file, map(int, numbers)))


def _is_open_file(number: int) -> bool:
    with contextlib.suppress(OSError):
        is_shared = os.readlink(f"/proc/self/fd/{number}").startswith(_SHARED)
        return not is_shared and stat.S_ISREG(os.fstat(number).st_mode)
    return False
