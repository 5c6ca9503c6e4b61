"""Tables of pandas, whose rows have the order of what they are made from."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, Val
from loaderlint.project.reach.model import Model


def is_table(value: Val) -> bool:
    """Whether a value is a table or a column of pandas."""
    made = value.only(LibObject)
    return bool(made) and all(one.name.startswith("pandas.") for one in made)


def selects_rows(index: int, frame: Frame, model: Model) -> bool:
    """Whether an index gives a column of a table, or its rows for which a test holds: `rows["path"]`,
    `rows[rows.label == 1]`. A list has none of these."""
    match model.ev.expr(frame, index):
        case ir.Const("str"):
            return True
        case ir.Compare():
            return True
        case ir.Bin("&" | "|", left, right):
            return selects_rows(left, frame, model) or selects_rows(right, frame, model)
    return False
