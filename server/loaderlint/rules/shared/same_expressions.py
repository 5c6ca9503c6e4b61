"""Whether two expressions of a def read the same."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE

_MAX_LEVELS = 12


def reads_same(one: int, other: int, exprs: Sequence[ir.Expr], depth: int = 0) -> bool:
    """Whether two expressions read the same: names, attributes and items of them, slices, constants."""
    if one == other or one == NONE or other == NONE or depth > _MAX_LEVELS:
        return one == other
    match exprs[one], exprs[other]:
        case (ir.Const() | ir.Param() | ir.Global()) as e, other_e:
            return type(e) is type(other_e) and e == other_e
        case ir.Attr(_, name), ir.Attr(_, other_name) if name != other_name:
            return False
        case (ir.Attr(), ir.Attr()) | (ir.Index(), ir.Index()) | (ir.Slice(), ir.Slice()) | (ir.Seq(), ir.Seq()):
            parts, others = ir.operands(exprs[one]), ir.operands(exprs[other])
            pairs = zip(parts, others, strict=False)
            return len(parts) == len(others) and all(reads_same(a, b, exprs, depth + 1) for a, b in pairs)
    return False
