"""Code that reads an argument of a loader from the loader: `loader.timeout`, or `len(loader)`, which `drop_last`
changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Site, Val, def_key
from loaderlint.project.reach.model import Loader, Model

#: The argument that changes the length of a loader, and what asks for that.
_OF_LENGTH = "drop_last"
_LENGTH = "len"


def reads_argument(name: str, loader: Loader, model: Model) -> bool:
    """Whether code reads argument `name` of a loader from the loader, or from an unknown object that is called a
    loader."""
    return loader.site is not None and any(
        _is_made_at(model.ev.eval(base, frame), loader.site)
        or (model.ev.eval(base, frame).unknown is not None and _is_called(base, frame, loader.name))
        for frame, base in _readers(name, model)
    )


def _readers(name: str, model: Model) -> Iterator[tuple[Frame, int]]:
    """The objects from which the project reads an attribute, or, for `drop_last`, the length: each as an expression in
    a frame of its def."""
    for text in (f".{name}", f"{_LENGTH}(") if name == _OF_LENGTH else (f".{name}",):
        for path in model.files.containing(text):
            file = model.files.file(path)
            for piece in file.mentioning(text) if file is not None else ():
                yield from _readers_in(path, piece, name, model)


def _readers_in(path: Path, piece: int, name: str, model: Model) -> Iterator[tuple[Frame, int]]:
    facts = model.ev.facts(path, piece)
    for number, one in enumerate(facts.ir.defs) if facts is not None else ():
        assert facts is not None
        bases = list(_read_from(name, one, facts)) if one.kind != "class" else []
        for frame in model.callers.frames(path, piece, number) if bases else ():
            yield from ((frame, base) for base in bases)


def _read_from(name: str, one: ir.DefIR, facts: PieceFacts) -> Iterator[int]:
    """The expressions of which a def reads an attribute, or, for `drop_last`, the length."""
    exprs = facts.ir.exprs
    evaluated = (number for step in one.steps for number in ir.step_expressions(step))
    for number in ir.made_of(exprs, (*evaluated, *(context.expr for context in one.contexts))):
        match exprs[number]:
            case ir.Attr(base, read) if read == name:
                yield base
            case ir.Call(func, (ir.Arg("pos", _, value),)) if name == _OF_LENGTH:
                if exprs[func] == ir.Global(_LENGTH):
                    yield value


def _is_made_at(value: Val, site: Site) -> bool:
    """Whether a value may be what the call at a site creates, in any context."""
    here = (*def_key(site.frame), site.expr)
    made = (one.site for one in value.only(LibObject, Instance) if one.site is not None)
    return any((*def_key(one.frame), one.expr) == here for one in made)


def _is_called(base: int, frame: Frame, called: str) -> bool:
    """Whether an expression has the name of a loader: a fixture, say, passes it to a test."""
    e, one = frame.code.exprs[base], frame.code.one
    name = called_name(frame.code.exprs, base)
    if isinstance(e, ir.Param) and one is not None:
        name = one.params[e.index].name
    return bool(name) and (name == called or "loader" in name.lower())
