"""Finds the objects that can be reached from an object, each with its path: `dataset.transform.transforms[2].rng`."""

from __future__ import annotations

import functools
import sys
import types
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

#: The maximum number of objects that are visited. A list of a million names contains nothing of interest.
LIMIT = 20_000

#: The maximum number of members of one list, dict or set that are visited.
MEMBERS = 2_000

_PLAIN = (str, bytes, int, float, complex, bool, type(None), range, type(Ellipsis))


def reachable(roots: Mapping[str, Any], limit: int = LIMIT) -> Iterator[tuple[str, Any]]:
    """Each object that can be reached from `roots` (by name), with the shortest path to it, the nearest first.

    The search follows attributes, members of containers, classes of the user's objects, and what functions hold:
    closures, defaults, and the globals that their code names. It does not follow the globals of functions of the
    standard library or an installed library. Each object comes once, plain values never.
    """
    seen: set[int] = set()
    waiting: deque[tuple[str, Any]] = deque(roots.items())
    kept: list[Any] = []  # an id may be reused once its object is gone
    while waiting and limit > 0:
        path, value = waiting.popleft()
        if isinstance(value, _PLAIN) or id(value) in seen:
            continue
        seen.add(id(value))
        kept.append(value)
        limit -= 1
        yield path, value
        for name, part in parts(value):
            if not isinstance(part, _PLAIN):
                waiting.append((_joined(path, name), part))


def _joined(path: str, name: str) -> str:
    """`name` beginning with '=' is a path of its own: that of a global."""
    return name[1:] if name.startswith("=") else path + name


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an object, each with what follows the object in its path: `.rng`, `[2]`."""
    if isinstance(value, (dict, list, tuple, deque, set, frozenset)):
        yield from ((f"[{key!r:.40}]", member) for key, member in first_members(value))
    if isinstance(value, types.MethodType):
        yield ".__self__", value.__self__
        yield ".__func__", value.__func__
    elif isinstance(value, types.FunctionType):
        yield from _of_function(value)
    elif isinstance(value, functools.partial):
        yield ".func", value.func
        yield ".args", value.args
        yield ".keywords", value.keywords
    elif isinstance(value, type):
        yield from _of_class(value)
    elif not isinstance(value, types.ModuleType):
        yield from _of_object(value)


def first_members(container: Any) -> Iterator[tuple[Any, Any]]:
    """The first members of a container, each with its key or, where there are no keys, its 0-based number."""
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    return islice(pairs, MEMBERS)


def _of_object(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if not is_of_user(kind) and module_of(kind) in ("builtins", "numpy", "torch"):
        return
    yield from ((f".{name}", part) for name, part in attributes(value).items())
    if is_of_user(kind):
        yield f"={kind.__qualname__}", kind
    else:
        yield from _shared_by_class(kind)


def _shared_by_class(kind: type) -> Iterator[tuple[str, Any]]:
    """The values that a library class shares between all its objects, such as a generator of random numbers."""
    for base in kind.__mro__:
        if module_of(base) != "builtins":
            for name, part in vars(base).items():
                if not name.startswith("__") and not callable(part) and not hasattr(type(part), "__get__"):
                    yield f".{name}", part


def attributes(value: Any) -> dict[str, Any]:
    """An object's own attributes, read without running its code."""
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        found = {}
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            descriptor = base.__dict__.get(name)
            if isinstance(descriptor, types.MemberDescriptorType):
                try:
                    found[name] = descriptor.__get__(value)
                except AttributeError:
                    continue
    return found


def _of_class(kind: type) -> Iterator[tuple[str, Any]]:
    if not is_of_user(kind):
        return
    for base in kind.__mro__:
        if not is_of_user(base):
            continue
        for name, part in vars(base).items():
            if isinstance(part, (staticmethod, classmethod)):
                part = part.__func__
            elif isinstance(part, property):
                part = part.fget
            if name not in ("__dict__", "__weakref__", "__module__", "__doc__"):
                yield f".{name}", part


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield f".<closure>.{name}", cell.cell_contents
        except ValueError:  # the cell is still empty
            continue
    for number, default in enumerate(function.__defaults__ or ()):
        yield f".__defaults__[{number}]", default
    if not is_of_user(function):
        return
    for name in code.co_names:
        if name in function.__globals__ and not name.startswith("__"):
            part = function.__globals__[name]
            if not isinstance(part, types.ModuleType):
                yield f"={function.__module__}.{name}", part


@functools.lru_cache(maxsize=4096)
def module_is_of_user(name: str) -> bool:
    """Whether a module, by its name, belongs neither to the standard library nor to an installed library."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__" or top in ("torch", "numpy", "loaderlint"):
        return False
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file


def is_of_user(value: Any) -> bool:
    """Whether a class or function is defined in the user's own code."""
    return module_is_of_user(module_of(value))


def module_of(value: Any) -> str:
    """The name of the module that a class or function declares, '' if none: some declare nothing, and the metaclass of
    Cython's functions has a descriptor there."""
    name = getattr(value, "__module__", None)
    return name if isinstance(name, str) and name else "builtins"


def class_name(value: Any) -> str:
    """The full name of an object's class."""
    return f"{module_of(type(value))}.{type(value).__qualname__}"
