"""Where a def uses an expression as None cannot be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir


def none_uses(exprs: Sequence[ir.Expr], steps: Sequence[ir.Step]) -> Iterator[tuple[int, int]]:
    """The expressions that some steps use as None cannot be used, each with the number of the step: they read or store
    an attribute or an item, or call a method."""
    seen: set[int] = {ir.NONE}
    for number, step in enumerate(steps):
        if isinstance(step, ir.SetItem | ir.SetAttr):
            yield step.base, number
        waiting = list(ir.step_expressions(step))
        while waiting:
            part = waiting.pop()
            if part in seen:
                continue
            seen.add(part)
            e = exprs[part]
            if isinstance(e, ir.Index) or (isinstance(e, ir.Attr) and not e.name.startswith("__")):
                yield e.base, number
            waiting += ir.always_evaluated(e)
