"""What a forked worker has from the main process that works there only: threads, locks that are held, open handles."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from loaderlint.audit.reachable import attributes, reachable

#: Classes of handles, by module and name: libraries are not imported to ask.
_HANDLES = frozenset(
    {
        "h5py._hl.files.File",
        "h5py._hl.dataset.Dataset",
        "cv2.VideoCapture",
        "lmdb.Environment",
        "lmdb.cpython.Environment",
        "sqlite3.Connection",
        "socket.socket",
    }
)
_POOLS = frozenset({"multiprocessing.pool.Pool", "multiprocessing.pool.ThreadPool"})


@dataclass(frozen=True, slots=True)
class Crossed:
    """Something that crosses a fork. `rule` speaks of it, if there is one."""

    path: str
    what: str
    rule: str | None


def crossed(roots: Mapping[str, Any]) -> tuple[Crossed, ...]:
    """What of this can be reached from `roots`. No code of the user runs."""
    return tuple(found for path, value in reachable(roots) if (found := _crossing(path, value)) is not None)


def _crossing(path: str, value: Any) -> Crossed | None:
    threads, handles = "executor-across-fork", "handle-across-workers"
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, threading.Thread) and value.is_alive():
        return Crossed(path, f"a thread of the main process ({value.name})", threads)
    if isinstance(value, ThreadPoolExecutor) and attributes(value).get("_threads"):
        return Crossed(path, "an executor whose threads run in the main process", threads)
    if kind in _POOLS:
        return Crossed(path, "a pool, which threads of the main process serve", threads)
    if kind in _HANDLES:
        return Crossed(path, f"an open {type(value).__qualname__}", handles)
    if kind in ("_thread.lock", "_thread.RLock") and "locked" in dir(value) and value.locked():
        return Crossed(path, "a lock that is held", None)
    return None
