"""Provisional answers for questions that are being computed, so that a question which depends on itself ends."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@contextmanager
def provisional(memo: MutableMapping[_Key, _Value], key: _Key, value: _Value) -> Iterator[None]:
    """`memo[key]` is `value` until the block stores the answer. If the block fails, `key` stays unknown: the next
    question computes it from the start."""
    memo[key] = value
    try:
        yield
    except BaseException:
        memo.pop(key, None)
        raise
