"""What the tests around a step say about attributes of its object, and whether the tests of two steps exclude each
other: after `if self.mode == "a": return ...`, no step runs that requires `self.mode == "a"`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.length_tests import length_test
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.unknown_settings import set_by_workers

_MAX_CLAUSES = 64
_MAX_DEPTH = 8
_EQUAL = ("==", "is", "in")
_UNEQUAL = ("!=", "is not", "not in")
#: The value of a fact that an attribute is true: no constant equals it.
_TRUE = ("true",)


class Fact(NamedTuple):
    """An attribute of the object equals a constant, or is true. `names`: ("args", "mode") for `self.args.mode`."""

    names: tuple[str, ...]
    value: object


class Literal(NamedTuple):
    """A fact that holds, or does not."""

    fact: Fact
    holds: bool


#: A clause: at least one of its literals holds. Clauses: all of them hold.
Clause = frozenset[Literal]
Clauses = tuple[Clause, ...]


def clauses_at(context: int, frame: Frame, model: Model) -> Clauses:
    """What the tests around a context say about attributes of the object whose method `frame` is."""
    if frame.receiver is None:
        return ()
    changed = set_by_workers(frame.receiver, model)
    tests = [one for one in model.def_of(frame).around(context) if one.kind == "if"]
    found = (clause for one in tests for clause in _clauses(one.expr, not one.negated, frame, model))
    kept = (one for one in found if changed.isdisjoint(name for literal in one for name in literal.fact.names))
    return tuple(kept)[:_MAX_CLAUSES]


def _clauses(number: int, holds: bool, frame: Frame, model: Model, depth: int = 0) -> Clauses:
    """What follows if a test evaluates to `holds`. Only attributes of the object are considered."""
    e = model.ev.expr(frame, number)
    if depth > _MAX_DEPTH:
        return ()

    def of(part: int, truth: bool) -> Clauses:
        return _clauses(part, truth, frame, model, depth + 1)

    asked = length_test(model.ev, number, frame)
    if asked is not None:
        return of(asked.container, asked.is_filled is holds)
    match e:
        case ir.Unary("not", operand):
            return of(operand, not holds)
        case ir.BoolOp(op, left, right):
            sides = of(left, holds), of(right, holds)
            return (*sides[0], *sides[1]) if (op == "and") is holds else _either(sides)
        case ir.Compare(left, (op,), (right,)):
            names = _attribute(left, frame, model)
            facts = [Fact(names, value) for value in _constants(op, right, frame, model) if names]
            if (op in _EQUAL) is holds:
                return (_one_of(facts),) if facts else ()
            return tuple(frozenset({Literal(fact, False)}) for fact in facts)
        case ir.Attr():
            names = _attribute(number, frame, model)
            return (frozenset({Literal(Fact(names, _TRUE), holds)}),) if names else ()
    return ()


def _one_of(facts: Iterable[Fact]) -> Clause:
    return frozenset(Literal(fact, True) for fact in facts)


def _either(sides: Sequence[Clauses]) -> Clauses:
    """One side or the other holds. If nothing is known of a side, nothing follows."""
    if not all(sides) or len(sides[0]) * len(sides[1]) > _MAX_CLAUSES:
        return ()
    return tuple(one | other for one, other in product(*sides))


def _constants(op: str, right: int, frame: Frame, model: Model) -> list[object]:
    """The constants that a value is compared with; empty if one of them is no constant."""
    e = model.ev.expr(frame, right)
    items = e.items if isinstance(e, ir.Seq) and op in ("in", "not in") else (right,)
    found = [model.ev.expr(frame, item) for item in items]
    values: list[object] = [one.value for one in found if isinstance(one, ir.Const)]
    return values if len(values) == len(found) and op in (*_EQUAL, *_UNEQUAL) else []


def _attribute(number: int, frame: Frame, model: Model) -> tuple[str, ...]:
    """The names after `self`; empty if the expression is no attribute of it."""
    names: list[str] = []
    e = model.ev.expr(frame, number)
    while isinstance(e, ir.Attr):
        names.append(e.name)
        e = model.ev.expr(frame, e.base)
    return tuple(reversed(names)) if ir.is_self(e) else ()


def exclude_each_other(clauses: Iterable[Clause]) -> bool:
    """Whether the clauses contradict each other, as far as unit propagation shows."""
    open_ = set(clauses)
    facts = {literal.fact for clause in open_ for literal in clause}
    known: dict[Fact, bool] = {}
    while True:
        open_ = {
            frozenset(one for one in clause if one.fact not in known)
            for clause in open_
            if not any(known.get(one.fact) is one.holds for one in clause)
        }
        if frozenset() in open_:
            return True
        single = [literal for clause in open_ if len(clause) == 1 for literal in clause]
        if not single:
            return False
        for fact, holds in (implied for literal in single for implied in _implied(literal, facts)):
            if known.setdefault(fact, holds) is not holds:
                return True


def _implied(literal: Literal, facts: Iterable[Fact]) -> Iterator[Literal]:
    """A literal and what follows from it: an attribute that equals a constant equals no other one, and is true if the
    constant is."""
    yield literal
    names, value = literal.fact
    if not literal.holds or value == _TRUE:
        return
    for other in facts:
        if other.names == names and other.value != value:
            yield Literal(other, bool(value) if other.value == _TRUE else False)
