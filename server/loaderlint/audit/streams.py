"""Streams of random numbers: the global ones, and the generator objects that can be reached from a loader's parts."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from loaderlint.audit.reachable import reachable

#: The names of the global streams.
PYTHON, NUMPY, TORCH = "random", "NumPy", "torch"
GLOBAL = (PYTHON, NUMPY, TORCH)


@dataclass(frozen=True, slots=True)
class Stream:
    """Something that random numbers are drawn from. `name`: one of `GLOBAL`, or the path of an object. `state` gives
    something that is equal for equal states; `kind` is the class, with its module."""

    name: str
    kind: str
    state: Callable[[], bytes]

    def digest(self) -> str:
        """A short text that is equal for equal states."""
        return blake2b(self.state(), digest_size=8).hexdigest()


def streams(roots: Mapping[str, Any]) -> list[Stream]:
    """The global streams, and those of the generators that can be reached from `roots`. Imports nothing."""
    found = _global()
    for path, value in reachable(roots):
        stream = _of(path, value)
        if stream is not None:
            found.append(stream)
    return found


def _global() -> list[Stream]:
    found = [Stream(PYTHON, "random", lambda: _python_state(random._inst))]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        found.append(Stream(NUMPY, "numpy.random", lambda: _numpy_global(numpy)))
    if torch is not None:
        found.append(Stream(TORCH, "torch", lambda: bytes(torch.default_generator.get_state().numpy())))
    return found


def _of(path: str, value: Any) -> Stream | None:
    """The stream of a generator object, None if it is none, or one of the global ones."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, types.ModuleType | type | types.FunctionType):
        return None
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        return None if value is random._inst else Stream(path, kind, lambda: _python_state(value))
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Generator) and value.device.type == "cpu":
        return (
            None if value is torch.default_generator else Stream(path, kind, lambda: bytes(value.get_state().numpy()))
        )
    if numpy is None:
        return None
    if isinstance(value, numpy.random.Generator):
        return Stream(path, kind, lambda: repr(value.bit_generator.state).encode())
    if isinstance(value, numpy.random.RandomState):
        return None if value is numpy.random.mtrand._rand else Stream(path, kind, lambda: _legacy_state(value))
    return None


def _python_state(source: random.Random) -> bytes:
    version, numbers, gauss = source.getstate()
    return hash(numbers).to_bytes(8, "little", signed=True) + repr((version, numbers[-1], gauss)).encode()


def _numpy_global(numpy: Any) -> bytes:
    return _legacy_state(numpy.random.mtrand._rand)


def _legacy_state(source: Any) -> bytes:
    _, keys, position, has_gauss, gauss = source.get_state(legacy=True)
    return bytes(keys) + repr((position, has_gauss, gauss)).encode()
