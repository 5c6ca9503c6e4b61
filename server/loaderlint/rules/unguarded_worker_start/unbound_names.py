"""Names that a script always reads before it starts workers, and that nothing binds: it raises NameError instead."""

from __future__ import annotations

from loaderlint.project.evaluation.values import DefKey
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import Start


def unbound_before(start: Start, model: Model) -> str:
    """A name that a script always reads at module level before it starts workers, although nothing binds it; '' if
    there is none."""
    path, piece = start.place.path, start.place.piece
    for before in model.failing.pieces_before(path, piece):
        if found := _unbound_in((path, before, 0), {0}, None, model):
            return found
    one = model.ev.body(path, piece).code.one
    if one is None:
        return ""
    around = {0, *one.enclosing(one.steps[start.step].context)}
    return _unbound_in((path, piece, 0), around, start.step, model)


def _unbound_in(key: DefKey, contexts: set[int], last: int | None, model: Model) -> str:
    """The first such name among the steps of a def in some contexts, up to step `last`."""
    facts = model.ev.facts(key[0], key[1])
    steps = facts.ir.defs[key[2]].steps if facts is not None else ()
    reads = model.failing.unbound_in(key)
    return next((n for at, n in reads if (last is None or at <= last) and steps[at].context in contexts), "")
