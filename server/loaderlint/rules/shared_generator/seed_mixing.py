"""Draws from a generator that are only a part of the seed of another one."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.numpy_random import GENERATORS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject
from loaderlint.project.reach.model import Model, WorkerCall

#: What torch draws in a worker is another number in each.
_OF_TORCH = "torch."


def seeds_with_more(draw: WorkerCall, model: Model) -> bool:
    """Whether what a call draws goes into the seed of a new generator, together with a number that torch draws in the
    worker: `default_rng([self.rng.integers(2**32), torch.randint(2**32, ()).item()])`."""
    return any(
        _makes_generator(call, model)
        and draw.number in (parts := set(_parts(call.number, draw.frame, model)))
        and any(_is_fresh(part, draw.frame, model) for part in parts - {draw.number, call.number})
        for call in model.frame_calls(draw.frame)
        if call.number > draw.number
    )


def _makes_generator(call: WorkerCall, model: Model) -> bool:
    return any(isinstance(atom, Lib) and atom.name in GENERATORS for atom in call.callee.atoms)


def _parts(number: int, frame: Frame, model: Model) -> Iterator[int]:
    """The expression and those in the arguments that it is computed from."""
    if number == NONE:
        return
    yield number
    match model.ev.expr(frame, number):
        case ir.Call(_, args):
            inner = [arg.value for arg in args]
        case ir.Seq(_, items):
            inner = list(items)
        case ir.Bin(_, left, right):
            inner = [left, right]
        case _:
            inner = []
    for one in inner:
        yield from _parts(one, frame, model)


def _is_fresh(number: int, frame: Frame, model: Model) -> bool:
    """Whether torch drew it, in the worker."""
    return any(
        isinstance(atom, LibObject) and atom.name.startswith(_OF_TORCH) and atom.site.frame in model.reached
        for atom in model.ev.eval(number, frame).atoms
    )
