"""Edits that replace numbers of an array by others: `mask[mask == 4] = 3`, `boxes[np.isnan(boxes[:, 0])] = [0, 0]`.
Whether they change anything when they are done again is tried out with numbers that tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import product
from types import MappingProxyType

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.stored_data_mutation.edited_roots import edits_of_root, root_of

#: A column of an array, `_ITEM` for each item by itself, `_REST` for all columns that are not named.
_Column = int | str
_ITEM, _REST = "item", "rest"
#: The numbers of one row.
_Row = Mapping[_Column, float]

_COMPARED: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        "==": lambda one, limit: one == limit,
        "!=": lambda one, limit: one != limit,
        "<": lambda one, limit: one < limit,
        "<=": lambda one, limit: one <= limit,
        ">": lambda one, limit: one > limit,
        ">=": lambda one, limit: one >= limit,
    }
)
_KINDS: Mapping[str, Callable[[float], bool]] = MappingProxyType(
    {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}
)
_ODD = (math.nan, math.inf, -math.inf)
#: What no test and no edit names.
_OTHER = 0.123456789

_MODULES = ("numpy.", "torch.")
#: What tells nothing of the numbers in an array.
_OF_SHAPE = frozenset("shape dtype ndim size device".split())
_MAX_ROWS = 2000
_MAX_DEPTH = 8


class _Selector(Struct, frozen=True):
    """What selects items or rows: whether it selects one, and the numbers that its tests name, each with its column."""

    selects: Callable[[_Row], bool]
    told: tuple[tuple[_Column, float], ...]


class _Replacement(Struct, frozen=True):
    """`x[selector] = number`, for a column `x[selector, 2] = number`, for rows also `x[selector] = [0, 5]`. `seen`: how
    many edits of the array come before the selector is computed."""

    selector: _Selector
    written: _Row
    seen: int

    def of(self, row: _Row) -> _Row:
        """A row that is selected, afterwards."""
        return {column: self.written.get(column, self.written.get(_REST, one)) for column, one in row.items()}


def replaces_numbers(step: ir.SetItem, frame: Frame, model: Model) -> bool:
    """Whether the edits of an array in a def only replace numbers, nothing reads it before them, and a second time
    replaces none: `mask[mask == 4] = 3`, but not `mask[mask == 1] = 2` and then `mask[mask == 0] = 1`."""
    root = root_of(step.base, frame, model)
    if _replacement(step, (), root, frame, model) is None:
        return False
    edits = edits_of_root(root, frame, model)
    steps = [number for number, _ in edits.items]
    replacements = [_replacement(one, steps, root, frame, model) for _, one in edits.items]
    known = [one for one in replacements if one is not None]
    others = bool(edits.augments) or len(known) < len(replacements)
    if others or any(one.context != step.context for _, one in edits.items):
        return False
    if is_read_before(steps[0], root, {one.index for _, one in edits.items}, frame, model):
        return False
    return not _is_told_elsewhere(root, dict(edits.items), frame, model) and _is_idempotent(known)


def _replacement(step: ir.SetItem, steps: Sequence[int], root: int, frame: Frame, model: Model) -> _Replacement | None:
    """What a step replaces. `steps`: the edits of the array, of which the selector may be computed before some."""
    selecting = _selecting(step, frame)
    selector = _selector(selecting, root, frame, model)
    written = _written(step, frame, model) if selector is not None else {}
    if selector is None or not written:
        return None
    if any(column == _ITEM for column, _ in selector.told):
        if written.keys() != {_REST}:
            return None
        written = {_ITEM: written[_REST]}
    at = frame.code.evaluated_by(selecting)
    seen = sum(other < at for other in steps) if at is not None else len(steps)
    return _Replacement(selector, written, seen)


def _selecting(step: ir.SetItem, frame: Frame) -> int:
    """What selects the rows that a step assigns to, or a column of them."""
    e = frame.code.exprs[step.index] if step.index != ir.NONE else None
    return e.items[0] if isinstance(e, ir.Seq) and len(e.items) == 2 else step.index


def _written(step: ir.SetItem, frame: Frame, model: Model) -> dict[_Column, float]:
    """The numbers that a step writes into each row that it selects; empty if they are not known."""
    exprs = frame.code.exprs
    number, index = number_of(step.value, frame, model), exprs[step.index]
    if isinstance(index, ir.Seq):
        column = _constant(index.items[1], frame, model) if len(index.items) == 2 else None
        return {} if number is None or column is None else {column: number}
    if number is not None:
        return {_REST: number}
    value = exprs[step.value]
    if not isinstance(value, ir.Seq):
        return {}
    numbers = [number_of(item, frame, model) for item in value.items]
    known: dict[_Column, float] = {column: one for column, one in enumerate(numbers) if one is not None}
    return known if len(numbers) == len(known) > 1 else {}


def _selector(number: int, root: int, frame: Frame, model: Model, depth: int = 0) -> _Selector | None:
    """How an expression selects items of an array or, by its columns, rows."""
    if number == ir.NONE or depth > _MAX_DEPTH:
        return None
    match frame.code.exprs[number]:
        case ir.Compare(left, (op,), (right,)) if op in _COMPARED:
            column, limit, holds = _column(left, root, frame, model), number_of(right, frame, model), _COMPARED[op]
            if column is None or limit is None:
                return None
            return _Selector(lambda row: holds(row[column], limit), ((column, limit),))
        case ir.Unary("~", operand):
            inner = _selector(operand, root, frame, model, depth + 1)
            return None if inner is None else _Selector(lambda row: not inner.selects(row), inner.told)
        case ir.Bin("&" | "|" as op, left, right):
            sides = [_selector(side, root, frame, model, depth + 1) for side in (left, right)]
            known = [side for side in sides if side is not None]
            how = all if op == "&" else any
            told = tuple(one for side in known for one in side.told)
            return _Selector(lambda row: how(s.selects(row) for s in known), told) if len(known) == 2 else None
        case ir.Call():
            word, data = applied(number, frame, model)
            kind, read = _KINDS.get(word), _column(data, root, frame, model)
            if kind is None or read is None:
                return None
            return _Selector(lambda row: kind(row[read]), tuple((read, odd) for odd in _ODD))
    return None


def _column(number: int, root: int, frame: Frame, model: Model) -> _Column | None:
    """The column of an array that an expression reads; `_ITEM` for the array itself, None for another expression."""
    if number == root:
        return _ITEM
    e = model.ev.expr(frame, number)
    index = model.ev.expr(frame, e.index) if isinstance(e, ir.Index) and e.base == root else None
    if not isinstance(index, ir.Seq) or len(index.items) != 2:
        return None
    match model.ev.expr(frame, index.items[0]):
        case ir.Slice(ir.NONE, ir.NONE, ir.NONE) | ir.Const("ellipsis"):
            return _constant(index.items[1], frame, model)
    return None


def _constant(number: int, frame: Frame, model: Model) -> int | None:
    """A column that is known by its number."""
    literal = model.ev.eval(number, frame).literal
    return literal.value if literal is not None and isinstance(literal.value, int) else None


def number_of(number: int, frame: Frame, model: Model) -> float | None:
    """The number that an expression is; None if it is not known."""
    literal = model.ev.eval(number, frame).literal
    value = literal.value if literal is not None else None
    return float(value) if isinstance(value, int | float) else None


# --- a second time ----------------------------------------------------------------------------------------------------


def _is_idempotent(replacements: Sequence[_Replacement]) -> bool:
    """Whether replacing twice is replacing once, judging by each number that is named, and one between any two."""
    rows = list(_telling_rows(replacements))
    return bool(rows) and all(_is_stable(_replaced(row, replacements), replacements) for row in rows)


def _is_stable(row: _Row, replacements: Sequence[_Replacement]) -> bool:
    return repr(_replaced(row, replacements)) == repr(row)  # NaN is not equal to itself


def _telling_rows(replacements: Sequence[_Replacement]) -> Iterator[_Row]:
    """Rows with each number that the tests may tell apart; none if there are too many, if some tests are about items
    and others about rows, or if a column that is counted from the last may be another one too."""
    tested = {column for one in replacements for column, _ in one.selector.told}
    written = {column for one in replacements for column in one.written}
    named = (tested | written) - {_REST}
    if len(named) > 1 and any(one == _ITEM or (isinstance(one, int) and one < 0) for one in named):
        return
    numbers = {each for one in replacements for each in (*one.written.values(), *(n for _, n in one.selector.told))}
    known = sorted(filter(math.isfinite, numbers))
    between = [(one + other) / 2 for one, other in zip(known, known[1:], strict=False)]
    around = [known[0] - 1, known[-1] + 1] if known else []
    choices = [*known, *between, *around, *(one for one in _ODD if len(known) < len(numbers))]
    columns = sorted(tested | written, key=str)
    if len(choices) ** len(tested) > _MAX_ROWS:
        return
    for row in product(*(choices if column in tested else [_OTHER] for column in columns)):
        yield dict(zip(columns, row, strict=True))


def _replaced(row: _Row, replacements: Sequence[_Replacement]) -> _Row:
    states = [row]
    for one in replacements:
        seen = states[min(one.seen, len(states) - 1)]
        states.append(one.of(states[-1]) if one.selector.selects(seen) else states[-1])
    return states[-1]


# --- what else reads it -----------------------------------------------------------------------------------------------


def is_read_before(step: int, root: int, operands: Set[int], frame: Frame, model: Model) -> bool:
    """Whether a def reads the numbers of an array before it edits them, not only as operands of the edits: a second
    time it reads others."""
    exprs = frame.code.exprs
    used = set(ir.made_of(exprs, operands))
    for number in model.ev.evaluated(frame):
        e = exprs[number]
        if root not in ir.operands(e) or number in used or (isinstance(e, ir.Attr) and e.name in _OF_SHAPE):
            continue
        if is_evaluated_before(step, number, frame):
            return True
    return False


def is_evaluated_before(step: int, number: int, frame: Frame) -> bool:
    """Whether an expression is evaluated before a step."""
    at = frame.code.evaluated_by(number)
    return at is None or at < step


def _is_told_elsewhere(root: int, edits: Mapping[int, ir.SetItem], frame: Frame, model: Model) -> bool:
    """Whether a def uses what tells which items are replaced for something else too: the mask is another one the second
    time."""
    exprs = frame.code.exprs
    indices = {step.index for step in edits.values()}
    told = {one for one in ir.made_of(exprs, indices) if one != root and root in ir.made_of(exprs, [one])}
    if any(not told.isdisjoint(ir.operands(exprs[one])) for one in model.ev.evaluated(frame) if one not in told):
        return True
    return any(
        not told.isdisjoint(ir.step_expressions(step))
        for number, step in model.steps(frame)
        if number not in edits and not isinstance(step, ir.Bind | ir.Perform | ir.Evaluate)
    )


def applied(number: int, frame: Frame, model: Model) -> tuple[str, int]:
    """The name of a function of NumPy or torch, or of a method, and the data that it is applied to."""
    call = frame.code.exprs[number]
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or func is None:
        return "", ir.NONE
    names = [atom.name for atom in model.ev.eval(call.func, frame).atoms if isinstance(atom, Lib)]
    if names:
        is_known = names[0].startswith(_MODULES) and bool(call.args)
        return (names[0].rpartition(".")[2], call.args[0].value) if is_known else ("", ir.NONE)
    return (func.name, func.base) if isinstance(func, ir.Attr) else ("", ir.NONE)
