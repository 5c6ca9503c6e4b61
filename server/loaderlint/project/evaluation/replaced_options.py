"""What the code that parses a command line puts in the place of an option in any case: `args.workers = 0`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Namespace, Val, join

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.modules.project_files import ProjectFile

#: Methods of a parser that parse.
PARSE = ("parse_args", "parse_known_args", "parse_intermixed_args")


class _Place(NamedTuple):
    """A step of a def, under the condition that is its context."""

    piece: int
    def_: int
    context: int


def replaced(ev: Evaluator, path: Path, name: str) -> Val | None:
    """What option `name` of the command line that file `path` parses is after code there has stored another value, in
    the def that parses it and in any case. (Nothing is a parsed command line before that.) None if no code does so, if
    the value is made of the option, or if the file parses more than once."""
    file = ev.file(path)
    storing = list(storing_pieces(file, name)) if file is not None else []
    parsing = list(_parses(ev, path, file)) if storing and file is not None else []
    if len(parsing) != 1:
        return None
    found: list[Val] = []
    for frame, place, step in _stores(ev, path, name, storing):
        if _reads(name, step.value, frame):
            return None
        if _is_certain(place, parsing[0]):
            found = [ev.eval(step.value, frame)]
        elif found and _is_beside(place, parsing[0]):
            found.append(ev.eval(step.value, frame))
    return join(found) if found else None


def storing_texts(name: str) -> tuple[str, str, str]:
    """The texts of code that stores an option."""
    return f".{name} = ", f'["{name}"] = ', f"['{name}'] = "


def stores_option(step: ir.Step, name: str, frame: Frame) -> bool:
    """Whether a step stores an attribute or an item of this name."""
    if isinstance(step, ir.SetItem):
        key = frame.code.exprs[step.index]
        return isinstance(key, ir.Const) and key.value == name
    return isinstance(step, ir.SetAttr) and step.name == name


def open_frame(ev: Evaluator, path: Path, piece: int, def_: int) -> Frame:
    """A frame of a def, with unknown arguments."""
    body = ev.body(path, piece)
    return body if def_ == 0 else ev.functions.open_frame(FunctionRef(path, piece, def_), None, None) or body


def storing_pieces(file: ProjectFile, name: str) -> Iterator[int]:
    """The pieces of a file that may store an option."""
    for piece in file.mentioning(name):
        if any(file.pieces[piece].holds(text) for text in storing_texts(name)):
            yield piece


def _parses(ev: Evaluator, path: Path, file: ProjectFile) -> Iterator[_Place]:
    for piece in sorted({piece for method in PARSE for piece in file.mentioning(method)}):
        facts = ev.facts(path, piece)
        for def_, one in enumerate(facts.ir.defs if facts is not None else ()):
            for step in one.steps:
                call = facts.ir.exprs[step.call] if facts is not None and isinstance(step, ir.Perform) else None
                func = facts.ir.exprs[call.func] if facts is not None and isinstance(call, ir.Call) else None
                if isinstance(func, ir.Attr) and func.name in PARSE:
                    yield _Place(piece, def_, step.context)


def _stores(
    ev: Evaluator, path: Path, name: str, pieces: list[int]
) -> Iterator[tuple[Frame, _Place, ir.SetAttr | ir.SetItem]]:
    """The stores of the option by the code of some pieces, in order."""
    for piece in pieces:
        facts = ev.facts(path, piece)
        for def_, one in enumerate(facts.ir.defs if facts is not None else ()):
            frame = open_frame(ev, path, piece, def_)
            for step in one.steps:
                if isinstance(step, ir.SetAttr | ir.SetItem) and stores_option(step, name, frame):
                    atoms = ev.eval(step.base, frame).atoms
                    if atoms and all(isinstance(atom, Namespace) and atom.path == path for atom in atoms):
                        yield frame, _Place(piece, def_, step.context), step


def _reads(name: str, number: int, frame: Frame) -> bool:
    """Whether an expression is made of the option itself: `args.batch // 2`."""
    exprs = frame.code.exprs
    made_of = (exprs[one] for one in ir.made_of(exprs, [number]))
    return any(isinstance(e, ir.Attr) and e.name == name or e == ir.Const("str", name) for e in made_of)


def _is_certain(place: _Place, parsing: _Place) -> bool:
    """Whether a step runs wherever the parsing does."""
    return _is_beside(place, parsing) and place.context == parsing.context


def _is_beside(place: _Place, parsing: _Place) -> bool:
    """Whether a step is in the def that parses, or both are at module level."""
    if place.def_ == parsing.def_ == 0:
        return place.piece == parsing.piece or parsing.context == 0
    return place[:2] == parsing[:2]
