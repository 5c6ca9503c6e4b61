"""The generators that calls certainly draw from."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS
from loaderlint.project.evaluation.values import LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.generator_creation import library_of


def drawn_generators(call: WorkerCall, model: Model) -> Iterator[Draw]:
    """The generators that a call draws from: `rng.normal()`, `torch.rand(3, generator=rng)`."""
    for method in call.callee.only(LibMember):
        if isinstance(method.owner, LibObject) and method.name in GENERATOR_DRAWS:
            if library_of(method.owner):
                yield Draw(call, method.owner, call.callee.origins)
    passed = model.ev.calls.arguments(call.call, call.frame).get("generator")
    if passed is not None and not passed.unknown:
        for generator in passed.only(LibObject):
            if library_of(generator) == "torch":
                yield Draw(call, generator, passed.origins)
