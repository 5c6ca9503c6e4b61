"""The items that a dict has where it is used: those that the def has stored in it before, and not those that it stores
later, or in a branch that ends (`except OSError: options["num_workers"] = 0; return DataLoader(data, **options)`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation import containers
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.removed_items import is_apart, left_of, removed_from
from loaderlint.project.evaluation.values import MapOf, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_LOOPS = ("loop", "while")


def with_items_at(ev: Evaluator, value: Val, number: int, at: int | None, frame: Frame) -> Val:
    """What expression `number` is before step `at` of its def: its dicts hold what the def has stored in them by then.
    In a loop, each item counts, because an iteration before may have stored it."""
    unfilled, one = frame.unfilled.get(number), frame.code.one
    if not unfilled or one is None or at is None or unfilled.keys().isdisjoint(value.atoms):
        return value
    here = one.steps[at].context
    if _is_repeated(frame, number, here):
        return value
    steps = [
        step
        for place, step in frame.code.numbered_fillings(number)
        if place < at and not is_apart(one, step.context, here, place)
    ]

    def is_sure(context: int) -> bool:
        return ev.liveness.always_runs(context, one.common(context, here), frame)

    found = (
        containers.filled_by(ev, unfilled[atom], frame, number, steps, is_sure)
        if isinstance(atom, MapOf) and atom in unfilled
        else atom
        for atom in value.atoms
    )
    return Val(frozenset(found), value.origins)


def passed_with_items(ev: Evaluator, value: Val, number: int, call: ir.Call, frame: Frame) -> Val:
    """What a call passes as an argument. What gets a dict may keep it, so what is stored in it later counts, too."""
    at, one = frame.code.performed_by(call) if number in frame.unfilled else None, frame.code.one
    if at is None or one is None:
        return value
    here = one.steps[at].context
    later = (step for place, step in frame.code.numbered_fillings(number) if place > at)
    if any(not is_apart(one, here, step.context, at) for step in later):
        return value
    return with_items_at(ev, value, number, at, frame)


def returned_with_items(ev: Evaluator, step: ir.Return, number: int, frame: Frame) -> Val:
    """What step `number` returns: a dict with the items that it has by then."""
    value = ev.eval(step.value, frame)
    if not value.has(MapOf):
        return value
    value = with_items_at(ev, value, step.value, number, frame)
    return left_of(removed_from(ev, step.value, frame, number), value)


def _is_repeated(frame: Frame, number: int, here: int) -> bool:
    """Whether a loop is around a context and not around what makes the dict that is used there."""
    one = frame.code.one
    assert one is not None
    made = 0 if isinstance(frame.code.exprs[number], ir.Param) else frame.code.context_of(number)
    around = {*one.enclosing(made)}
    return any(one.contexts[n].kind in _LOOPS and n not in around for n in one.enclosing(here))
