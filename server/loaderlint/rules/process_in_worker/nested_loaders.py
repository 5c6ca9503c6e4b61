"""Loaders that worker code iterates over."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame, iterated
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Site, Val
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.reach.model import Model

#: Functions that begin to go through their first argument.
_GOING = frozenset(f"builtins.{name}" for name in ("iter", "list", "tuple", "sorted", "sum", "max", "min", "set"))
#: Objects that are iterated over instead of what they were given.
_AROUND = frozenset({"builtins.enumerate", "builtins.zip", "tqdm.tqdm", "tqdm.auto.tqdm", "itertools.chain"})
_MAX_DEPTH = 3


def gone_through(frame: Frame, model: Model) -> Iterator[tuple[int, Site]]:
    """The loaders that a frame goes through: the expression that does, and where the loader is made."""
    for _, step in model.steps(frame):
        number = _begun(step.call, frame, model) if isinstance(step, ir.Perform) else iterated(step)
        if number != NONE:
            for site in _loader_sites(model.ev.eval(number, frame), model, 0):
                yield number, site


def _begun(number: int, frame: Frame, model: Model) -> int:
    """What a call begins to go through; NONE if nothing."""
    call = model.ev.expr(frame, number)
    if not isinstance(call, ir.Call) or not call.args or call.args[0].kind != "pos":
        return NONE
    if f"builtins.{called_name(frame.code.exprs, call.func)}" not in _GOING:
        return NONE  # nearly all: not even what they call is evaluated
    known = any(isinstance(atom, Lib) and atom.name in _GOING for atom in model.ev.eval(call.func, frame).atoms)
    return call.args[0].value if known else NONE


def _loader_sites(value: Val, model: Model, depth: int) -> Iterator[Site]:
    for atom in value.ordered():
        if isinstance(atom, LibObject) and atom.name in _AROUND and depth < _MAX_DEPTH:
            for inner in model.ev.calls.site_arguments(atom.site).positional:
                yield from _loader_sites(inner, model, depth + 1)
        elif isinstance(atom, LibObject | Instance) and atom.site is not None:
            yield atom.site


def loaders_at(site: Site, model: Model) -> list[Loader]:
    """The loaders that are made at an expression, in whatever frame of its def."""
    return list(model.made_at(site.frame.path, site.frame.piece, site.expr))
