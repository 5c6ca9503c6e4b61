"""What stands for a list or a dict in a def: the name, attribute or key by which code reads and changes it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.dict_values import taken_value
from loaderlint.rules.shared.nested_functions import Nested, nested_readers

#: Methods of lists that add items at the end.
ADDS = frozenset({"append", "extend"})


class Entry(Struct, frozen=True):
    """The value of some key in the dict `self.name`."""

    name: str


class Named(Struct, frozen=True):
    """What the def around a function, or the module, binds to one of these names."""

    names: frozenset[str]


class DictValue(Struct, frozen=True):
    """The value under a key of the dict that `made` stands for; under any key if that is None."""

    made: int | Named
    key: ir.Expr | None


#: An expression of the def, the attribute of that name, or one of the above.
Target = int | str | Entry | DictValue | Named


def item_stores(target: Target, frame: Frame, model: Model) -> Iterator[ir.SetItem]:
    """The steps by which a def stores an item in a list, dict or table: `groups[name] = []`."""
    stores = (step for _, step in model.steps_of(frame, ir.SetItem))
    return (step for step in stores if is_target(step.base, target, frame, model))


def is_target(base: int, target: Target, frame: Frame, model: Model) -> bool:
    """Whether an expression stands for the list or dict `target`."""
    if isinstance(target, int):
        return base == target or target in choices_of(base, frame, model)
    if isinstance(target, Named):
        match model.ev.expr(frame, base):
            case ir.Capture(1, name) | ir.Global(name):
                return name in target.names
        return False
    if isinstance(target, DictValue):
        taken = taken_value(base, frame, model)
        if taken is None or not is_target(taken.held, target.made, frame, model):
            return False
        return taken.key == NONE or may_be_same(target.key, model.ev.expr(frame, taken.key))
    e = model.ev.expr(frame, base)
    if isinstance(target, Entry):
        taken = taken_value(base, frame, model)
        held = taken.held if taken is not None else e.iterable if isinstance(e, ir.Element) else NONE
        return held != NONE and is_target(held, target.name, frame, model)
    return isinstance(e, ir.Attr) and e.name == target and ir.is_self(model.ev.expr(frame, e.base))


def choices_of(number: int, frame: Frame, model: Model) -> tuple[int, ...]:
    """The expressions that an expression may be, where branches meet."""
    e = model.ev.expr(frame, number)
    return e.choices if isinstance(e, ir.Phi) else ()


def filled_inside(target: Target, frame: Frame, model: Model) -> Iterator[tuple[Nested, Target]]:
    """The functions inside of a def that may read a list or dict that it makes, each with what stands for the
    target there."""
    made = target.made if isinstance(target, DictValue) else target
    if isinstance(made, int):
        for one in nested_readers(lambda number: is_target(number, made, frame, model), frame, model):
            named = Named(one.names)
            yield one, DictValue(named, target.key) if isinstance(target, DictValue) else named


def appended_to(target: Target, frame: Frame, model: Model) -> Iterator[int]:
    """What a def appends to a list."""
    for perform, base in frame.code.attribute_calls({"append"}):
        call = model.ev.expr(frame, perform.call)
        if isinstance(call, ir.Call) and call.args and is_target(base, target, frame, model):
            yield call.args[0].value


def may_be_same(asked: ir.Expr | None, written: ir.Expr | None) -> bool:
    """Whether two keys may be equal; two literals are compared."""
    return asked == written or not (isinstance(asked, ir.Const) and isinstance(written, ir.Const))


__all__ = [
    "ADDS",
    "DictValue",
    "Entry",
    "Named",
    "Target",
    "appended_to",
    "choices_of",
    "filled_inside",
    "is_target",
    "item_stores",
    "may_be_same",
]
