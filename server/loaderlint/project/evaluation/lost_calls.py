"""Functions whose calls may be lost: some code stores them in a list or dict, and nobody sees who calls its items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.values import FunctionRef, def_key

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def is_stored(ev: Evaluator, function: FunctionRef) -> bool:
    """Whether some code may store a function of a module in a list or dict."""
    one = ev.code(function).one
    name = one.name if one is not None else ""
    return bool(name) and any(
        _may_be(ev, function, path, piece, number, facts)
        for path in ev.files.containing(name)
        for piece, facts, in_class in _pieces(ev, path, name)
        for number in _items(facts)
        if _is_named(facts.ir.exprs, number, name, in_class)
    )


def _pieces(ev: Evaluator, path: Path, name: str) -> Iterator[tuple[int, PieceFacts, bool]]:
    """The pieces of a file that mention a name, each with whether it is in the body of a class."""
    file = ev.file(path)
    for piece in file.mentioning(name) if file is not None else ():
        facts = ev.facts(path, piece)
        if facts is not None and file is not None:
            yield piece, facts, file.pieces[piece].parent >= 0


def _items(facts: PieceFacts) -> Iterator[int]:
    """The expressions of a piece that are items of a list or dict."""
    for e in facts.ir.exprs:
        if isinstance(e, ir.Seq):
            yield from e.items
        elif isinstance(e, ir.Map):
            yield from e.values
    for one in facts.ir.defs:
        yield from (step.value for step in one.steps if isinstance(step, ir.SetItem))


def _is_named(exprs: tuple[ir.Expr, ...], number: int, name: str, in_class: bool) -> bool:
    """Whether an expression has a name as its last part: not an attribute of the method's own object."""
    match exprs[number] if number != ir.NONE else None:
        case ir.Global(named):
            return named == name
        case ir.Attr(base, named):
            return named == name and not (in_class and ir.is_self(exprs[base]))
    return False


def _may_be(ev: Evaluator, function: FunctionRef, path: Path, piece: int, number: int, facts: PieceFacts) -> bool:
    value = Unframed(ev, path, piece, _def_around(number, facts), facts).value(number)
    if value is None:
        return True
    return any(isinstance(atom, FunctionRef) and def_key(atom) == def_key(function) for atom in value.atoms)


def _def_around(number: int, facts: PieceFacts) -> int:
    """The def of a piece that evaluates an expression."""
    return next(
        (
            def_
            for def_, one in enumerate(facts.ir.defs)
            for step in one.steps
            if number in set(ir.made_of(facts.ir.exprs, ir.step_expressions(step)))
        ),
        0,
    )
