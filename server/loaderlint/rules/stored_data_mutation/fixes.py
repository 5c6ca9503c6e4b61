"""The fix: edit a copy of what is stored."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Place, Wrap
from loaderlint.knowledge.plain_records import TEXT_READERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Literal_, MapOf, SeqOf, Unknown, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.stored_objects import Kind
from loaderlint.rules.stored_data_mutation.argument_sources import taken_out_by_callers
from loaderlint.rules.stored_data_mutation.edited_roots import root_of
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit, edits
from loaderlint.rules.stored_data_mutation.record_edits import record_edits


def copying_fixes(frame: Frame, edit: Edit, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy where the alias is bound in this def, or where it is passed to it."""
    e = model.ev.expr(frame, edit.target)
    if isinstance(root := model.ev.expr(frame, root_of(edit.target, frame, model)), ir.Param):
        return _copies(taken_out_by_callers(frame, root.index, model), kind, is_plain=False)
    if not isinstance(e, ir.Index | ir.Attr):
        return ()
    bound = model.place(frame, edit.target)
    if bound.anchor < 0 or bound.anchor >= edit.spot.place(model).anchor:
        return ()  # no name holds it: `self.data[i] += 1` has nothing to copy
    is_plain = _is_plain(model.ev.eval(edit.target, frame)) and not _is_added_to(frame, model)
    is_flat = kind == "record" and is_plain and not _is_edited_inside(edit.target, frame, model)
    return _copies([bound], "list" if is_flat else kind, is_plain)


def _is_edited_inside(record: int, frame: Frame, model: Model) -> bool:
    """Whether a frame also edits what is in a record, which a copy of the record alone shares with it."""
    exprs = frame.code.exprs
    others = {edit.record for edit in record_edits(frame, model)} | {edit.target for edit in edits(frame, model)}
    others.discard(record)
    return any(record in ir.made_of(exprs, [other]) for other in others)


def _is_added_to(frame: Frame, model: Model) -> bool:
    """Whether the constructor of the object puts anything else into a record: an open file, say."""
    if not isinstance(frame.receiver, Instance):
        return True
    return any(
        _is_plain(model.ev.eval(step.base, maker)) and not _is_plain(model.ev.eval(step.value, maker))
        for maker in model.ev.classes.construction(frame.receiver)
        for _, step in model.steps_of(maker, ir.SetItem)
    )


def _is_plain(value: Val) -> bool:
    """Whether all that an object may hold is text, numbers, and lists and dictionaries of them: a deep copy of it does
    as well. Which item of a dict it is does not matter."""
    known = value.atoms - {Unknown("looked up by a key")}
    return bool(known) and all(map(_is_plain_atom, known))


def _is_plain_atom(atom: Atom) -> bool:
    match atom:
        case LibObject(name):
            return name.rstrip("[]") in TEXT_READERS
        case SeqOf(_, items):
            return all(map(_is_plain, items))
        case MapOf(_, values):
            return all(map(_is_plain, values))
    return isinstance(atom, Literal_)


def _copies(bound: list[Place], kind: Kind, is_plain: bool) -> tuple[Fix, ...]:
    """A copy at each of these places. `is_plain`: see `_is_plain`."""
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
