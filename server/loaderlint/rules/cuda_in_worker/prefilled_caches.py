"""Calls with which a constructor fills a cache of its object, so that later calls find what they need."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, def_key
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.kept_state import own_attribute
from loaderlint.rules.shared.process_guards import tests_around


def is_filled_before(call: WorkerCall, model: Model) -> bool:
    """Whether the constructor runs the method that the call is in, and fills a store of the object which that
    method asks before the call: `if name in self.done: return self.done[name]`."""
    frame = call.frame
    if not isinstance(frame.receiver, Instance):
        return False
    asked = {
        name
        for test in tests_around(frame, call.context, model)
        for number in ir.made_of(frame.code.exprs, [test.expr])
        if (name := own_attribute(number, frame, model))
    }
    constructing = model.ev.classes.construction(frame.receiver) if asked else []
    if not any(not asked.isdisjoint(_filled(one, model)) for one in constructing):
        return False
    return any(_calls_in_loop(one, frame, model) for one in constructing)


def _calls_in_loop(caller: Frame, callee: Frame, model: Model) -> bool:
    """Whether a frame calls the def of another in a loop or a comprehension over all that there is, as far as can be
    seen."""
    here = def_key(callee)
    for _, step in model.steps_of(caller, ir.Perform):
        around = model.def_of(caller).around(step.context)
        if any(one.kind == "loop" and _goes_over_all(one.expr, caller) for one in around):
            targets = model.ev.targets(step.call, caller)
            if any(def_key(one) == here for one in targets):
                return True
    return False


def _goes_over_all(iterable: int, frame: Frame) -> bool:
    """Whether a loop iterates over all of something: not over a slice, or a `range` of constants."""
    match frame.code.exprs[iterable]:
        case ir.Call(_, args) if args:
            return not all(isinstance(frame.code.exprs[arg.value], ir.Const) for arg in args)
        case ir.Index(_, index):
            return not frame.code.has_slice(index)
    return True


def _filled(frame: Frame, model: Model) -> Iterator[str]:
    """The attributes of the object that a frame assigns, whole or an item of them."""
    yield from frame.code.stored
    for _, step in frame.code.steps_of(ir.SetItem):
        yield own_attribute(step.base, frame, model)
