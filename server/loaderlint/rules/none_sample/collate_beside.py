"""Collate functions beside a dataset that leave None out: the loader that the dataset is written for passes one."""

from __future__ import annotations

from pathlib import Path
from typing import TypeGuard

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Loader, Model

_WORD = "collate"
_BESIDE = "it is not known to hold the dataset, and a collate function beside the dataset looks for None"


def collate_beside(frame: Frame, loader: Loader, model: Model) -> str:
    """A cure (see `judgement`): that the loader holds the dataset whose `__getitem__` is `frame` is a guess, and a
    collate function in the dataset's file looks for None."""
    guessed = loader.out_of_sight or bool(model.reached[frame].possible >> loader.index & 1)
    if not guessed or not isinstance(frame.receiver, Instance):
        return ""
    return _BESIDE if model.remembered(_has_careful_collate, frame.receiver.cls.path) else ""


def _has_careful_collate(path: Path, model: Model) -> bool:
    file = model.files.file(path)
    pieces = (model.ev.facts(path, piece) for piece in file.mentioning(_WORD)) if file is not None else ()
    return any(
        _WORD in one.name and _looks_for_none(number, facts.ir)
        for facts in pieces
        if facts is not None
        for number, one in enumerate(facts.ir.defs)
        if one.kind == "function"
    )


def _looks_for_none(number: int, piece: ir.PieceIR) -> bool:
    """Whether a def compares the items of its first parameter, or parts of them, with None, or filters them."""
    first = 0 if piece.defs[number].params[:1] and piece.defs[number].params[0].name != "self" else 1
    return any(_is_test(e, first, piece) or _filters(e, first, piece) for e in piece.exprs)


def _is_test(e: ir.Expr, batch: int, piece: ir.PieceIR) -> bool:
    match e:
        case ir.Compare(left, ("is" | "is not",), (right,)) if piece.exprs[right] == ir.Const("NoneType", None):
            return _is_of_item(left, batch, piece)
    return False


def _is_of_item(number: int, batch: int, piece: ir.PieceIR) -> bool:
    e = piece.exprs[number]
    while isinstance(e, ir.Index | ir.Attr):
        e = piece.exprs[e.base]
    return isinstance(e, ir.Element) and _is_batch(piece.exprs[e.iterable], batch)


def _filters(e: ir.Expr, batch: int, piece: ir.PieceIR) -> bool:
    if not isinstance(e, ir.Call) or piece.exprs[e.func] != ir.Global("filter") or len(e.args) != 2:
        return False
    return _is_batch(piece.exprs[e.args[1].value], batch)


def _is_batch(e: ir.Expr, batch: int) -> TypeGuard[ir.Param]:
    return isinstance(e, ir.Param) and e.index == batch
