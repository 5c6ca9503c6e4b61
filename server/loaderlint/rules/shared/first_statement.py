"""Where a function begins: what a fix puts there runs before all else."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model


def first_statement(frame: Frame, model: Model) -> Place | None:
    """The first statement of a function below its docstring; None for a lambda, and where it cannot be told."""
    one = model.ev.def_of(frame)
    if one is None or one.kind != "function":
        return None
    first = next((number for number, step in enumerate(one.steps) if not _is_docstring(step, frame)), None)
    if first is None:
        return None
    around = [*one.around(one.steps[first].context)]
    if not around:
        return model.step_place(frame, first)
    # nothing is done before the first branch: its test stands in the first statement
    return model.place(frame, around[-1].expr) if around[-1].expr != NONE else None


def _is_docstring(step: ir.Step, frame: Frame) -> bool:
    e = frame.code.exprs[step.expr] if isinstance(step, ir.Evaluate) and step.expr != NONE else None
    return isinstance(e, ir.Const)
