"""Conditions that an option decides: `if args.limit > 0`, where `--limit` is 0 unless a user sets it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Literal_
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.process_guards import tests_around


def is_off(test: ir.Context, frame: Frame, model: Model) -> bool:
    """Whether the branch is not taken with the option as configured."""
    return is_as_configured(test.expr, test.negated, frame, model)


def is_by_option(frame: Frame, context: int, model: Model) -> bool:
    """Whether a context is only entered if a user sets an option."""
    return any(is_off(test, frame, model) for test in tests_around(frame, context, model))


def is_as_configured(test: int, holds: bool, frame: Frame, model: Model) -> bool:
    """Whether a test holds, or does not, with the options as configured: one part of `a and b` is enough for it not to
    hold."""
    match model.ev.expr(frame, test):
        case ir.Unary("not", operand):
            return is_as_configured(operand, not holds, frame, model)
        case ir.BoolOp(op, left, right):
            sides = [is_as_configured(side, holds, frame, model) for side in (left, right)]
            return any(sides) if (op == "or") is holds else all(sides)
    values = [atom.value for atom in model.ev.eval(test, frame).atoms if isinstance(atom, Literal_)]
    return bool(values) and all(bool(value) is holds for value in values)
