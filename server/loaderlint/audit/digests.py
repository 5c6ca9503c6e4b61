"""Digests of values: equal for equal content, whatever the process."""

from __future__ import annotations

import sys
from hashlib import blake2b
from typing import Any

from loaderlint.audit.reachable import attributes, is_of_user, module_of

#: The maximum number of bytes that are read of one value; larger values are read in even steps.
LIMIT = 4 * 1024 * 1024

#: The maximum depth of nested values that are read.
_DEPTH = 12

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def digest(value: Any) -> str:
    """A short text that is equal for arrays, tensors, images, containers and plain values of equal content.

    For other objects it depends on their class and attributes, or only on their class if these cannot be read.
    """
    hasher = blake2b(digest_size=8)
    _add(hasher, value, _DEPTH)
    return hasher.hexdigest()


def _add(hasher: Any, value: Any, depth: int) -> None:
    if isinstance(value, _PLAIN):
        hasher.update(repr(value).encode(errors="replace") if not isinstance(value, bytes) else value)
        return
    name = type(value).__qualname__
    hasher.update(name.encode())
    if depth == 0:
        return
    if buffer := data_of(value):
        shape, data = buffer
        hasher.update(shape.encode())
        hasher.update(data)
    elif isinstance(value, dict):
        for key, member in value.items():
            _add(hasher, key, depth - 1)
            _add(hasher, member, depth - 1)
    elif isinstance(value, (list, tuple)):
        hasher.update(b"%d" % len(value))
        for member in value:
            _add(hasher, member, depth - 1)
    elif isinstance(value, (set, frozenset)):
        hasher.update("".join(sorted(digest(member) for member in value)).encode())
    elif is_of_user(type(value)):
        for attribute, member in sorted(attributes(value).items()):
            hasher.update(attribute.encode())
            _add(hasher, member, depth - 1)


def data_of(value: Any) -> tuple[str, bytes | memoryview] | None:
    """The kind and shape of an array, tensor or image, in words, and its bytes; None for anything else."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.device.type != "cpu" or value.layout is not torch.strided:
            return None
        whole = value.detach().resolve_conj().resolve_neg()
        return f"{whole.dtype}{tuple(whole.shape)}", _bytes(whole.contiguous().view(-1).view(torch.uint8).numpy())
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(value)
        if array.dtype.hasobject:
            return f"{array.dtype}{array.shape}", repr(array.ravel()[:1000].tolist()).encode()
        return f"{array.dtype}{array.shape}", _bytes(numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8))
    if module_of(type(value)).startswith("PIL.") and hasattr(value, "tobytes"):
        return f"{value.mode}{value.size}", value.tobytes()
    if isinstance(value, (bytearray, memoryview)):
        return f"bytes({len(value)})", bytes(value)
    return None


def _bytes(array: Any) -> bytes | memoryview:
    """All bytes of a flat array, or about `LIMIT` of them in even steps."""
    if array.size > LIMIT:
        array = array[:: array.size // LIMIT + 1].copy()
    return memoryview(array)
