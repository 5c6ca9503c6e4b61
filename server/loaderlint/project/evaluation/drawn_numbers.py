"""Random numbers of at least 0 and less than 1, and how they compare with a chance: `random.random() < self.chance`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import UNIFORM_DRAWS, UNIT_DRAWS
from loaderlint.project.evaluation.values import LibObject, Val


def is_drawn(value: Val) -> bool:
    """Whether a value is such a number."""
    return bool(value.atoms) and all(type(atom) is LibObject and is_unit_draw(atom) for atom in value.atoms)


def is_unit_draw(drawn: LibObject) -> bool:
    """Whether a drawn number is at least 0 and less than 1: `rand()`, `np.random.uniform()`, `random.uniform(0, 1)`."""
    if drawn.name not in UNIFORM_DRAWS:
        return drawn.name in UNIT_DRAWS
    exprs = drawn.site.frame.code.exprs
    call = exprs[drawn.site.expr]
    given = [exprs[arg.value] for arg in call.args if arg.kind == "pos"] if isinstance(call, ir.Call) else [call]
    limits = [one.value for one in given if isinstance(one, ir.Const)]
    return isinstance(call, ir.Call) and len(limits) == len(call.args) and limits in ([], [0, 1])


def compared_with_chance(op: str, chance: float) -> bool | None:
    """How such a number compares with a chance: it is never below 0, and always below 1. That it is 0 itself does not
    happen: one of 2**24 numbers of torch is, and of the others one of 2**53."""
    if op not in ("<", "<=", ">", ">="):
        return None
    if chance >= 1:
        return op in ("<", "<=")
    return op in (">", ">=") if chance <= 0 else None
