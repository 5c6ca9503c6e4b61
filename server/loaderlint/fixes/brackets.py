"""Brackets that a line is broken at, and what goes between them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from loaderlint.fixes.long_calls import Layout


class Brackets(NamedTuple):
    """Where brackets open and close, and what is in them: arguments, or the parts of a comprehension."""

    opening: int
    closing: int
    parts: Sequence[str]
    is_call: bool


class Width(NamedTuple):
    """What a line begins with, what one more level of indentation is, and how many characters lines may have."""

    indent: str
    unit: str
    limit: int

    def holds(self, lines: Sequence[str]) -> bool:
        """Whether no line is too long."""
        return all(len(line) <= self.limit for line in lines)


def broken_at(brackets: Brackets, text: str, width: Width, layout: Layout) -> list[str]:
    """A statement as several lines: what is between the brackets on a line of its own; else each part of a
    comprehension on one, or arguments as `layout` lays them out. Empty if that does not make it fit."""
    head = width.indent + text[: brackets.opening + 1]
    tail = width.indent + text[brackets.closing :]
    for inner in _inner(brackets, text, width.indent + width.unit, width, layout):
        if width.holds([head, *inner, tail]):
            return [head, *inner, tail]
    return []


def _inner(brackets: Brackets, text: str, indent: str, width: Width, layout: Layout) -> Iterator[list[str]]:
    """What may stand between the brackets, best first."""
    yield [indent + text[brackets.opening + 1 : brackets.closing].strip()]
    if brackets.is_call:
        yield layout(brackets.parts, indent, width.limit)
    else:
        yield [indent + part for part in brackets.parts]


def of_call(call: ast.Call, text: str) -> Brackets:
    opening = text.index("(", call.func.end_col_offset)
    closing = (call.end_col_offset or 0) - 1
    only = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if isinstance(only, ast.GeneratorExp):
        return of_comprehension(only, opening, closing + 1, text)
    arguments: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=lambda one: one.col_offset)
    commas = [text.rindex(",", 0, one.col_offset) for one in arguments[1:]]
    parts = [text[start + 1 : end].strip() for start, end in pairwise([opening, *commas, closing])]
    parts[-1] = parts[-1].removesuffix(",")
    return Brackets(opening, closing, parts, True)


def of_comprehension(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, start: int, end: int, text: str
) -> Brackets:
    """The brackets from `start` to `end` with a comprehension in them, which is parted before each `for` and `if`."""
    cuts = [start + 1]
    for one in node.generators:
        word = "async for" if one.is_async else "for"
        cuts.append(text.rindex(word, 0, one.target.col_offset))
        cuts += [text.rindex("if", 0, test.col_offset) for test in one.ifs]
    parts = [text[first:last].strip() for first, last in pairwise([*cuts, end - 1])]
    return Brackets(start, end - 1, parts, False)
