"""What a constructor has already made, although worker code makes it where it is missing: `if self.file is None`.

The worker's test is true only if the attribute is None when the workers start. `__init__` may have called the same
method before, in the main process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Origin
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import always_comes_by
from loaderlint.rules.shared.constructor_stores import last_stores, own_calls, run_by_constructor
from loaderlint.rules.shared.held_handles import asks_for, is_guarded


class Construction(NamedTuple):
    """Expression `number` of `frame`, by which a constructor makes what an attribute keeps. `sure`: each run of the
    constructor does."""

    frame: Frame
    number: int
    sure: bool


def constructions(made: LibObject, origins: frozenset[Origin], model: Model) -> tuple[Construction, ...]:
    """Where constructors in the main process make object `made`, which workers then find in an attribute: they make
    another one only where there is none. `origins`: where it is stored."""
    return model.remembered(_constructions, made, origins)


def _constructions(made: LibObject, origins: frozenset[Origin], model: Model) -> tuple[Construction, ...]:
    owned = [(one.owner, one.path[0]) for one in origins if isinstance(one.owner, Instance) and len(one.path) == 1]
    found = (
        one
        for owner, name in sorted(owned, key=lambda pair: pair[1])
        for store in _left_by_constructor(made, owner, name, model)
        for one in _ways_to(store, owner, name, model)
    )
    return tuple(dict.fromkeys(found))


def _left_by_constructor(made: LibObject, owner: Instance, name: str, model: Model) -> list[Store]:
    """The constructor's assignments that may leave the object in an attribute; none where it closes it, where a worker
    runs the constructor, or where a worker assigns the object without a test for the attribute."""
    frames = model.ev.classes.construction(owner)
    if not frames or model.runs_in_worker(frames[0]):
        return []
    stores = model.ev.classes.stores(owner, name)
    of_workers = [one for one in stores if made in one.value.atoms and one.frame in model.reached]
    if not all(is_guarded(one, name, model) for one in of_workers):
        return []
    if any(_is_closed_in(frame, made, model) for frame in run_by_constructor(owner, model)):
        return []
    return [one for one in last_stores(stores, owner, model) if made in one.value.atoms]


def _is_closed_in(frame: Frame, made: LibObject, model: Model) -> bool:
    """Whether a frame closes an object by whatever name it has there, or uses it in a `with` statement."""
    exprs = frame.code.exprs
    used = [step.manager for _, step in model.steps_of(frame, ir.Enter)]
    for call in model.calls_named(frame, ("close",)):
        func = exprs[call.call.func]
        used += [func.base] if isinstance(func, ir.Attr) else []
    return any(_may_give(number, made, frame, model) for number in used)


def _may_give(number: int, made: LibObject, frame: Frame, model: Model) -> bool:
    """Whether an expression may be an object, or calls the method that makes it: what the object's own attribute is may
    not be known while the constructor is evaluated."""
    return made in model.ev.eval(number, frame).atoms or made.site.frame in model.ev.targets(number, frame)


def _ways_to(store: Store, owner: Instance, name: str, model: Model) -> Iterator[Construction]:
    """The assignment in the constructor itself, or the calls of the method that does it."""
    init, *_ = model.ev.classes.construction(owner)
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    sure = store.sure or _is_tested_only(step.context, name, store.frame, model)
    if store.frame is init:
        yield Construction(init, step.value, sure)
        return
    for caller in run_by_constructor(owner, model):
        for call in own_calls(caller, owner, model):
            if call.called is store.frame:
                is_run = _is_always_run(caller, call.context, owner, model)
                yield Construction(caller, call.number, sure and is_run)


def _is_always_run(frame: Frame, context: int, owner: Instance, model: Model) -> bool:
    """Whether each run of the constructor comes by a context of it, or of a method that it calls itself."""
    init, *_ = model.ev.classes.construction(owner)
    if not always_comes_by([context], 0, frame, model):
        return False
    return frame is init or any(
        call.called is frame and always_comes_by([call.context], 0, init, model)
        for call in own_calls(init, owner, model)
    )


def _is_tested_only(context: int, name: str, frame: Frame, model: Model) -> bool:
    """Whether nothing but a test for the attribute stands around a context."""
    here = model.def_of(frame).contexts[context]
    return here.kind == "if" and here.parent == 0 and asks_for(here.expr, name, frame, model)
