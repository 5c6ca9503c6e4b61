"""What is asked of expressions, whatever they stand for."""

from __future__ import annotations

from typing import NamedTuple, get_args

import pytest

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


def example(cls: type[NamedTuple]) -> tuple[ir.Expr, list[int]]:
    """An expression of a class with another number for each operand, and these numbers."""
    values: list[object] = []
    operands: list[int] = []
    for place, annotation in enumerate(cls.__annotations__.values()):
        one, two = 10 * place + 10, 10 * place + 11
        text = getattr(annotation, "__forward_arg__", annotation)
        if text == "tuple[Arg, ...]":
            values.append((ir.Arg("pos", "", one), ir.Arg("kw", "name", two)))
        else:
            values.append({"ExprId": one, "tuple[ExprId, ...]": (one, two)}.get(text, "other"))
        operands += {"ExprId": [one], "tuple[ExprId, ...]": [one, two], "tuple[Arg, ...]": [one, two]}.get(text, [])
    return cls(*values), operands  # type: ignore[return-value]


@pytest.mark.parametrize("cls", get_args(ir.Expr))
def test_the_operands_of_an_expression_are_all_that_it_numbers(cls: type[NamedTuple]) -> None:
    e, operands = example(cls)
    assert sorted(ir.operands(e)) == operands
    assert type(ir.operands(e)) is tuple
