"""Streams of random numbers: the global ones, and the generator objects that can be reached from a loader's parts."""

from __future__ import annotations

import copy
import random
import sys
import types
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from loaderlint.audit.reachable import class_name, reachable

#: The names of the global streams.
PYTHON, NUMPY, TORCH = "random", "NumPy", "torch"
GLOBAL = (PYTHON, NUMPY, TORCH)


class Stream(Struct, frozen=True):
    """Something that random numbers are drawn from. `name`: one of `GLOBAL`, or the path of an object. `state` returns
    bytes that are equal for equal states; `kind` is the class, with its module, `source` the object. `save` returns the
    state in its library's own form, and `restore` sets it."""

    name: str
    kind: str
    source: Any
    state: Callable[[], bytes]
    save: Callable[[], Any]
    restore: Callable[[Any], object]

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
    found = [_python(PYTHON, random._inst)]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        found.append(_numpy_legacy(NUMPY, numpy.random.mtrand._rand))
    if torch is not None:
        found.append(_torch(TORCH, torch.default_generator))
    return found


def _of(path: str, value: Any) -> Stream | None:
    """The stream of a generator object; None for other objects, and for the global generators."""
    if isinstance(value, types.ModuleType | type | types.FunctionType):
        return None
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        return None if value is random._inst else _python(path, value)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Generator) and value.device.type == "cpu":
        return None if value is torch.default_generator else _torch(path, value)
    if numpy is None:
        return None
    if isinstance(value, numpy.random.Generator):
        return _numpy(path, value)
    if isinstance(value, numpy.random.RandomState):
        return None if value is numpy.random.mtrand._rand else _numpy_legacy(path, value)
    return None


def _python(name: str, source: random.Random) -> Stream:
    def state() -> bytes:
        version, numbers, gauss = source.getstate()
        return hash(numbers).to_bytes(8, "little", signed=True) + repr((version, numbers[-1], gauss)).encode()

    return Stream(name, class_name(source), source, state, source.getstate, source.setstate)


def _numpy(name: str, source: Any) -> Stream:
    def restore(state: Any) -> None:
        source.bit_generator.state = state

    def save() -> Any:
        return copy.deepcopy(source.bit_generator.state)

    return Stream(name, class_name(source), source, lambda: repr(source.bit_generator.state).encode(), save, restore)


def _numpy_legacy(name: str, source: Any) -> Stream:
    def state() -> bytes:
        _, keys, position, has_gauss, gauss = source.get_state(legacy=True)
        return bytes(keys) + repr((position, has_gauss, gauss)).encode()

    return Stream(name, class_name(source), source, state, source.get_state, source.set_state)


def _torch(name: str, source: Any) -> Stream:
    def state() -> bytes:
        return bytes(source.get_state().numpy())

    return Stream(name, class_name(source), source, state, source.get_state, source.set_state)
