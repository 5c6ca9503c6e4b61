"""Stored data that `copy.deepcopy` copies without any doubt: texts, numbers, arrays of NumPy, and containers of Python
that hold nothing else. The copy has the same values, and what is changed in it stays in it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.plain_records import PLAIN_LOADERS, TEXT_READERS
from loaderlint.knowledge.value_types import ARRAY, type_made_by
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Literal_, MapOf, SeqOf, Unknown, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.stored_data_mutation.declared_data import is_declared_plain

_ANY_ITEM = Unknown("looked up by a key")  # which item of a dict it is does not matter


def is_plain_data(value: Val, frame: Frame, model: Model) -> bool:
    """Whether the code or annotations show that a stored value is plain, and nothing else is put into it."""
    if not _is_plain(value) and not (is_declared_plain(value, model) and _may_be_plain(value)):
        return False
    owners = {origin.owner for origin in value.origins} | {frame.receiver}
    return all(isinstance(owner, Instance) and not _is_added_to(owner, model) for owner in owners)


def _is_added_to(owner: Instance, model: Model) -> bool:
    """Whether the constructor of an object puts anything else into a record: an open file, say."""
    return any(
        _may_be_plain(model.ev.eval(step.base, maker)) and not _stays_plain(step, maker, model)
        for maker in model.ev.classes.construction(owner)
        for _, step in model.steps_of(maker, ir.SetItem)
    )


def _stays_plain(step: ir.SetItem, maker: Frame, model: Model) -> bool:
    """Whether a record gets something plain. Of what the code does not show, the annotation of the record tells."""
    stored = model.ev.eval(step.value, maker)
    if _is_plain(model.ev.eval(step.base, maker)):
        return _is_plain(stored)
    return _may_be_plain(stored)


# --- what the code shows ----------------------------------------------------------------------------------------------


def _is_plain(value: Val) -> bool:
    known = value.atoms - {_ANY_ITEM}
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


def _may_be_plain(value: Val) -> bool:
    """Whether the code does not show a value to be something else."""
    return all(map(_may_be_plain_atom, value.atoms))


def _may_be_plain_atom(atom: Atom) -> bool:
    match atom:
        case LibObject(name):
            return name.rstrip("[]") in PLAIN_LOADERS or _may_give_plain(name)
        case SeqOf(_, items):
            return all(map(_may_be_plain, items))
        case MapOf(_, values):
            return all(map(_may_be_plain, values))
    return isinstance(atom, Literal_ | Unknown)


def _may_give_plain(name: str) -> bool:
    """Whether a chain of library calls gives an array, or what is only known by its annotation: the call of no class,
    and of nothing else whose result has a known class."""
    kind = type_made_by(name.rstrip("[]"))
    if kind:
        return kind == ARRAY or kind.startswith("builtins.")
    return name != "builtins.open" and not name.rpartition(".")[2][:1].isupper()
