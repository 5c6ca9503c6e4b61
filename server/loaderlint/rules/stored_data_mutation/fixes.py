"""The fix: edit a copy of what is stored."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Place, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.stored_objects import Kind
from loaderlint.rules.stored_data_mutation.argument_sources import taken_out_by_callers
from loaderlint.rules.stored_data_mutation.copied_places import copied, kind_of_holder
from loaderlint.rules.stored_data_mutation.edited_roots import root_of
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit, edits
from loaderlint.rules.stored_data_mutation.plain_data import is_plain_data
from loaderlint.rules.stored_data_mutation.record_edits import asks_first, record_edits


def copying_fixes(frame: Frame, edit: Edit, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy where the alias is bound in this def, or where it is passed to it."""
    root = root_of(edit.target, frame, model)
    if isinstance(e := model.ev.expr(frame, root), ir.Param):
        return _copies(taken_out_by_callers(frame, e.index, kind, model), kind, is_plain=False)
    found = copied(edit, frame, model)
    if found is None:
        return ()
    held = kind_of_holder(found.number, frame, model) if found.is_holder else kind
    if isinstance(e := model.ev.expr(frame, found.number), ir.Param):
        return _copies(taken_out_by_callers(frame, e.index, held, model), held, is_plain=False)
    value = model.ev.eval(found.number, frame)
    is_plain = is_plain_data(value, frame, model) and not _keeps_results(found.number, frame, model)
    is_flat = held == "record" and is_plain and not _is_edited_inside(found.number, frame, model)
    return _copies([model.place(frame, found.number)], "list" if is_flat else held, is_plain)


def _keeps_results(record: int, frame: Frame, model: Model) -> bool:
    """Whether a frame stores in a record what it has computed once: `if "image" not in record: record["image"] = ...`.
    It would compute that again for each copy."""
    exprs = frame.code.exprs
    stores = [(step.base, step.context) for _, step in model.steps_of(frame, ir.SetItem)]
    stores += [(step.base, step.context) for _, step in model.steps_of(frame, ir.SetAttr)]
    return any(
        reads_same(base, record, exprs) and asks_first(context, record, frame, model) for base, context in stores
    )


def _is_edited_inside(record: int, frame: Frame, model: Model) -> bool:
    """Whether a frame also edits what is in a record, which a copy of the record alone shares with it."""
    exprs = frame.code.exprs
    others = {edit.record for edit in record_edits(frame, model)} | {edit.target for edit in edits(frame, model)}
    others.discard(record)
    return any(record in ir.made_of(exprs, [other]) for other in others)


def _copies(bound: list[Place], kind: Kind, is_plain: bool) -> tuple[Fix, ...]:
    """A copy at each of these places. `is_plain`: see `plain_data`."""
    if not bound:
        return ()
    before, after, how = {
        "array": ("{numpy}.copy(", ")", "np.copy(...)"),
        "tensor": ("", ".clone()", ".clone()"),
        "list": ("", ".copy()", ".copy()"),
        "record": ("{copy}.deepcopy(", ")", "copy.deepcopy(...)"),
        "unknown": ("{copy}.deepcopy(", ")", "copy.deepcopy(...)"),
    }[kind]
    wraps = tuple(Wrap(place, before, after) for place in bound)
    is_known = is_plain or kind not in ("record", "unknown")
    return (Fix(f"Edit a copy: `{how}`", "safe" if is_known else "unsafe", wraps),)
