"""The fix: edit a copy of what is stored."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Place, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.stored_objects import Kind
from loaderlint.rules.stored_data_mutation.argument_sources import taken_out_by_callers
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit, root_of


def copying_fixes(frame: Frame, edit: Edit, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy where the alias is bound in this def, or where it is passed to it."""
    e = model.ev.expr(frame, edit.target)
    if isinstance(root := model.ev.expr(frame, root_of(edit.target, frame, model)), ir.Param):
        return _copies(taken_out_by_callers(frame, root.index, model), kind)
    if not isinstance(e, ir.Index | ir.Attr):
        return ()
    bound = model.place(frame, edit.target)
    if bound.anchor < 0 or bound.anchor >= edit.spot.place(model).anchor:
        return ()  # no name holds it: `self.data[i] += 1` has nothing to copy
    return _copies([bound], kind)


def _copies(bound: list[Place], kind: Kind) -> tuple[Fix, ...]:
    """A copy at each of these places."""
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
    return (Fix(f"Edit a copy: `{how}`", "unsafe" if kind in ("record", "unknown") else "safe", wraps),)
