"""The frame in which a def runs when unknown code calls it: its parameters are open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Instance

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def opened(ev: Evaluator, path: Path, piece: int, def_: int) -> Frame | None:
    """The frame of a def when unknown code calls it."""
    facts = ev.facts(path, piece)
    if facts is None or def_ == 0:
        return ev.body(path, piece) if facts else None
    return open_frame(ev, path, piece, def_, facts)


def open_frame(ev: Evaluator, path: Path, piece: int, def_: int, facts: PieceFacts) -> Frame | None:
    """The frame of a def of a piece whose facts are known, when unknown code calls it."""
    function = FunctionRef(path, piece, def_)
    owner = owner_of(ev, path, piece, def_, facts)
    is_static = owner is not None and ev.functions.decoration(function) == "static"
    receiver = Instance(owner, None) if owner and not is_static else None
    return ev.functions.open_frame(function, receiver, owner)


def owner_of(ev: Evaluator, path: Path, piece: int, def_: int, facts: PieceFacts) -> ClassRef | None:
    """The class that a def is a method of, None for functions."""
    parent = facts.ir.defs[def_].parent
    if parent > 0:
        return ClassRef(path, piece, parent) if facts.ir.defs[parent].kind == "class" else None
    file = ev.file(path)
    up = file.pieces[piece].parent if file else -1
    while file and up >= 0 and file.pieces[up].kind == "clause":
        up = file.pieces[up].parent
    return ClassRef(path, up, 1) if up >= 0 else None
