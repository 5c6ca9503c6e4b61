"""The resources that a process uses, as reported by Linux."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from loaderlint.audit.messages import Used

#: Memory without mapped files, and without the shared memory in which batches wait for the main process. A page that a
#: forked process begins to write to counts before and after. (The PSS of smaps_rollup distinguishes such pages, but
#: takes 5 ms to read in a process that has imported PyTorch.)
_MEMORY = "RssAnon:"
#: The files that PyTorch opens to send tensors. It keeps the descriptor as long as the tensor exists.
_SHARED = ("/dev/shm/", "/memfd:")
#: The connections over which it sends descriptors come and go.
_SOCKET = "socket:"


def used() -> Used:
    """The resources that this process uses now."""
    return Used(_memory(), *_opened())


def _memory() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(_MEMORY):
                return int(line.split()[1])
    return -1


def _opened() -> tuple[int, int]:
    """The size of the shared memory that is open, each part once, in KiB, and how many other descriptors are open."""
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return -1, -1
    others = 0
    parts = {}
    for number in numbers:
        with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed by now
            target = os.readlink(f"/proc/self/fd/{number}")
            if target.startswith(_SHARED):
                part = os.fstat(int(number))
                parts[part.st_dev, part.st_ino] = part.st_size
            elif not target.startswith(_SOCKET):
                others += 1
    return sum(parts.values()) >> 10, others
