"""Snapshots of what a dataset stores, and the changes between them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from loaderlint.audit.digests import data_of, digest
from loaderlint.audit.messages import Change
from loaderlint.audit.reachable import attributes, first_members, is_of_user, reachable

#: Attributes with more bytes than this are read in even steps, see `digests`.
_CONTAINERS = (dict, list, set, deque)
_NUMBERS = (int, float)
_PLAIN = (str, bytes, bool, type(None), *_NUMBERS)


class Snapshot(Struct, frozen=True):
    """What was stored at one time, by path: digests of arrays and tensors, lengths of containers, their plain members,
    and attributes that are numbers. `shared`: the paths of what other processes see too."""

    data: Mapping[str, str]
    lengths: Mapping[str, int]
    members: Mapping[str, str | None]
    numbers: Mapping[str, float]
    shared: frozenset[str]


def snapshot(roots: Mapping[str, Any]) -> Snapshot:
    """The snapshot of everything that can be reached from `roots`."""
    data: dict[str, str] = {}
    lengths: dict[str, int] = {}
    members: dict[str, str | None] = {}
    numbers: dict[str, float] = {}
    shared: set[str] = set()
    for path, value in reachable(roots):
        if data_of(value) is not None:
            data[path] = digest(value)
            if _is_shared(value):
                shared.add(path)
        elif isinstance(value, _CONTAINERS):
            lengths[path] = len(value)
            members.update(_members(path, value))
        elif is_of_user(type(value)):
            numbers.update(_numbers(path, value))
    return Snapshot(data, lengths, members, numbers, frozenset(shared))


def _members(path: str, value: Any) -> dict[str, str | None]:
    """The plain members of a container."""
    return {
        f"{path}[{key!r:.40}]": None if member is None else f"{member!r:.60}" if isinstance(member, _PLAIN) else "..."
        for key, member in (first_members(value) if isinstance(value, (dict, list)) else ())
    }


def _numbers(path: str, value: Any) -> dict[str, float]:
    return {
        f"{path}.{name}": part
        for name, part in attributes(value).items()
        if isinstance(part, _NUMBERS) and not isinstance(part, bool)
    }


def _is_shared(value: Any) -> bool:
    """Whether other processes, or a file, see what is written to it."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return bool(value.is_shared())
    if numpy is not None and isinstance(value, numpy.memmap):
        return value.mode in ("r+", "w+")
    return False


def changes(before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
    """The differences between two snapshots. A new member is a change of its container only."""
    found = [
        Change(path, "shared" if path in after.shared else "data", old, after.data[path])
        for path, old in before.data.items()
        if after.data.get(path, old) != old
    ]
    for path, was in before.members.items():
        now = after.members.get(path, was)
        if now != was:
            found.append(Change(path, "filled" if was is None else "data", str(was), str(now)))
    found += [
        Change(path, "grown", str(length), str(after.lengths[path]))
        for path, length in before.lengths.items()
        if after.lengths.get(path, length) > length
    ]
    found += [
        Change(path, "number", str(number), str(after.numbers[path]))
        for path, number in before.numbers.items()
        if after.numbers.get(path, number) != number
    ]
    return tuple(found[:200])
