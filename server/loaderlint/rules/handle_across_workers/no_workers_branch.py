"""Lines that run only if a loader has no workers: `if self.num_workers > 0: ... else: open(...)`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model

_COUNTS = frozenset("num_workers n_workers num_worker workers nworkers num_works".split())
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_MAX_DEPTH = 8


def needs_no_workers(number: int, frame: Frame, model: Model) -> bool:
    """Whether the tests around an expression say that the number of workers is 0."""
    around = model.def_of(frame).around(frame.code.context_of(number))
    tests = [one for one in around if one.kind == "if" and one.expr != ir.NONE]
    return any(_says_none(one.expr, not one.negated, frame, model) for one in tests)


def _says_none(number: int, holds: bool, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether the number of workers is 0 if a test evaluates to `holds`."""
    e = model.ev.expr(frame, number)
    if depth > _MAX_DEPTH:
        return False
    match e:
        case ir.Unary("not", operand):
            return _says_none(operand, not holds, frame, model, depth + 1)
        case ir.BoolOp(op, left, right):
            says = [_says_none(part, holds, frame, model, depth + 1) for part in (left, right)]
            return any(says) if (op == "and") is holds else all(says)
        case ir.Compare(left, (op,), (right,)):
            if _is_count(left, frame, model):
                return _is_zero(op, model.ev.expr(frame, right), holds)
            return _is_count(right, frame, model) and _is_zero(_TURNED.get(op, op), model.ev.expr(frame, left), holds)
    return not holds and _is_count(number, frame, model)


def _is_zero(op: str, other: ir.Expr | None, holds: bool) -> bool:
    """Whether a count must be 0 if `count <op> other` evaluates to `holds`."""
    if not isinstance(other, ir.Const) or other.kind != "int" or other.value not in (0, 1):
        return False
    says_zero = ("==", "<=") if other.value == 0 else ("<",)
    denies_zero = ("!=", ">") if other.value == 0 else (">=",)
    return op in (says_zero if holds else denies_zero)


def _is_count(number: int, frame: Frame, model: Model) -> bool:
    """Whether the name of a value says that it is a number of workers."""
    match model.ev.expr(frame, number):
        case ir.Attr(_, name) | ir.Global(name):
            return name in _COUNTS
        case ir.Param(index):
            return model.def_of(frame).params[index].name in _COUNTS
        case ir.Index(_, index):
            key = model.ev.expr(frame, index)
            return isinstance(key, ir.Const) and key.value in _COUNTS
    return False
