"""Whole numbers that constants make: `2**32`, `(1 << 32) - 1`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, LibObject, Literal_
from loaderlint.project.reach.model import Model

_MAX_NUMBER = 2**63
_MAX_DEPTH = 8


def constant(number: int, frame: Frame, model: Model, depth: int = 0) -> int | None:
    """The whole number that an expression of constants is: `2**32`, `1 << 32`, `(1 << 32) - 1`, `LIMIT`."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Bin) and depth < _MAX_DEPTH:
        left, right = (constant(operand, frame, model, depth + 1) for operand in (e.left, e.right))
        return None if left is None or right is None else _computed(e.op, left, right)
    found = model.ev.eval(number, frame)
    literal = found.literal
    if isinstance(literal, Literal_) and isinstance(literal.value, int):
        return literal.value
    return _of_name(found.ordered(), model, depth)


def _of_name(atoms: list[Atom], model: Model, depth: int) -> int | None:
    """A module's `LIMIT = 2**32`."""
    if len(atoms) != 1 or not isinstance(atoms[0], LibObject) or atoms[0].name != "builtins.operation":
        return None
    site = atoms[0].site
    return constant(site.expr, site.frame, model, depth + 1) if depth < _MAX_DEPTH else None


def _computed(op: str, left: int, right: int) -> int | None:
    if min(left, right) < 0 or left > _MAX_NUMBER:
        return None
    match op:
        case "**" | "<<" if right <= 64:
            return left**right if op == "**" and left <= 2**16 else left << right
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return None
