"""Generators that get one seed so that they draw alike: those of the transforms of an image and of its mask.

The fix would mix a number of its own into the seed of each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared.generator_seeds import seed_expression

_MAX_STEPS = 8


def paired_generators(draws: Iterable[Draw], model: Model) -> frozenset[LibObject]:
    """The generators that have the seed of another one, from which the workers of the same loader draw. Two attributes
    of one object store the two, or one attribute of two objects of a class."""
    by_seed: dict[Hashable, dict[LibObject, int]] = {}
    for draw in draws:
        for key in _keys(draw, model):
            bits = by_seed.setdefault(key, {})
            bits[draw.made] = bits.get(draw.made, 0) | model.reached[draw.call.frame].bits()
    return frozenset(made for bits in by_seed.values() for made in _shared(bits))


def _shared(bits: dict[LibObject, int]) -> Iterator[LibObject]:
    """The generators that share a loader with another one of these."""
    once = twice = 0
    for loaders in bits.values():
        twice |= once & loaders
        once |= loaders
    yield from (made for made, loaders in bits.items() if loaders & twice)


def _keys(draw: Draw, model: Model) -> Iterator[Hashable]:
    """What is the same for two generators that are a pair. All objects of a class have a seed that the class chooses:
    nobody says that two of them are a pair."""
    number, library = seed_expression(draw.made, model), library_of(draw.made)
    if number is None:
        return
    seed, chooser = _seed(number, draw.made.site.frame, model)
    for origin in draw.origins:
        yield library, seed, origin.owner
        if isinstance(origin.owner, Instance) and chooser.receiver != origin.owner:
            yield library, seed, origin.owner.cls, origin.path


def _seed(number: ir.ExprId, frame: Frame, model: Model) -> tuple[Hashable, Frame]:
    """What is the same for two expressions that are one seed, a constant or the expression that a parameter or an
    attribute gets; and the frame that chooses it."""
    for _ in range(_MAX_STEPS):
        before = _given(number, frame, model)
        if before is None:
            break
        number, frame = before
    literal, e = model.ev.eval(number, frame).literal, model.ev.expr(frame, number)
    if literal is not None:
        return literal.value, frame
    return (frame, e if isinstance(e, ir.Attr | ir.Global | ir.Param) else number), frame


def _given(number: ir.ExprId, frame: Frame, model: Model) -> tuple[ir.ExprId, Frame] | None:
    """The expression whose value a parameter of a constructor, or an attribute of `self`, gets; None if there is not
    exactly one."""
    e, made = model.ev.expr(frame, number), frame.receiver
    if not isinstance(made, Instance):
        return None
    if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(frame, e.base)):
        stores = model.ev.classes.stores(made, e.name)
        step = stores[0].frame.code.one.steps[stores[0].step] if len(stores) == 1 and stores[0].frame.code.one else None
        return (step.value, stores[0].frame) if isinstance(step, ir.SetAttr) else None
    if isinstance(e, ir.Param) and made.site is not None and model.def_of(frame).name == "__init__":
        return _passed(model.def_of(frame).params[e.index], e.index, made, model)
    return None


def _passed(param: ir.ParamIR, index: int, made: Instance, model: Model) -> tuple[ir.ExprId, Frame] | None:
    """The argument of the call that creates an object, for a parameter of its `__init__`."""
    call = model.ev.expr(made.site.frame, made.site.expr) if made.site is not None else None
    if made.site is None or not isinstance(call, ir.Call) or any(arg.kind.startswith("star") for arg in call.args):
        return None
    value = ir.written_argument(call, param.name, index - 1)
    return (value, made.site.frame) if value != NONE else None
