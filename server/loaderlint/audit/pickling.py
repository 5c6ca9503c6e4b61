"""Finds what cannot be sent to a spawned worker, and how much is copied to each worker."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from loaderlint.audit.reachable import parts

#: The maximum depth of the search for the part that fails.
_DEPTH = 30


class Sent(Struct, frozen=True):
    """The cost of sending an object: bytes that are copied, and bytes of tensors, whose memory is shared instead.
    `problems`: what cannot be sent, as (path, reason)."""

    copied: int
    shared: int
    problems: tuple[tuple[str, str], ...]


class _Popen:
    """Stands for a process that is being spawned: locks and sockets ask for one when they are pickled."""

    def duplicate_for_child(self, number: int) -> int:
        return number

    def DupFd(self, number: int) -> int:
        return number


def sent(roots: Mapping[str, Any]) -> Sent:
    """Pickle each of `roots` (by name) as for a spawned worker. Call it in a sandbox, because pickling runs the user's
    code."""
    from multiprocessing import context

    context.set_spawning_popen(_Popen())  # type: ignore[arg-type]
    try:
        copied = shared = 0
        problems: list[tuple[str, str]] = []
        for path, value in roots.items():
            size, why = _pickled(value)
            if why is None:
                copied += size[0]
                shared += size[1]
            else:
                problems.append(_culprit(path, value, why))
        return Sent(copied, shared, tuple(problems))
    finally:
        context.set_spawning_popen(None)


class _Unsendable(Exception):
    """Pickle accepts it, but the worker would not start."""


def _pickled(value: Any) -> tuple[tuple[int, int], str | None]:
    """The bytes that are copied and shared, and why pickling failed, if it did."""
    from multiprocessing.reduction import ForkingPickler

    torch = sys.modules["torch"]
    shared = 0

    class Pickler(ForkingPickler):
        def reducer_override(self, part: Any) -> Any:
            nonlocal shared
            if isinstance(part, torch.Tensor):
                shared += part.numel() * part.element_size()
                return int, ()
            if isinstance(part, torch.Generator):
                raise _Unsendable("a torch.Generator is lost on its way to a worker, which then ends")
            if getattr(part, "__module__", None) == "__main__" and _is_without_file():
                raise _Unsendable("it is defined in a notebook or console, which a worker cannot import")
            return NotImplemented

    buffer = io.BytesIO()
    try:
        Pickler(buffer).dump(value)
    except RecursionError:
        return (0, 0), "it is nested too deeply"
    except Exception as error:
        return (0, 0), f"{type(error).__name__}: {error}" if not isinstance(error, _Unsendable) else str(error)
    return (buffer.tell(), shared), None


def _is_without_file() -> bool:
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    return getattr(main, "__spec__", None) is None and not (file and Path(file).is_file())


def _culprit(path: str, value: Any, why: str, depth: int = _DEPTH) -> tuple[str, str]:
    """The innermost part that cannot be pickled."""
    if depth:
        for name, part in _sent_parts(value):
            _, inner = _pickled(part)
            if inner is not None:
                return _culprit(path + name, part, inner, depth - 1)
    return path, why


def _sent_parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an object that pickle would visit, as far as they are known."""
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        yield from parts(value)
        return
    if isinstance(value, type) or not hasattr(value, "__reduce_ex__"):
        return
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:
        return
    if not isinstance(reduced, tuple):
        return
    for state in reduced[2:3]:
        for each in state if isinstance(state, tuple) else (state,):
            if isinstance(each, dict):
                yield from ((f".{name}", part) for name, part in each.items() if isinstance(name, str))
    yield from ((f".<argument {number}>", part) for number, part in enumerate(reduced[1]) if part is not type(value))
