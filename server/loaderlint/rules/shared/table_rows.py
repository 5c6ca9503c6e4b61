"""Tables of pandas, whose rows have the order of what they are made from."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.module_names import module_names

_MAX_DEPTH = 8
#: Methods of columns that tell something about each row.
_TELLING = frozenset("apply astype between duplicated eq ge gt isin isna isnull le lt map ne notna notnull".split())
#: Those of the texts in a column: `rows.path.str.endswith(".png")`.
_OF_TEXTS = frozenset("contains endswith fullmatch isdigit match startswith".split())


def is_table(value: Val) -> bool:
    """Whether a value is a table or a column of pandas."""
    made = value.only(LibObject)
    return bool(made) and all(one.name.startswith("pandas.") for one in made)


def selects_rows(index: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an index gives columns of a table, or its rows for which a test holds: `rows["path"]`,
    `rows[rows.label == 1]`, `rows.loc[rows.path.isin(known), "path"]`. A list has none of these."""
    if depth > _MAX_DEPTH:
        return False
    match model.ev.expr(frame, index):
        case ir.Const("str"):
            return True
        case ir.Compare():
            return True
        case ir.Unary("~", operand):
            return selects_rows(operand, frame, model, depth + 1)
        case ir.Bin("&" | "|", left, right):
            return any(selects_rows(side, frame, model, depth + 1) for side in (left, right))
        case ir.Seq("list", items):
            return bool(items) and all(isinstance(model.ev.expr(frame, item), ir.Const) for item in items)
        case ir.Seq("tuple", (rows, _)):
            return selects_rows(rows, frame, model, depth + 1)
        case ir.Call(func):
            return _tells_of_rows(func, frame, model)
        case ir.Global(name):
            bound = [pair for one in module_names(name, frame, model) for pair in one.bound]
            return any(selects_rows(value, body, model, depth + 1) for body, value in bound)
    return False


def _tells_of_rows(func: int, frame: Frame, model: Model) -> bool:
    """Whether a call asks something about each row of a column: `rows.label.isin((1, 2))`."""
    method = model.ev.expr(frame, func)
    if not isinstance(method, ir.Attr):
        return False
    texts = model.ev.expr(frame, method.base)
    return method.name in _TELLING or (method.name in _OF_TEXTS and isinstance(texts, ir.Attr) and texts.name == "str")
