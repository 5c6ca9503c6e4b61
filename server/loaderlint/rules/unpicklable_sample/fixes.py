"""The fix: return what can be pickled."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Wrap
from loaderlint.knowledge.handles import OPENERS
from loaderlint.project.evaluation.values import LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.unpicklable_sample.unpicklable_results import UnpicklableResult


def picklable_fixes(one: UnpicklableResult, model: Model) -> tuple[Fix, ...]:
    """Detach a tensor, or return what a file holds; none for other objects."""
    place = model.place(one.frame, one.number)
    if place.anchor < 0:
        return ()
    if one.word == "a tensor that requires grad":
        file = model.files.file(one.frame.path)
        piece = file.pieces[one.frame.piece] if file else None
        used = piece is None or piece.holds("backward") or piece.holds("autograd")
        return (Fix("Detach the tensor", "unsafe" if used else "safe", (Wrap(place, "", ".detach()"),)),)
    opened = isinstance(one.atom, LibObject) and one.atom.name in OPENERS and one.word == "an open file"
    if opened and isinstance(model.ev.expr(one.frame, one.number), ir.Call) and not _is_bound(one, model):
        return (Fix("Return what is read", "unsafe", (Wrap(place, "", ".read()"),)),)
    return ()


def _is_bound(one: UnpicklableResult, model: Model) -> bool:
    steps = model.def_of(one.frame).steps
    return any(isinstance(step, ir.Bind) and step.value == one.number for step in steps)
