"""Finds what the main process sets on a dataset between epochs, and whether persistent workers get it.

Persistent workers have the dataset as it was when they started. In a copy of the process, attributes and items are
reset and set again, so that what a program has set can be tried with workers of the same loader.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from loaderlint.audit.digests import digest
from loaderlint.audit.reachable import attributes, first_members, reachable
from loaderlint.audit.streams import streams

#: The maximum number of set attributes and items that are tried for an effect.
_TRIED = 20

#: The maximum number of items that are compared.
_ITEMS = 20_000

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


class Held(Struct, frozen=True):
    """An attribute of an object, with the value that it had. `path`: how to reach it; `name`: of the attribute."""

    path: str
    owner: Any
    name: Any
    value: Any

    def put(self) -> None:
        """Set the attribute to this value without running the user's code."""
        object.__setattr__(self.owner, self.name, self.value)

    @property
    def text(self) -> str:
        """The value as text that is equal for equal values in all processes."""
        if isinstance(self.value, _PLAIN):
            return f"{self.value!r:.60}"
        return f"{type(self.value).__qualname__} {digest(self.value)}"


class HeldItem(Held, frozen=True):
    """An item of a dict or list. `name`: its key or 0-based index."""

    def put(self) -> None:
        """Set the item to this value without running the user's code."""
        store = dict.__setitem__ if isinstance(self.owner, dict) else list.__setitem__
        store(self.owner, self.name, self.value)


def held(roots: Mapping[str, Any]) -> tuple[Held, ...]:
    """The attributes of all objects that can be reached from `roots`, except those of classes, functions and modules;
    then the plain items of the dicts and lists that can be reached."""
    found = [
        (path, value)
        for path, value in reachable(roots)
        if not isinstance(value, (type, types.FunctionType, types.ModuleType))
    ]
    of_objects = (
        Held(f"{path}.{name}", value, name, part) for path, value in found for name, part in attributes(value).items()
    )
    of_containers = (item for path, value in found if isinstance(value, (dict, list)) for item in _items(path, value))
    return (*of_objects, *islice(of_containers, _ITEMS))


def _items(path: str, container: dict[Any, Any] | list[Any]) -> Iterator[HeldItem]:
    for name, value in first_members(container):
        if isinstance(value, _PLAIN):
            yield HeldItem(f"{path}[{name!r:.40}]", container, name, value)


def replaced(before: Sequence[Held], after: Sequence[Held]) -> tuple[tuple[Held, Held], ...]:
    """The attributes and items that were set to another value, each before and after."""
    old = {(id(each.owner), each.name): each for each in before}
    pairs = ((old.get((id(each.owner), each.name)), each) for each in after)
    return tuple(
        (was, now) for was, now in pairs if was is not None and was.value is not now.value and was.text != now.text
    )


def with_effect(pairs: Sequence[tuple[Held, Held]], make: Callable[[], Any], roots: Mapping[str, Any]) -> Iterator[str]:
    """The paths of the attributes and items whose old value gives other samples than the new one, all else equal. All
    have the new value before and after. `make` creates samples; if two calls differ, nothing is returned."""

    def made() -> str:
        saved = [(stream, stream.save()) for stream in streams(roots)]
        try:
            return digest(make())
        finally:
            for stream, state in saved:
                stream.restore(state)

    new = made()
    for was, now in pairs[:_TRIED]:
        was.put()
        try:
            old = made()
        except Exception:  # the user's code rejects this combination of values
            old = new
        finally:
            now.put()
        if old != new == made():
            yield now.path


def samples(loader: Any, indices: Sequence[Any]) -> Callable[[], Any]:
    """A function that creates some samples and a batch of them in the main process: those at `indices`, or the first
    ones of an iterable dataset if there are no indices."""

    def make() -> Any:
        dataset = loader.dataset
        found = [dataset[index] for index in indices] if indices else list(islice(iter(dataset), 3))
        return found, loader.collate_fn(found) if loader.batch_size is not None else None

    return make
