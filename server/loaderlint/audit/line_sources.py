"""Decides whether every source that a line can draw random numbers from is watched. The line is analysed, not run: its
names are looked up in its frame."""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import random
import sys
import types
from collections.abc import Set
from types import FrameType
from typing import Any

from loaderlint.audit.reachable import attributes, is_of_user, module_of
from loaderlint.audit.user_places import is_library

#: Unknown values: one that is not and does not hold a generator, and one that may be anything.
_PLAIN, _ANY = object(), object()

_NUMBERS = (bool, int, float, complex, str, bytes, type(None))
#: These functions return plain values, and call nothing except their arguments.
_PURE = frozenset({abs, bool, float, int, len, range, round, str, sum})
#: The attributes and methods of a generator that are or return another generator.
_OTHER_GENERATORS = frozenset({"bit_generator", "clone_state", "graphsafe_get_state", "spawn"})
_SEEDING = ("seed", "set_state")


class _Unknown(Exception):
    """It cannot be decided."""


def draws_from_watched_only(frame: FrameType, line: int, watched: Set[int]) -> bool:
    """Whether a line of the user's code draws from these objects only (by their `id`), whatever it calls. False if that
    cannot be decided, for example for a generator that the line creates. What the user's functions draw belongs to
    their own lines."""
    if is_library(frame.f_code.co_filename):
        return False
    found = _expressions(frame.f_code.co_filename, line)
    reading = _Reading(frame, watched)
    try:
        for each in found:
            reading.value(each)
    except _Unknown:
        return False
    return bool(found)


@functools.lru_cache(maxsize=256)
def _expressions(file: str, line: int) -> tuple[ast.expr, ...]:
    """The outermost expressions on a line; none if the file cannot be read."""
    waiting: list[ast.AST] = [_parsed(file)]
    found: list[ast.expr] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr):
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                found.append(node)
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return tuple(found)


@functools.lru_cache(maxsize=32)
def _parsed(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


class _Reading:
    """Evaluates expressions in a frame without running code. Its methods raise `_Unknown`."""

    def __init__(self, frame: FrameType, watched: Set[int]) -> None:
        self._frame = frame
        self._watched = watched

    def value(self, node: ast.expr) -> Any:
        """The value of an expression, as far as it is known."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node)
            case ast.Attribute() if isinstance(node.ctx, ast.Store):
                return _PLAIN
            case ast.Attribute():
                return self._attribute(self.value(node.value), node.attr)
            case ast.Subscript():
                return self._member(self.value(node.value), self.value(node.slice))
            case ast.Call():
                return self._call(node)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                raise _Unknown
        parts = [self.value(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        is_sent = isinstance(node, ast.Await | ast.Yield | ast.YieldFrom)
        return _PLAIN if all(map(_is_plain, parts)) and not is_sent else _ANY

    def _name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Store):
            return _PLAIN
        for names in (self._frame.f_locals, self._frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
        raise _Unknown

    def _attribute(self, value: Any, name: str) -> Any:
        if id(value) in self._watched:
            return _ANY if name in _OTHER_GENERATORS else _PLAIN
        if _is_plain(value):
            return _PLAIN
        if value is _ANY or _is_generator(value):
            raise _Unknown
        own = vars(value) if isinstance(value, types.ModuleType | type) else attributes(value)
        kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
        for names in (own, *map(vars, kinds)):
            if name in names:
                return _called(names[name])
        raise _Unknown

    def _member(self, value: Any, key: Any) -> Any:
        if _is_plain(value):
            return _PLAIN
        if type(value) not in (list, tuple, dict) or not isinstance(key, _NUMBERS):
            return _ANY
        try:
            return value[key]
        except (LookupError, TypeError):
            raise _Unknown from None

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._pass(self.value(argument))
        if function is _PLAIN or id(getattr(function, "__self__", None)) in self._watched:
            return _PLAIN
        if function is _ANY:
            raise _Unknown
        if getattr(function, "__objclass__", None) in (dict, list, set, tuple):
            return _ANY
        if is_of_user(function if isinstance(function, types.FunctionType | type) else type(function)):
            return _ANY
        module = module_of(function)
        if module.startswith("numpy.random") and getattr(function, "__name__", "") not in _SEEDING:
            raise _Unknown
        if function in _PURE or module.partition(".")[0] in ("numpy", "torch"):
            return _PLAIN
        raise _Unknown

    def _pass(self, value: Any) -> None:
        """Accept a value as an argument, unless the function could draw from it. Raises `_Unknown`."""
        of = getattr(value, "__self__", None) if callable(value) else None
        if value is _ANY:
            raise _Unknown
        if any(_is_generator(each) and id(each) not in self._watched for each in (value, of)):
            raise _Unknown


def _called(value: Any) -> Any:
    """The attribute of a class. Raises `_Unknown` for properties, which run the user's code."""
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    if isinstance(value, property | functools.cached_property):
        raise _Unknown
    return value


def _is_plain(value: Any) -> bool:
    """Whether a value neither is, holds nor returns a generator."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return not value.dtype.hasobject
    is_number = isinstance(value, _NUMBERS) or (numpy is not None and isinstance(value, numpy.generic))
    return value is _PLAIN or is_number or (torch is not None and isinstance(value, torch.Tensor))


def _is_generator(value: Any) -> bool:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    kinds: tuple[type, ...] = (random.Random,)
    if numpy is not None:
        kinds += (numpy.random.Generator, numpy.random.RandomState, numpy.random.BitGenerator)
    if torch is not None:
        kinds += (torch.Generator,)
    return isinstance(value, kinds)
