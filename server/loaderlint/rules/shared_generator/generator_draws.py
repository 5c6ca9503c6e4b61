"""The draws of worker code from generators, and why some are no fault."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject, Unknown
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.common_order import sets_common_order
from loaderlint.rules.shared.drawn_generators import drawn_generators
from loaderlint.rules.shared.first_uses import first_uses, is_made_before
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared_generator.reseeded_generators import remade_in_worker
from loaderlint.rules.shared_generator.seed_mixing import seeds_with_more

#: The parameters through which libraries get a generator that they draw from.
_DRAWN_FROM = frozenset({"random_state", "rng", "generator"})
#: What a callee may be that is not code of the project: this is followed, and its draws are seen.
_OF_LIBRARIES = (Lib, LibMember, LibObject, Unknown)
#: Functions that keep what they get.
_KEEPS = re.compile(r"_*(?:add|build|create|init|make|register|set)(?:_|$)")


def why_good(draw: Draw, model: Model) -> str:
    """Why a generator is not one that the workers share the state of; '' if it may be."""
    in_worker = model.runs_in_worker(draw.made.site.frame)
    if in_worker and not is_made_before(draw.made, draw.origins, model):
        return "the generator is made in the worker"
    if not (in_worker and first_uses(draw.made, draw.origins, model)) and remade_in_worker(draw, model):
        return "worker code creates it anew, or gives it a new seed"
    if seeds_with_more(draw.call, model):
        return "the number is part of a seed that differs in each worker"
    return "it sets an order that must be the same in all workers" if is_common_order(draw, model) else ""


def draws_of(call: WorkerCall, model: Model) -> Iterator[Draw]:
    """The generators that a call draws from, itself or in a library that gets one."""
    yield from drawn_generators(call, model)
    yield from _draws_by_library(call, model)


def is_supposed(draw: Draw) -> bool:
    """Whether only the name of a parameter says that a library draws from a generator that it gets."""
    drawn = (one.owner for one in draw.call.callee.only(LibMember) if one.name in GENERATOR_DRAWS)
    return draw.made not in drawn and library_of(draw.made) != "torch"


def _draws_by_library(call: WorkerCall, model: Model) -> Iterator[Draw]:
    """The generators that a call passes to a library for it to draw from: `random_state=self.random_state`. A class,
    and a function that makes or sets something, keeps it."""
    named = [arg for arg in call.call.args if arg.kind == "kw" and arg.name in _DRAWN_FROM]
    if not named or not call.callee.atoms or not all(isinstance(one, _OF_LIBRARIES) for one in call.callee.atoms):
        return
    name = called_name(call.frame.code.exprs, call.call.func)
    if name[:1].isupper() or _KEEPS.match(name):
        return
    for arg in named:
        passed = model.ev.eval(arg.value, call.frame)
        for generator in passed.only(LibObject):
            if library_of(generator) not in (None, "torch"):
                yield Draw(call, generator, passed.origins)


def is_common_order(draw: Draw, model: Model) -> bool:
    """Whether a draw sets an order in which all workers have to agree."""
    return any(
        sets_common_order(draw.call, atom.name, model)
        for atom in draw.call.callee.atoms
        if isinstance(atom, Lib | LibMember)
    )
