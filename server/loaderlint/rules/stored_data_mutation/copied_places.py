"""What has to be copied so that an edit changes no stored data, and the code still sees the edit wherever it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.stored_objects import Kind, container_kind
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit

#: In how many containers, one in another, what is edited may be.
_MAX_HOLDERS = 6


class Copied(NamedTuple):
    """The expression to copy, and whether the edit changes something inside what it gives."""

    number: int
    is_holder: bool


def copied(edit: Edit, frame: Frame, model: Model) -> Copied | None:
    """What to copy: what is edited, if a name holds it, or else the innermost container of it that a name holds.

    If the code reads the edit through a container (`boxes = record["boxes"]`, `boxes += 1`, `return record`), the copy
    is of that container or of one around it. None if no name holds it, or if nothing would read the edit of a copy.
    """
    levels = [edit.target, *_holders(edit.target, frame, model)]
    least = _least_level(levels, frame, model)
    if least == 0:
        return Copied(edit.target, False) if _is_copied_at(edit.target, edit, frame, model) else None
    for one in levels[least:]:
        if _is_named(one, frame, model) and _is_copied_at(one, edit, frame, model):
            return Copied(one, True)
    return None


def copied_argument(number: int, kind: Kind, frame: Frame, model: Model) -> int:
    """What to copy so that a call passes a copy: the argument, or a container of it through which the def reads it as
    well, if that has a name and is of the same kind. NONE if there is nothing."""
    levels = [number, *_holders(number, frame, model)]
    least = _least_level(levels, frame, model)
    if least == 0:
        return number
    for one in levels[least:]:
        is_taken_out = isinstance(model.ev.expr(frame, one), ir.Index | ir.Attr)
        if is_taken_out and _is_named(one, frame, model) and kind_of_holder(one, frame, model) == kind:
            return one
    return NONE


def kind_of_holder(number: int, frame: Frame, model: Model) -> Kind:
    """The kind of a container that is copied for what is in it."""
    value = model.ev.eval(number, frame)
    kinds = {container_kind(origin, value, model) for origin in value.origins}
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _least_level(levels: Sequence[int], frame: Frame, model: Model) -> int:
    """The innermost of these containers, one in another, of which a copy shows an edit to all who read it."""
    pairs = enumerate(zip(levels, levels[1:], strict=False), 1)
    return max((level for level, pair in pairs if _is_read_besides(*pair, frame, model)), default=0)


def _holders(target: int, frame: Frame, model: Model) -> list[int]:
    """The containers that hold what is edited, from the innermost on; not the whole that an attribute of an object
    holds."""
    found: list[int] = []
    while len(found) < _MAX_HOLDERS:
        match model.ev.expr(frame, found[-1] if found else target):
            case ir.Index(holder) | ir.Attr(holder) | ir.Element(holder):
                if any("[]" not in origin.path for origin in model.ev.eval(holder, frame).origins):
                    break
                found.append(holder)
            case _:
                break
    return found


def _is_copied_at(number: int, edit: Edit, frame: Frame, model: Model) -> bool:
    """Whether a name, or a parameter, gets an object before the edit. `self.data[i] += 1` has nothing to copy."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Param):
        return True
    bound = model.place(frame, number).anchor if isinstance(e, ir.Index | ir.Attr) else -1
    return 0 <= bound < edit.spot.place(model).anchor


def _is_named(number: int, frame: Frame, model: Model) -> bool:
    """Whether a container has a name of its own: each `self.data[i]` in `self.data[i]["boxes"]` is taken out anew."""
    if isinstance(model.ev.expr(frame, number), ir.Param):
        return True
    return any(step.value == number for _, step in model.steps_of(frame, ir.Bind))


# --- who reads an edit ------------------------------------------------------------------------------------------------


def _is_read_besides(inner: int, holder: int, frame: Frame, model: Model) -> bool:
    """Whether a def lets out a container, or reads what is edited in it, in another way than by `inner`. A parameter of
    a def that returns nothing is what the caller goes on with."""
    exprs = frame.code.exprs
    if isinstance(exprs[holder], ir.Param) and not _returns(frame, model):
        return True
    steps = [step for _, step in model.steps(frame)]
    evaluated = set(ir.made_of(exprs, (one for step in steps for one in ir.step_expressions(step)))) - {inner}
    by_expressions = any(
        reads_same(operand, holder, exprs) and _may_read(exprs[number], operand, inner, exprs)
        for number in evaluated
        for operand in ir.operands(exprs[number])
    )
    return by_expressions or any(_lets_out(step, holder, inner, exprs) for step in steps)


def _may_read(e: ir.Expr, holder: int, inner: int, exprs: Sequence[ir.Expr]) -> bool:
    """Whether an expression that uses the container may read the same part of it as `inner`."""
    match e, exprs[inner]:
        case ir.Index(base, index), ir.Index(_, edited) if base == holder:
            return _may_be_equal(index, edited, exprs)
        case ir.Attr(base, name), ir.Attr(_, edited_name) if base == holder:
            return name == edited_name
    return True


def _lets_out(step: ir.Step, holder: int, inner: int, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a step gives the container away, or stores something in the place of what is edited."""
    given = step.value if isinstance(step, ir.Return | ir.YieldStep | ir.SetItem | ir.SetAttr) else NONE
    if given != NONE and reads_same(given, holder, exprs):
        return True
    edited = exprs[inner]
    if isinstance(step, ir.SetItem) and isinstance(edited, ir.Index):
        return reads_same(step.base, holder, exprs) and _may_be_equal(step.index, edited.index, exprs)
    if isinstance(step, ir.SetAttr) and isinstance(edited, ir.Attr):
        return reads_same(step.base, holder, exprs) and step.name == edited.name
    return False


def _may_be_equal(one: int, other: int, exprs: Sequence[ir.Expr]) -> bool:
    """Whether two indexes may be the same. Only two different constants are not."""
    if one == NONE or other == NONE:
        return True
    a, b = exprs[one], exprs[other]
    return not (isinstance(a, ir.Const) and isinstance(b, ir.Const)) or a == b


def _returns(frame: Frame, model: Model) -> bool:
    """Whether a def gives its caller something."""
    return any(
        isinstance(step, ir.YieldStep) or (isinstance(step, ir.Return) and step.value != NONE)
        for _, step in model.steps(frame)
    )
