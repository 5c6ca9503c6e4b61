"""The fix: add the epoch to the seed."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Wrap
from loaderlint.project.reach.model import Model
from loaderlint.rules.constant_epoch_seed.seeds_in_loops import Seeding
from loaderlint.rules.shared.epoch_passes import named_turn


def epoch_fix(seeding: Seeding, model: Model) -> Fix | None:
    """Add the epoch to a seed that is written in the call itself."""
    frame, number = seeding.call.frame, seeding.seed
    turn = named_turn(seeding.loop, frame, model)
    if turn is None or number is None:
        return None
    e = model.ev.expr(frame, number)
    place = model.place(frame, number)
    literals = [getattr(atom, "kind", "int") for atom in model.ev.eval(number, frame).atoms]
    simple = isinstance(e, ir.Const | ir.Attr | ir.Global)
    if not simple or place.anchor < model.place(frame, seeding.call.number).anchor or set(literals) != {"int"}:
        return None
    epoch, renamed = turn
    return Fix("Add the epoch to the seed", "unsafe", (*renamed, Wrap(place, "", f" + {epoch}")))
