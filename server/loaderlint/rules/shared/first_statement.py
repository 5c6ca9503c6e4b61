"""The first statement of a function: a fix inserts above it what must run first."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import InsertStatement, Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef
from loaderlint.project.reach.model import Model


def begun_with(statement: str, function: FunctionRef, model: Model) -> InsertStatement | None:
    """An intent that inserts a statement at the start of a function; None if its first statement is not known."""
    body = model.ev.functions.open_frame(function, None, None)
    first = first_statement(body, model) if body is not None else None
    return InsertStatement(first, statement, "before") if first is not None else None


def first_statement(frame: Frame, model: Model) -> Place | None:
    """The first statement of a function below its docstring; None for a lambda, and if it is not known."""
    one = model.ev.def_of(frame)
    if one is None or one.kind != "function":
        return None
    first = next((number for number, step in enumerate(one.steps) if not _is_docstring(step, frame)), None)
    if first is None:
        return None
    around = [*one.around(one.steps[first].context)]
    if not around:
        return model.step_place(frame, first)
    # nothing runs before the first branch: its test is in the first statement
    return model.place(frame, around[-1].expr) if around[-1].expr != NONE else None


def _is_docstring(step: ir.Step, frame: Frame) -> bool:
    e = frame.code.exprs[step.expr] if isinstance(step, ir.Evaluate) and step.expr != NONE else None
    return isinstance(e, ir.Const)
