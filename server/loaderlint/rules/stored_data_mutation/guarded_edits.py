"""Edits under a lock that all processes share: such data is meant to change."""

from __future__ import annotations

import re

from loaderlint.project.evaluation.values import LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.unresolved_places import Spot

#: Why an edit is no mistake.
GUARDED = "it is edited under a lock that all processes share: it is meant to change"

_LOCK = re.compile(r"(?:torch\.)?multiprocessing\.(?:.+\.)?(?:R?Lock|get_lock)")


def is_guarded(spot: Spot, model: Model) -> bool:
    """Whether an edit is in the body of `with lock:`, with a lock of `multiprocessing`. One of `threading` is each
    process's own."""
    around = model.def_of(spot.frame).around(spot.context)
    held = (model.ev.eval(one.expr, spot.frame).atoms for one in around if one.kind == "with")
    return any(
        atoms and all(isinstance(atom, LibObject) and _LOCK.fullmatch(atom.name) for atom in atoms) for atoms in held
    )
