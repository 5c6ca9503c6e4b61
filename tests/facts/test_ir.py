"""What is asked of expressions, whatever they stand for."""

from __future__ import annotations

from loaderlint.facts import ir

#: self[self.at], twice over.
EXPRS = (ir.Param(0), ir.Attr(0, "at"), ir.Index(0, 1), ir.Call(2, (ir.Arg("pos", "", 2),)))


def test_what_an_expression_is_made_of_comes_once() -> None:
    assert sorted(ir.made_of(EXPRS, [3])) == [0, 1, 2, 3]
    assert sorted(ir.made_of(EXPRS, [1, ir.NONE])) == [0, 1]


def test_an_item_of_self_is_not_self() -> None:
    """`for part in self: part.handle = ...`: tuples of two classes are equal."""
    assert tuple(ir.Element(0)) == tuple(ir.Param(0))
    assert [ir.is_self(one) for one in (ir.Param(0), ir.Param(1), ir.Element(0), None)] == [True, False, False, False]
