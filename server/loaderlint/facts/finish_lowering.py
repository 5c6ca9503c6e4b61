"""The last phase of lowering: resolves the reads at the heads of loops, and completes the tables."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, NamedTuple, cast

from loaderlint.facts import ir
from loaderlint.facts.ir import DefIR, Opaque, Phi, PieceAnchors, PieceIR
from loaderlint.facts.lowering_state import Tables
from loaderlint.facts.reaching_definitions import expand


def settle(tables: Tables) -> tuple[PieceIR, PieceAnchors]:
    """The facts in `tables`, and their anchors. Resolves loop marks and replaces a `Phi` of one choice by that
    choice."""
    _resolve_marks(tables)
    exprs, defs, anchors = tables.exprs, cast("list[DefIR]", tables.defs), tables.anchors
    same = _trivial(tables) if tables.settled else {}
    if same:
        exprs, defs, anchors = _without(same, exprs, defs, anchors)
    piece = PieceIR(tuple(exprs), tuple(defs), tuple(sorted(tables.mentions)))
    beside = PieceAnchors(tuple(anchors), tuple(tables.step_anchors), tuple(tables.def_anchors))
    return piece, beside


def _resolve_marks(tables: Tables) -> None:
    """Set the choices of the `Phi` of each loop mark that was read."""
    for mark, number in tables.settled.items():
        frame, name = tables.open[mark]
        choices = expand(tables.finished[mark], tables.finished, tables.settled)
        if choices is None:
            tables.exprs[number] = Opaque("too many values")
            continue
        choices.discard(number)
        frame.drop_unbound(choices, name, None)
        tables.exprs[number] = Phi(tuple(sorted(choices))) if choices else Opaque("unbound")


def _trivial(tables: Tables) -> dict[int, int]:
    """For each `Phi` that can only be one other expression: that expression. Computed in rounds, each in order; after
    the first round only those with a changed choice."""
    phis = {number: expr.choices for number, expr in enumerate(tables.exprs) if isinstance(expr, Phi)}
    users: dict[int, list[int]] = {}
    for number, choices in phis.items():
        for choice in choices:
            if choice in phis:
                users.setdefault(choice, []).append(number)
    same: dict[int, int] = {}
    waiting = list(phis)  # in order, so that this is a heap
    while waiting:
        later: set[int] = set()
        while waiting:
            number = heappop(waiting)
            if number in same or number not in phis:
                continue
            meant = {_meant(choice, same) for choice in phis[number]}
            meant.discard(number)
            if not meant:
                tables.exprs[number] = Opaque("unbound")
                del phis[number]
            elif len(meant) == 1:
                same[number] = only = meant.pop()
                again = users.pop(number, [])
                users.setdefault(only, []).extend(again)
                for user in again:
                    if user > number:
                        heappush(waiting, user)
                    else:
                        later.add(user)
        waiting = sorted(later)
    return {number: _meant(number, same) for number in same}


def _meant(number: int, same: dict[int, int]) -> int:
    """The final replacement of an expression."""
    found = number
    while found in same:
        found = same[found]
    while number in same and same[number] != found:
        same[number], number = found, same[number]
    return found


def _without(
    same: dict[int, int], exprs: list[ir.Expr], defs: list[DefIR], anchors: list[int]
) -> tuple[list[ir.Expr], list[DefIR], list[int]]:
    """The tables with the expressions in `same` removed and their uses replaced."""
    numbers: list[int] = []
    kept = 0
    for number in range(len(exprs)):
        numbers.append(kept)
        kept += number not in same
    for number, only in same.items():
        numbers[number] = numbers[only]
    numbers.append(-1)  # numbers[NONE] is NONE
    left = [number for number in range(len(exprs)) if number not in same]
    return (
        [_renumber_expr(exprs[number], numbers) for number in left],
        [_renumber(definition, numbers) for definition in defs],
        [anchors[number] for number in left],
    )


def _renumber_expr(expr: Any, numbers: list[int]) -> Any:
    result = _renumber(expr, numbers)
    if result.__class__ is Phi:
        return Phi(tuple(sorted(set(result.choices))))
    return result


#: From the type of a field, as `ir` writes it, to the function that renumbers it.
_FIELDS: dict[str, Callable[[Any, list[int]], Any]] = {
    "ExprId": lambda value, numbers: numbers[value],
    "tuple[ExprId, ...]": lambda value, numbers: tuple([numbers[item] for item in value]),
    "tuple[tuple[str, ExprId], ...]": lambda value, numbers: tuple([(name, numbers[item]) for name, item in value]),
}
_ROWS = {f"tuple[{name}, ...]" for name in ("Arg", "ParamIR", "Context", "Step")}


def _renumber(row: Any, numbers: list[int]) -> Any:
    """The NamedTuple `row` of `ir` with each expression number n replaced by numbers[n]."""
    plan = _plan(row.__class__)
    if not plan:
        return row
    values = list(row)
    for position, renumber in plan:
        values[position] = renumber(values[position], numbers)
    return row._make(values)


_PLANS: dict[type, tuple[tuple[int, Callable[[Any, list[int]], Any]], ...]] = {}


def _plan(kind: type[NamedTuple]) -> tuple[tuple[int, Callable[[Any, list[int]], Any]], ...]:
    """The fields of `kind` that contain expression numbers, judging by its annotations."""
    plan = _PLANS.get(kind)
    if plan is None:
        found = []
        for position, annotation in enumerate(kind.__annotations__.values()):
            text = getattr(annotation, "__forward_arg__", annotation)
            if text in _FIELDS:
                found.append((position, _FIELDS[text]))
            elif text in _ROWS:
                found.append((position, _renumber_rows))
        plan = _PLANS[kind] = tuple(found)
    return plan


def _renumber_rows(rows: Any, numbers: list[int]) -> Any:
    return tuple([_renumber(row, numbers) for row in rows])
