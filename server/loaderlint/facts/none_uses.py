"""Where a def uses an expression as None cannot be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir


def none_uses(exprs: Sequence[ir.Expr], steps: Sequence[ir.Step]) -> Iterator[tuple[int, int]]:
    """The expressions that some steps use as None cannot be used, each with the number of the step: they read or store
    an attribute or an item, call a method, ask for the length, unpack or iterate."""
    seen: set[int] = set()
    for number, step in enumerate(steps):
        if isinstance(step, ir.SetItem | ir.SetAttr):
            yield step.base, number
        elif isinstance(step, ir.Iterate):
            yield step.iterable, number
        for part in ir.evaluated_anew(exprs, ir.step_expressions(step), seen):
            used = _used(exprs, exprs[part])
            if used != ir.NONE:
                yield used, number


def _used(exprs: Sequence[ir.Expr], e: ir.Expr) -> ir.ExprId:
    """What an expression takes an attribute, an item, the items or the length of; `NONE` for any other."""
    match e:
        case ir.Index(base):
            return base
        case ir.Attr(base, name) if not name.startswith("__"):
            return base
        case ir.Unpack(value):
            return value
        case ir.Call(func, (ir.Arg("pos", _, value),)) if exprs[func] == ir.Global("len"):
            return value
    return ir.NONE
