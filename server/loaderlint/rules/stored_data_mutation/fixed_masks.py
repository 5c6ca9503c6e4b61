"""Items that a mask selects and that get the same each time: `soft[grid == 0] = 0`, with a grid that does not depend on
`soft`. Nothing changes after the first read of the sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import KEEPS_SHAPE, VIEW_METHODS, VIEWS
from loaderlint.project.evaluation.frames import Frame, is_mask_expression
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.stored_data_mutation.fixed_values import OF_SHAPE, Edited, FixedValues
from loaderlint.rules.stored_data_mutation.replaced_numbers import applied, is_evaluated_before, number_of
from loaderlint.rules.stored_data_mutation.settled_edits import is_by_chance

#: How an edit goes on: done again it changes nothing and nothing has read the data before, or something has.
Settled = Literal["unread", "read before", ""]

_MAX_DEPTH = 24


class _Way(NamedTuple):
    """How a frame comes by an object: the expressions that lead to it, and the step before which others that read it
    see it as it was."""

    frame: Frame
    numbers: tuple[int, ...]
    step: int


def settled_by_mask(spot: Spot, model: Model) -> Settled:
    """Whether an edit gives items that a mask selects the same each time."""
    frame = spot.frame
    step = frame.code.one.steps[spot.number] if frame.code.one is not None and spot.kind == "step" else None
    if not isinstance(step, ir.SetItem) or not is_mask_expression(model.ev.expr(frame, step.index)):
        return ""
    ways = _ways(spot.number, step, model, frame)
    edited = {way.frame: Edited((*_keys(way),), way.step, frozenset(_left_out(way))) for way in ways}
    fixed = FixedValues(edited, model)
    is_fixed = all(fixed.is_fixed(one, frame) for one in (step.index, step.value))
    if not is_fixed or is_by_chance(step.context, frame, model):
        return ""
    return "read before" if any(_is_read(way, step, frame, model) for way in ways) else "unread"


def _ways(number: int, step: ir.SetItem, model: Model, frame: Frame) -> list[_Way]:
    """How the function that edits comes by the object, and, where it is a parameter, the callers."""
    ways: list[_Way] = []
    one = step.base
    while len(ways) < _MAX_DEPTH:
        numbers = tuple(_line(one, frame, model))
        ways.append(_Way(frame, numbers, number))
        last = frame.code.exprs[numbers[-1]]
        passed = list(passed_for(frame, last.index, model)) if isinstance(last, ir.Param) else []
        if len(passed) != 1 or passed[0].number == NONE:
            break
        calls = [at for caller, at in model.callers_of(frame) if caller == passed[0].frame]
        frame, one = passed[0]
        called = frame.code.evaluated_by(calls[0])
        if called is None:
            break
        number = called
    return ways


def _line(number: int, frame: Frame, model: Model) -> Iterator[int]:
    """An expression, and those whose object it is a part or a view of: `from_numpy(self.rows[i])`, `self.rows[i]`,
    `self.rows`."""
    exprs = frame.code.exprs
    for _ in range(_MAX_DEPTH):
        yield number
        match exprs[number]:
            case ir.Index(base) | ir.Element(base) | ir.Unpack(base):
                number = base
            case ir.Augmented(_, target):
                number = target
            case ir.Phi(choices):
                stored = [one for one in choices if model.ev.eval(one, frame).origins]
                if len(stored) != 1:
                    return
                number = stored[0]
            case ir.Attr(base) if not ir.is_self(exprs[base]):
                number = base
            case ir.Call(func, args):
                e = exprs[func]
                if args and any(isinstance(a, Lib) and a.name in VIEWS for a in model.ev.eval(func, frame).atoms):
                    number = args[0].value
                elif isinstance(e, ir.Attr) and e.name in VIEW_METHODS:
                    number = e.base
                else:
                    return
            case _:
                return


def _left_out(way: _Way) -> Iterator[int]:
    """The branches that give a name of an object something else: `if self.augment: mask = changed(mask)`."""
    code = way.frame.code
    for number in way.numbers:
        e = code.exprs[number]
        for one in e.choices if isinstance(e, ir.Phi) else ():
            bound = code.bindings.get(one, ()) if one not in way.numbers else ()
            yield from (step.context for _, step in bound if step.context)


def _keys(way: _Way) -> Iterator[int]:
    """The expressions that tell which of several objects it is: `i` in `self.rows[i]`, the item of a loop."""
    exprs = way.frame.code.exprs
    for number in way.numbers:
        e = exprs[number]
        if isinstance(e, ir.Index):
            yield e.index
        elif isinstance(e, ir.Element):
            yield number


# --- what reads it before ---------------------------------------------------------------------------------------------


def _is_read(way: _Way, step: ir.SetItem, edited_in: Frame, model: Model) -> bool:
    """Whether a frame reads an object, or another part of what it is taken from, before the edit, and keeps what it has
    read where the mask selects items."""
    frame, exprs = way.frame, way.frame.code.exprs
    evaluated = model.ev.evaluated(frame)
    same = {one for one in evaluated if _is_same(one, way.numbers, exprs)}
    leading = set(way.numbers)
    overwritten = _overwritten(step, leading | same, frame, model) if frame == edited_in else frozenset()
    for one in evaluated - leading - same - overwritten:
        read = (leading | same).intersection(ir.operands(exprs[one]))
        if read and is_evaluated_before(way.step, one, frame) and not _tells_other(one, read, way, model):
            return True
    return False


def _is_same(number: int, line: Sequence[int], exprs: Sequence[ir.Expr]) -> bool:
    return isinstance(exprs[number], ir.Index) and any(reads_same(number, one, exprs) for one in line)


def _tells_other(number: int, read: set[int], way: _Way, model: Model) -> bool:
    """Whether an expression that uses an object reads nothing of its numbers: its shape, or another part of a record.
    The call that passes it on does not count either."""
    frame, exprs = way.frame, way.frame.code.exprs
    e = exprs[number]
    match e:
        case ir.Attr(_, name) if name in OF_SHAPE or name in VIEW_METHODS:
            return True
        case ir.Index(base, index) if base in read:
            key = exprs[index]
            keys = [exprs[other.index] for n in way.numbers if isinstance(other := exprs[n], ir.Index)]
            return isinstance(key, ir.Const) and key.kind == "str" and key not in keys
        case ir.Call():
            return applied(number, frame, model)[0] in OF_SHAPE or frame.code.evaluated_by(number) == way.step
    return False


def _overwritten(step: ir.SetItem, read: set[int], frame: Frame, model: Model) -> frozenset[int]:
    """The expressions that make copies of an object of which the same mask later selects items that get a number."""
    found: set[int] = set()
    bases: set[int] = set()
    for _, other in model.steps_of(frame, ir.SetItem):
        if other.index == step.index and other != step and number_of(other.value, frame, model) is not None:
            found.update(_item_by_item(other.base, frame, model))
            bases.add(other.base)
    found -= read
    exprs = frame.code.exprs
    used = {one for n in model.ev.evaluated(frame) - found for one in ir.operands(exprs[n])}
    return frozenset(found) if used.isdisjoint(found - bases) else frozenset()


def _item_by_item(number: int, frame: Frame, model: Model) -> Iterator[int]:
    """The expressions that compute an array from another one, item by item: `torch.from_numpy(x > 0.1).float()`."""
    exprs = frame.code.exprs
    for _ in range(_MAX_DEPTH):
        yield number
        match exprs[number]:
            case ir.Compare(left, (_,), (right,)) if number_of(right, frame, model) is not None:
                number = left
            case ir.Bin(_, left, right) if number_of(right, frame, model) is not None:
                number = left
            case ir.Call(func, _):
                word, data = applied(number, frame, model)
                if data == NONE or word not in KEEPS_SHAPE | {"from_numpy", "asarray", "array"}:
                    return
                if isinstance(exprs[func], ir.Attr):
                    yield func
                number = data
            case _:
                return
