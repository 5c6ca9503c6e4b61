"""Which dict an expression takes a value from: `groups[name]`, `for name, files in groups.items()`."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model

#: What makes a dict: a new one, or one of the items of its argument.
DICTS = frozenset({"builtins.dict", "collections.defaultdict", "collections.OrderedDict"})
#: Methods of dicts that give the value of the key that is their first argument.
_GETTERS = frozenset({"get", "pop", "setdefault"})
#: Functions that give the items of their first argument.
_PASSING_ON = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.iter", "builtins.reversed"})


class Taken(NamedTuple):
    """A value of the dict `held`, under the key `key`; NONE if it may be any."""

    held: int
    key: int


def taken_value(number: int, frame: Frame, model: Model) -> Taken | None:
    """The dict, or list, that an expression takes a value from; None if it takes none."""
    e = model.ev.expr(frame, number)
    match e:
        case ir.Index(base, index):
            return None if isinstance(model.ev.expr(frame, index), ir.Slice) else Taken(base, index)
        case ir.Call(func, (key, *_)):
            method = model.ev.expr(frame, func)
            return Taken(method.base, key.value) if isinstance(method, ir.Attr) and method.name in _GETTERS else None
    held = _each(_gone_through(number, frame, model), "values", frame, model)
    if held == NONE and isinstance(e, ir.Unpack) and e.index == 1:
        held = _each(_gone_through(e.value, frame, model), "items", frame, model)
    return Taken(held, NONE) if held != NONE else None


def items_of(number: int, frame: Frame, model: Model) -> int:
    """The dict whose items an expression gives: `groups.items()`, `sorted(groups.items())`, or the dict itself."""
    held = _each(number, "items", frame, model)
    return number if held == NONE else held


def _gone_through(number: int, frame: Frame, model: Model) -> int:
    """The iterable of a loop whose item an expression is, also one beside its number; else NONE."""
    match model.ev.expr(frame, number):
        case ir.Element(iterable):
            return iterable
        case ir.Unpack(value, 1):
            pair = model.ev.expr(frame, value)
            call = model.ev.expr(frame, pair.iterable) if isinstance(pair, ir.Element) else None
            if isinstance(call, ir.Call) and call.args and _called(call, frame, model) == {"builtins.enumerate"}:
                return call.args[0].value
    return NONE


def _each(number: int, method: str, frame: Frame, model: Model) -> int:
    """The dict of which an expression calls `items()` or `values()`; else NONE."""
    call = model.ev.expr(frame, number) if number != NONE else None
    if not isinstance(call, ir.Call):
        return NONE
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and func.name == method and not call.args:
        return func.base
    names = _called(call, frame, model)
    passes_on = bool(names) and all(name in _PASSING_ON or name.startswith("tqdm.") for name in names)
    return _each(call.args[0].value, method, frame, model) if call.args and passes_on else NONE


def _called(call: ir.Call, frame: Frame, model: Model) -> set[str]:
    return {atom.name for atom in model.ev.eval(call.func, frame).only(Lib)}
