"""How long a change of stored data lasts."""

from __future__ import annotations

from typing import Literal, NamedTuple

from loaderlint.project.evaluation.values import Origin
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.shared.stored_objects import Kind, Memory
from loaderlint.rules.shared.wording import in_workers_of, loaders_of
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit


class StoredEdit(NamedTuple):
    """An edit of stored data: of which kind it is, where it is stored, in which memory, and whether it changes nothing
    after the first time, `settles`: only what is read before it, or nothing if a factor is greater than 0."""

    edit: Edit
    kind: Kind
    origin: Origin
    held: Memory
    settles: Literal["", "read before", "if positive"] = ""


def when_seen(one: StoredEdit, exposure: Exposure, model: Model) -> str:
    """When the change is seen."""
    if one.held == "file":
        return "and the file that it is mapped from"
    if one.settles == "if positive":
        return "which is harmless only while what it is multiplied by is greater than 0"
    if one.settles:
        return "so what is read of it before may differ after the first time"
    if exposure.lead.out_of_sight:
        return "so each read changes it a little more, without workers or with persistent ones"
    if lasts(exposure.lead, one, model):
        return f"so every epoch of {loaders_of(exposure)} changes it a little more"
    until = "until the epoch ends, or for ever without workers or with persistent ones"
    return f"and the change lasts {in_workers_of(exposure)} {until}"


def never_seen(exposure: Exposure) -> str:
    """What would have to happen for the change to be seen."""
    return f"and a second pass over {loaders_of(exposure)} would get the change, but the program makes only one"


def lasts(loader: Loader, one: StoredEdit, model: Model) -> bool:
    """Whether the changes stay: no workers, workers that live on, or memory that is really shared."""
    if loader.out_of_sight:
        return False
    if loader.has_workers() == "no" or loader.persistent or one.held == "shared":
        return True
    forked = "fork" in model.start_methods.of(loader)
    return forked if one.held == "file" else one.kind == "tensor" and not forked
