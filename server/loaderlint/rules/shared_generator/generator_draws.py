"""The draws of worker code from generators, and why some are no fault."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.common_order import sets_common_order
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared_generator.reseeded_generators import remade_in_worker
from loaderlint.rules.shared_generator.seed_mixing import seeds_with_more


def why_good(draw: Draw, model: Model) -> str:
    """Why a generator is not one that the workers share the state of; '' if it may be."""
    if model.runs_in_worker(draw.made.site.frame):
        return "the generator is made in the worker"
    if remade_in_worker(draw, model):
        return "worker code creates it anew, or gives it a new seed"
    if seeds_with_more(draw.call, model):
        return "the number is part of a seed that differs in each worker"
    return "it sets an order that must be the same in all workers" if is_common_order(draw, model) else ""


def draws_of(call: WorkerCall, model: Model) -> Iterator[Draw]:
    """The generators that a call draws from."""
    for method in call.callee.only(LibMember):
        if isinstance(method.owner, LibObject) and method.name in GENERATOR_DRAWS:
            if library_of(method.owner):
                yield Draw(call, method.owner, call.callee.origins)
    passed = model.ev.calls.arguments(call.call, call.frame).get("generator")
    if passed is not None and not passed.unknown:
        for generator in passed.only(LibObject):
            if library_of(generator) == "torch":
                yield Draw(call, generator, passed.origins)


def is_common_order(draw: Draw, model: Model) -> bool:
    """Whether a draw sets an order in which all workers have to agree."""
    return any(
        sets_common_order(draw.call, atom.name, model)
        for atom in draw.call.callee.atoms
        if isinstance(atom, Lib | LibMember)
    )
