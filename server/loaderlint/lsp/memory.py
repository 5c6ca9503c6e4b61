"""Who allocates the memory of the engine's process, and how what is free goes back to the system.

Python's own allocator gives back whole megabytes only, in which something that is kept nearly always lies: after a
large project was linked, more than half of what it held was free and stayed. That of glibc gives back single pages. It
costs a few per cent of CPU time; elsewhere (musl, macOS, Windows) all is left as it is."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Mapping


def allocator() -> Mapping[str, str]:
    """The environment variables that choose it for a Python that is started with them."""
    return {"PYTHONMALLOC": "malloc"} if _is_glibc() else {}


def give_back() -> None:
    """Give what is free back to the system. What is left is what stays: the collector does not look through it again
    with each full collection."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    if _is_glibc():
        ctypes.CDLL(None).malloc_trim(0)


def _is_glibc() -> bool:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (AttributeError, ValueError, OSError):
        return False
