"""What a constructor leaves in an attribute: the assignments that can be its last, also those of the methods that it
calls and the properties that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model

_MAX_FRAMES = 64
#: The moment of a method of which no call is found: before all others.
_UNKNOWN = (-1,)


def last_stores(stores: Sequence[Store], inst: Instance, model: Model) -> list[Store]:
    """The stores of the constructor that can be the last: from the last one that always runs. A store in a method runs
    where `__init__` calls the method."""
    if not model.ev.classes.construction(inst):
        return []
    moments = run_by_constructor(inst, model)
    run = (store for store in stores if store.construction or store.frame in moments)
    constructed = sorted(run, key=lambda store: (*moments.get(store.frame, _UNKNOWN), store.step))
    start = max((i for i, s in enumerate(constructed) if s.sure), default=0)
    return [store for store in constructed[start:] if store.lasts]


def run_by_constructor(inst: Instance, model: Model) -> Mapping[Frame, tuple[int, ...]]:
    """The frames of an object's own methods and properties that its constructor runs, each with the steps that first
    lead to it: one step of the constructor, one of the method that this calls, and so on."""
    return model.remembered(_run_by_constructor, inst)


def _run_by_constructor(inst: Instance, model: Model) -> Mapping[Frame, tuple[int, ...]]:
    frames = model.ev.classes.construction(inst)
    if not frames:
        return {}
    init = frames[0]
    found: dict[Frame, tuple[int, ...]] = {init: ()}
    waiting = [iter(_own_calls(init, (), inst, model))]
    while waiting and len(found) < _MAX_FRAMES:
        way, called = next(waiting[-1], ((), None))
        if called is None:
            waiting.pop()
        elif called not in found:
            found[called] = way
            waiting.append(iter(_own_calls(called, way, inst, model)))
    return found


def _own_calls(frame: Frame, way: tuple[int, ...], inst: Instance, model: Model) -> list[tuple[tuple[int, ...], Frame]]:
    """The methods and properties of its own object that a frame runs, in order: each with the steps that lead to it,
    where those of `way` lead to the frame."""
    return [((*way, one.step), one.called) for one in sorted(own_calls(frame, inst, model), key=lambda one: one.step)]


class OwnCall(NamedTuple):
    """Where a method of an object calls another one, or reads a property, by expression `number` of step `step`."""

    step: int
    number: int
    context: int
    called: Frame


def own_calls(frame: Frame, inst: Instance, model: Model) -> Iterator[OwnCall]:
    """The calls of the object's own methods in one of them, and the properties that it reads."""
    for step, number, context in (*_method_calls(frame, model), *_property_reads(frame, inst, model)):
        for called in model.ev.targets(number, frame):
            if called.receiver == inst:
                yield OwnCall(step, number, context, called)


def _method_calls(frame: Frame, model: Model) -> Iterator[tuple[int, int, int]]:
    """The calls of attributes in a frame, each with its step and context, without those of what `self` keeps."""
    exprs = frame.code.exprs
    for number, step in model.steps_of(frame, ir.Perform):
        call = exprs[step.call]
        func = exprs[call.func] if isinstance(call, ir.Call) and call.func != ir.NONE else None
        base = exprs[func.base] if isinstance(func, ir.Attr) else None
        if base is not None and not (isinstance(base, ir.Attr) and ir.is_self(exprs[base.base])):
            yield number, step.call, step.context


def _property_reads(frame: Frame, inst: Instance, model: Model) -> Iterator[tuple[int, int, int]]:
    """The expressions of a frame that read properties of its own object, each with its step and context."""
    exprs = frame.code.exprs
    for number in sorted(frame.code.expressions()):
        e = exprs[number]
        if not isinstance(e, ir.Attr) or not ir.is_self(exprs[e.base]) or not model.ev.classes.computes(inst, e.name):
            continue
        step, context = frame.code.evaluated_by(number), frame.code.context_of(number)
        if step is not None and not model.ev.liveness.is_dead(context, frame):
            yield step, number, context
