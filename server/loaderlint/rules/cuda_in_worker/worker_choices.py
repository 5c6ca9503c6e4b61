"""Under which tests a loader has workers: `num_workers=0 if use_cuda else 4`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.later_attributes import set_on
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.loader_call import written

_MAX_DEPTH = 8


class Said(NamedTuple):
    """Test `test` of a frame holds, or it does not."""

    frame: Frame
    test: int
    holds: bool


#: Tests that all say what they say.
Tests = tuple[Said, ...]


class Bound(NamedTuple):
    """Expression `value` of a frame is bound to a name, or to an attribute, under tests. `is_plain`: only tests decide
    whether it is bound."""

    frame: Frame
    value: int
    tests: Tests
    is_plain: bool


def tests_of_workers(loader: Loader, model: Model) -> list[Tests]:
    """For each number of workers that a loader may have and that is not 0, the tests that choose it, with those around
    the loader; an empty list if it has none."""
    given = written(loader, "num_workers", model)
    if given is None:
        return [()]
    around = tests_of(given.frame, given.frame.code.context_of(given.call))
    return [(*around, *tests) for tests in _chosen(given.number, given.frame, (), model, 0)]


def bound_to(number: int, frame: Frame, model: Model) -> list[Bound]:
    """What is bound to the name or attribute of `self` that an expression reads, in the order in which it is bound;
    none if that is not in sight."""
    match model.ev.expr(frame, number):
        case ir.Phi(choices):
            return _of_local(choices, frame)
        case ir.Global(name):
            return _of_module(name, frame, model)
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)):
            return _of_object(name, frame, model)
    return []


def _chosen(number: int, frame: Frame, tests: Tests, model: Model, depth: int) -> Iterator[Tests]:
    """The tests that lead to each part of an expression that may be more than 0."""
    if count_of(model.ev, model.ev.eval(number, frame)).most < 1:
        return
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.IfExp):
        yield from _chosen(e.then, frame, (*tests, Said(frame, e.test, True)), model, depth)
        yield from _chosen(e.other, frame, (*tests, Said(frame, e.test, False)), model, depth)
        return
    bound = bound_to(number, frame, model) if depth < _MAX_DEPTH else []
    for place, one in enumerate(bound):
        left = (*tests, *one.tests, *_not_replaced(one, bound[place + 1 :]))
        yield from _chosen(one.value, one.frame, left, model, depth + 1)
    if not bound:
        yield tests


def _not_replaced(one: Bound, later: list[Bound]) -> Iterator[Said]:
    """The tests that, if they held, would bind something else later."""
    for other in later:
        *outer, last = other.tests or (None,)
        if last is not None and other.is_plain and all(test in one.tests for test in outer):
            yield last._replace(holds=not last.holds)


def tests_of(frame: Frame, context: int) -> Tests:
    """The tests around a context, the outermost first."""
    one = frame.code.one
    around = [here for here in one.around(context) if here.kind == "if" and here.expr != NONE] if one else []
    return tuple(Said(frame, here.expr, not here.negated) for here in reversed(around))


def _is_plain(frame: Frame, context: int) -> bool:
    return frame.code.is_branch(context)


def _of_local(choices: tuple[int, ...], frame: Frame) -> list[Bound]:
    """What is bound to a local, if each of its values is bound once to a name that they share."""
    bindings = [{step.name: (at, step) for at, step in frame.code.bindings.get(one, ())} for one in choices]
    shared = set.intersection(*(set(one) for one in bindings))
    if len(shared) != 1:
        return []
    name = shared.pop()
    steps = sorted(one[name] for one in bindings)
    return [
        Bound(frame, step.value, tests_of(frame, step.context), _is_plain(frame, step.context)) for _, step in steps
    ]


def _of_module(name: str, frame: Frame, model: Model) -> list[Bound]:
    """What code at module level binds to a name of the frame's module."""
    file = model.ev.file(frame.path)
    found: list[Bound] = []
    for binding in file.names.get(name, ()) if file is not None else ():
        body = model.ev.body(frame.path, binding.piece)
        one = body.code.one
        step = one.steps[binding.step] if one is not None and binding.step >= 0 and binding.def_ == 0 else None
        if not isinstance(step, ir.Bind) or step.value == NONE:
            return []
        tests = tests_of(body, step.context)
        if binding.conditional and not tests:
            return []
        found.append(Bound(body, step.value, tests, _is_plain(body, step.context)))
    return found


def _of_object(name: str, frame: Frame, model: Model) -> list[Bound]:
    """What the constructor of a method's object stores in an attribute, if nothing else stores anything there."""
    receiver = frame.receiver
    stores = model.ev.classes.stores(receiver, name) if isinstance(receiver, Instance) else ()
    if not isinstance(receiver, Instance) or any(not one.construction for one in stores):
        return []
    if any(set_on(model.ev, receiver, name)):
        return []
    found: list[Bound] = []
    for store in stores:
        step = model.def_of(store.frame).steps[store.step]
        if not isinstance(step, ir.SetAttr):
            return []
        tests, is_plain = tests_of(store.frame, step.context), _is_plain(store.frame, step.context)
        found.append(Bound(store.frame, step.value, tests, is_plain))
    return found
