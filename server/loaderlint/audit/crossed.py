"""Finds what a forked worker inherits but only the main process can use: threads, held locks, open handles."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct

from loaderlint.audit.reachable import attributes, class_name, reachable

#: The classes of handles by their module (which is not imported for this), each with a function that tests whether a
#: handle is open: if not, it returns something false or raises an exception.
_HANDLES: dict[str, tuple[tuple[str, ...], Callable[[Any], object]]] = {
    "cv2": (("VideoCapture",), lambda capture: capture.isOpened()),
    "h5py": (("File", "Dataset"), bool),
    "lmdb": (("Environment",), lambda environment: environment.path()),
    "socket": (("socket",), lambda one: one.fileno() != -1),
    "sqlite3": (("Connection",), lambda connection: connection.total_changes >= 0),
}
_POOLS = frozenset({"multiprocessing.pool.Pool", "multiprocessing.pool.ThreadPool"})


class Crossed(Struct, frozen=True):
    """Something that crosses a fork. `rule`: the rule about it, if there is one; `identity`: its `id`, which is the
    same in a forked process."""

    path: str
    what: str
    rule: str | None
    identity: int


def crossed(roots: Mapping[str, Any]) -> tuple[Crossed, ...]:
    """The objects of this kind that can be reached from `roots`, without parts of an object that is already
    included."""
    found: list[Crossed] = []
    for path, value in reachable(roots):
        if any(path.startswith((f"{each.path}.", f"{each.path}[")) for each in found):
            continue
        what = _crossing(value)
        if what is not None:
            found.append(Crossed(path, *what, id(value)))
    return tuple(found)


def still_there(found: Sequence[Crossed], roots: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths of those that a forked worker still has: the same objects in the same places."""
    identities = {path: id(value) for path, value in reachable(roots)}
    return tuple(each.path for each in found if identities.get(each.path) == each.identity)


def _crossing(value: Any) -> tuple[str, str | None] | None:
    """What an object is, in words, and the rule about it."""
    threads, handles = "executor-across-fork", "handle-across-workers"
    kind = class_name(value)
    if isinstance(value, threading.Thread) and value.is_alive():
        return f"a thread of the main process ({value.name})", threads
    if isinstance(value, ThreadPoolExecutor) and attributes(value).get("_threads"):
        return "an executor whose threads run in the main process", threads
    if kind in _POOLS:
        return "a pool whose threads run in the main process", threads
    if _is_open_handle(value):
        return f"an open {type(value).__qualname__}", handles
    if _is_on_gpu(value):
        return "a tensor on the GPU", "cuda-in-worker"
    if kind in ("_thread.lock", "_thread.RLock") and "locked" in dir(value) and value.locked():
        return "a lock that is held", None
    return None


def _is_open_handle(value: Any) -> bool:
    for name, (classes, ask) in _HANDLES.items():
        module = sys.modules.get(name)
        if module is not None and isinstance(value, tuple(getattr(module, each) for each in classes)):
            return _is_open(value, ask)
    return False


def _is_open(handle: Any, ask: Callable[[Any], object]) -> bool:
    try:
        return bool(ask(handle))
    except Exception:  # each library has its own exception for a closed handle
        return False


def _is_on_gpu(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor) and value.is_cuda
