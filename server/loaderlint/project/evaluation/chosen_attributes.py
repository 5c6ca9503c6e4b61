"""Attributes that a constructor chooses by a test, in a branch of a method that depends on the same choice.

    def __init__(self, train):
        self.train = train
        if train:
            self.transform = Augment()
        else:
            self.transform = ToTensor()

Under `if self.train:`, `self.transform` is no `ToTensor`. Nor is it after

        self.transform = ToTensor()
        if train:
            self.transform = Augment()"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.later_attributes import set_on
from loaderlint.project.evaluation.length_tests import length_test
from loaderlint.project.evaluation.values import Atom, Instance, Val, def_key

if TYPE_CHECKING:
    from loaderlint.project.evaluation.classes import Store
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Comparisons with a constant or with several, each with whether it holds for these.
_COMPARISONS = {"==": True, "is": True, "in": True, "!=": False, "is not": False, "not in": False}
_MAX_DEPTH = 6


class _Fact(NamedTuple):
    """What a test says about a choice: it is one of the constants (`holds`) or none of them. Without `constants`: it is
    true or false."""

    choice: Hashable
    constants: frozenset[object] | None
    holds: bool


def in_branch(ev: Evaluator, value: Val, name: str, number: int, frame: Frame) -> Val:
    """The `value` of `self.name`, expression `number` of a method, without what the constructor stores only under tests
    that exclude those around the expression, and without what it replaces where these hold."""
    receiver = frame.receiver
    context = frame.code.context_of(number) if len(value.atoms) > 1 and isinstance(receiver, Instance) else 0
    if not context or not isinstance(receiver, Instance):
        return value
    stores = ev.classes.stores(receiver, name)
    if not any(store.construction and not store.sure for store in stores):
        return value
    here = list(_around(ev, context, frame))
    kept: set[Atom] = set()
    dropped: set[Atom] = set()
    for store in stores if here else ():
        is_gone = _is_excluded(ev, store, here) or _is_replaced(ev, store, stores, (number, frame), here)
        (dropped if is_gone else kept).update(store.value.atoms)
    left = value.atoms - (dropped - kept)
    return Val(left, value.origins) if left and len(left) < len(value.atoms) else value


def _is_excluded(ev: Evaluator, store: Store, here: list[_Fact]) -> bool:
    if not store.construction or store.sure:
        return False
    step = ev.def_of(store.frame).steps[store.step]  # type: ignore[union-attr]
    return any(_exclude(one, other) for one, other in product(_around(ev, step.context, store.frame), here))


def _is_replaced(
    ev: Evaluator, store: Store, stores: tuple[Store, ...], read: tuple[int, Frame], here: list[_Fact]
) -> bool:
    """Whether another store of the constructor always follows this one if the facts `here` hold, and has been made when
    the expression `read` is evaluated."""
    one, (number, frame) = store.frame.code.one, read
    if not store.construction or one is None:
        return False
    is_later = frame is not store.frame
    if is_later and frame in ev.classes.construction(frame.receiver):  # type: ignore[arg-type]
        return False
    end = len(one.steps) if is_later else frame.code.evaluated_by(number) or 0
    context = one.steps[store.step].context
    return any(
        other.frame is store.frame
        and store.step < other.step < end
        and _is_reached(ev, one.steps[other.step].context, context, store.frame, here)
        for other in stores
    )


def _is_reached(ev: Evaluator, context: int, before: int, frame: Frame, here: list[_Fact]) -> bool:
    """Whether the code comes to a context whenever it has been in the context `before`, if the facts `here` hold."""
    one = frame.code.one
    if one is None or not frame.code.is_branch(context):
        return False
    while not one.is_within(before, context):
        test = one.contexts[context]
        if test.kind == "if" and not _is_implied(ev, test.expr, frame, not test.negated, here):
            return False
        context = test.parent
    return True


def _is_implied(ev: Evaluator, test: int, frame: Frame, holds: bool, here: list[_Fact], depth: int = 0) -> bool:
    """Whether facts imply that a test holds, or that it does not."""
    if depth > _MAX_DEPTH:
        return False
    match ev.expr(frame, test):
        case ir.Unary("not", operand):
            return _is_implied(ev, operand, frame, not holds, here, depth + 1)
        case ir.BoolOp(op, left, right):
            sides = (_is_implied(ev, side, frame, holds, here, depth + 1) for side in (left, right))
            return all(sides) if (op == "and") is holds else any(sides)
        case ir.Attr():
            kept = _only_store(ev, test, frame)
            if kept is not None and isinstance(ev.expr(kept[1], kept[0]), ir.Unary | ir.BoolOp | ir.Compare):
                return _is_implied(ev, *kept, holds, here, depth + 1)
    return any(_implies(one, fact) for fact in _facts(ev, test, frame, holds) for one in here)


def _implies(one: _Fact, other: _Fact) -> bool:
    """Whether the second fact is true whenever the first one is."""
    if one.choice != other.choice:
        return False
    if other.constants is None:
        if one.constants is None:
            return one.holds is other.holds
        return one.holds and all(bool(constant) is other.holds for constant in one.constants)
    if one.constants is None:
        return False
    if one.holds:
        return one.constants <= other.constants if other.holds else one.constants.isdisjoint(other.constants)
    return not other.holds and other.constants <= one.constants


def _exclude(one: _Fact, other: _Fact) -> bool:
    """Whether two facts are never true together."""
    if one.choice != other.choice:
        return False
    if one.constants is None and other.constants is None:
        return one.holds is not other.holds
    if one.constants is None or other.constants is None:
        said, truth = (one, other) if other.constants is None else (other, one)
        assert said.constants is not None
        return said.holds and all(bool(constant) is not truth.holds for constant in said.constants)
    if one.holds and other.holds:
        return one.constants.isdisjoint(other.constants)
    said, unsaid = (one, other) if one.holds else (other, one)
    return said.holds and said.constants <= unsaid.constants  # type: ignore[operator]


def _around(ev: Evaluator, context: int, frame: Frame) -> Iterator[_Fact]:
    """What the tests say that lead to a context."""
    for here in frame.code.one.around(context) if frame.code.one is not None else ():
        if here.kind == "if" and here.expr != NONE:
            yield from _facts(ev, here.expr, frame, not here.negated)


def _facts(ev: Evaluator, test: int, frame: Frame, holds: bool, depth: int = 0) -> Iterator[_Fact]:
    """What it says that a test holds, or that it does not."""
    if depth > _MAX_DEPTH:
        return
    asked = length_test(ev, test, frame)
    if asked is not None:
        yield from _facts(ev, asked.container, frame, asked.is_filled is holds, depth + 1)
        return
    match ev.expr(frame, test):
        case ir.Unary("not", operand):
            yield from _facts(ev, operand, frame, not holds, depth + 1)
        case ir.BoolOp(op, left, right):
            for side in (left, right) if (op == "and") is holds else ():
                yield from _facts(ev, side, frame, holds, depth + 1)
        case ir.Compare(left, (op,), (right,)):
            constants = _constants(ev, right, frame) if op in _COMPARISONS else None
            choice = _choice(ev, left, frame) if constants is not None else None
            if choice is not None:
                yield _Fact(choice, constants, _COMPARISONS[op] is holds)
        case ir.Attr() | ir.Index() | ir.Param() | ir.Phi() | ir.Call():
            kept = _only_store(ev, test, frame)
            if kept is not None and isinstance(ev.expr(kept[1], kept[0]), ir.Unary | ir.BoolOp | ir.Compare):
                yield from _facts(ev, *kept, holds, depth + 1)
            elif (choice := _choice(ev, test, frame)) is not None:
                yield _Fact(choice, None, holds)


def _constants(ev: Evaluator, number: int, frame: Frame) -> frozenset[object] | None:
    """The constant that an expression is, or those that it lists; None if there are others."""
    e = ev.expr(frame, number)
    items = [ev.expr(frame, item) for item in e.items] if isinstance(e, ir.Seq) else [e]
    constants = [item.value for item in items if isinstance(item, ir.Const)]
    return frozenset(constants) if len(constants) == len(items) else None


def _choice(ev: Evaluator, number: int, frame: Frame, depth: int = 0) -> Hashable:
    """What an expression reads, in terms of the constructor where it reads what this has stored once and for all; None
    for an attribute that may change."""
    if depth > _MAX_DEPTH:
        return None
    kept = _only_store(ev, number, frame)
    if kept is not None:
        return _choice(ev, *kept, depth + 1)
    match ev.expr(frame, number):
        case ir.Param(index):
            return def_key(frame), "parameter", index
        case ir.Attr(base, name):
            whole = _choice(ev, base, frame, depth + 1) if not ir.is_self(ev.expr(frame, base)) else None
            return None if whole is None else (whole, name)
        case ir.Index(base, index):
            whole, key = _choice(ev, base, frame, depth + 1), ev.expr(frame, index)
            return (whole, key.value) if whole is not None and isinstance(key, ir.Const) else None
    return def_key(frame), number


def _only_store(ev: Evaluator, number: int, frame: Frame) -> tuple[int, Frame] | None:
    """What the constructor stores in the attribute of `self` that an expression reads, if nothing else does."""
    e = ev.expr(frame, number)
    receiver = frame.receiver
    if not isinstance(e, ir.Attr) or not isinstance(receiver, Instance) or not ir.is_self(ev.expr(frame, e.base)):
        return None
    stores = ev.classes.stores(receiver, e.name)
    if len(stores) != 1 or not stores[0].construction or not stores[0].sure or any(set_on(ev, receiver, e.name)):
        return None
    step = ev.def_of(stores[0].frame).steps[stores[0].step]  # type: ignore[union-attr]
    return (step.value, stores[0].frame) if isinstance(step, ir.SetAttr) else None
