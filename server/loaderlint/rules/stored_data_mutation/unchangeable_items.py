"""Stored objects that nothing can change in place: texts, numbers, bytes and paths."""

from __future__ import annotations

from loaderlint.knowledge.listings import LISTINGS
from loaderlint.knowledge.paths import PATH
from loaderlint.knowledge.value_types import is_path, type_made_by
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Literal_, MapOf, Origin, SeqOf, Val, join
from loaderlint.project.reach.model import Model

_CONSTANTS = frozenset({"builtins.str", "builtins.bytes", "builtins.int", "builtins.float", PATH})
_KINDS = frozenset({"str", "bytes", "int", "float", "complex", "bool"})


def is_unchangeable(origin: Origin, model: Model) -> bool:
    """Whether all that an origin stands for is a text, a number, bytes or a path: an edit in place raises there, so
    what is edited is something else."""
    if not isinstance(origin.owner, Instance) or origin.relation == "view":
        return False
    value = model.ev.classes.field(origin.owner, origin.path[0])
    for part in origin.path[1:]:
        inside = _items(value) if part == "[]" else None
        if inside is None:
            return False
        value = inside
    return bool(value.atoms) and all(map(_is_constant, value.atoms))


def _items(value: Val) -> Val | None:
    """What a list, tuple or dict holds; None if it is not known."""
    found: list[Val] = []
    for atom in value.atoms:
        match atom:
            case SeqOf(_, items):
                found += items
            case MapOf(_, values):
                found += values
            case LibObject(name, site) if name in LISTINGS:
                found.append(Val(frozenset({LibObject(f"{name}[]", site)})))
            case _:
                return None
    return join(found) if found else None


def _is_constant(atom: Atom) -> bool:
    if isinstance(atom, Literal_):
        return atom.kind in _KINDS
    if not isinstance(atom, LibObject):
        return False
    named = atom.name.removesuffix("[]") in LISTINGS - {"os.walk", "os.scandir"}
    return named or type_made_by(atom.name) in _CONSTANTS or is_path(atom.name)
