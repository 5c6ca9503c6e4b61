"""Searches that find something: a test before them says so (`if any(key in item for item in batch):`)."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.branches import is_alike

_ANY = Lib("builtins.any")
#: Why a search does not raise.
MATCHES = "a test around it says that something matches"


class Search(NamedTuple):
    """A search for an item of the expression `items` that meets the condition `test`."""

    items: int
    test: int


def is_known_to_match(call: WorkerCall, model: Model) -> bool:
    """Whether `next(x for x in items if ...)` only runs where `any(...)` of the same search is true."""
    searched = search_of(call.number, call.frame, model)
    if searched is None:
        return False
    around = (here for here in model.def_of(call.frame).around(call.context) if here.kind == "if")
    return any(_says_any(here.expr, here.negated, searched, call.frame, model) for here in around)


def search_of(number: int, frame: Frame, model: Model) -> Search | None:
    """What the generator expression passed to a call goes over, and its only condition, or what it yields if it has
    none."""
    call = model.ev.expr(frame, number)
    e = model.ev.expr(frame, call.args[0].value) if isinstance(call, ir.Call) and len(call.args) == 1 else None
    if not isinstance(e, ir.Comp) or e.kind == "dict" or len(e.iterables) != 1:
        return None
    tests = _conditions(number, e.iterables[0], frame, model)
    return None if len(tests) > 1 else Search(e.iterables[0], tests[0] if tests else e.element)


def _conditions(number: int, iterable: int, frame: Frame, model: Model) -> list[int]:
    """The conditions of the comprehension that a call is passed: it runs just before the call."""
    one, last = model.def_of(frame), frame.code.evaluated_by(number)
    found: list[int] = []
    loop = 0
    for step in reversed(one.steps[: last or 0]):
        loops = [n for n in one.loops_around(step.context) if one.contexts[n].expr == iterable]
        if not loops or loop not in (0, loops[-1]):
            break
        loop = loops[-1]
        if isinstance(step, ir.Test):
            found.append(step.expr)
    return found


def _says_any(test: int, negated: bool, searched: Search, frame: Frame, model: Model) -> bool:
    """Whether a test, or its contrary, says that the search finds something."""
    match model.ev.expr(frame, test):
        case ir.Unary("not", operand):
            return _says_any(operand, not negated, searched, frame, model)
        case ir.BoolOp(op, left, right) if op == ("or" if negated else "and"):
            return any(_says_any(side, negated, searched, frame, model) for side in (left, right))
        case ir.Call(func, (_,)) if not negated and _ANY in model.ev.eval(func, frame).atoms:
            said = search_of(test, frame, model)
            exprs = frame.code.exprs
            return said is not None and all(
                is_alike(one, other, exprs) for one, other in zip(said, searched, strict=True)
            )
    return False
