"""Names whose value an `if` statement decides, for a later `if` with the same test.

    images = plain
    if augment:
        images = augmented
    ...
    if augment:
        show(images)  # only `augmented`

Two tests are the same if they are built in the same way from the same values of names. An attribute, an item or the
result of a call may change in between, and so may the truth of a list."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.reaching_definitions import Flow

_MAX_DEPTH = 6
_MAY_CHANGE = (ir.Call, ir.Seq, ir.Map, ir.Comp, ir.Opaque)


class Decided(NamedTuple):
    """The value of a name behind an `if` statement: `met` in any case, `true` if its test held, `false` if not; and how
    often the name had been bound by then."""

    name: str
    met: Flow
    true: Flow
    false: Flow
    times: int


class DecidedNames:
    """What the `if` statements of the blocks around have decided, by their tests."""

    __slots__ = ("_by_test", "_trail")

    def __init__(self) -> None:
        self._by_test: dict[Hashable, tuple[Decided, ...]] = {}
        self._trail: list[tuple[Hashable, tuple[Decided, ...]]] = []

    def mark(self) -> int:
        """The current state, for `forget`."""
        return len(self._trail)

    def forget(self, mark: int) -> None:
        """Go back to the state at `mark`: a block ends, and other ways lead around it."""
        while len(self._trail) > mark:
            test, before = self._trail.pop()
            self._by_test[test] = before

    def add(self, test: Hashable, decided: Sequence[Decided]) -> None:
        """Note what an `if` statement has decided."""
        before = self._by_test.get(test, ())
        self._trail.append((test, before))
        self._by_test[test] = (*before, *decided)

    def under(self, test: Hashable) -> Iterator[Decided]:
        """What earlier statements with the same test have decided."""
        yield from self._by_test.get(test, ())


def test_key(number: ir.ExprId, exprs: Sequence[ir.Expr]) -> tuple[Hashable, bool] | None:
    """What equal tests share, and whether the test holds if that does; None for a test that may change."""
    e, holds = exprs[number], True
    while isinstance(e, ir.Unary) and e.op == "not":
        number, holds = e.operand, not holds
        e = exprs[number]
    if isinstance(e, _MAY_CHANGE):
        return None
    key = _key(number, exprs, 0)
    return None if key is None else (key, holds)


def _key(number: ir.ExprId, exprs: Sequence[ir.Expr], depth: int) -> Hashable:
    e = exprs[number]
    if depth > _MAX_DEPTH:
        return None
    match e:
        case ir.Const(kind, value):
            return "constant", kind, value
        case ir.Global(name):
            return "global", name
        case ir.Unary(op, operand):
            parts = [operand]
            how: Hashable = op
        case ir.Compare(left, ops, rights):
            parts = [left, *rights]
            how = ops
        case ir.BoolOp(op, left, right):
            parts = [left, right]
            how = op
        case _:
            return number
    keys = [_key(part, exprs, depth + 1) for part in parts]
    return None if None in keys else (how, *keys)
