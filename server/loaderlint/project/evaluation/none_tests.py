"""Tests for None that what ran before decides: after `record["size"] = 3`, `record is not None` holds. And what such
tests say of a value: under `if size:`, it is neither None nor 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation import operators
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    NONE_VALUE,
    Atom,
    FunctionRef,
    Instance,
    Literal_,
    Method,
    Val,
    def_key,
    unknown,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The calls that are followed from a test.
_MAX_DEPTH = 4
_CALLED_AS_IT_IS = frozenset({"plain", "static", "class"})


def is_never_none(ev: Evaluator, number: int, step: int, frame: Frame, depth: int = 0) -> bool:
    """Whether expression `number` is not None where step `step` reads it: it was used as None cannot be, or the
    functions that give it used it so, or the call that creates the object of a constructor passes what is not None."""
    value = ev.eval(number, frame)
    if value.atoms and operators.compare("is", value, NONE_VALUE) is False:
        return True
    if _is_used_before(number, step, frame):
        return True
    e = ev.expr(frame, number)
    if depth >= _MAX_DEPTH or not isinstance(e, ir.Call | ir.Param):
        return False
    return _gives(ev, number, frame, depth) if isinstance(e, ir.Call) else _is_passed(ev, e.index, frame, depth)


def _is_passed(ev: Evaluator, index: int, frame: Frame, depth: int) -> bool:
    """Whether the call that creates an object passes something to a parameter of its constructor that is not None."""
    passed = ev.calls.passed_to(frame, index)
    made = frame.receiver.site if isinstance(frame.receiver, Instance) else None
    if passed is None or made is None:
        return False
    step = made.frame.code.evaluated_by(made.expr)
    return step is not None and is_never_none(ev, passed.expr, step, passed.frame, depth + 1)


def _is_used_before(number: int, step: int, frame: Frame) -> bool:
    """Whether a step that always runs before another one raises if an expression is None. What a loop or a branch
    chooses (a `Phi`) may be another object by then."""
    one = frame.code.one
    if one is None or isinstance(frame.code.exprs[number], ir.Phi):
        return False
    context = one.steps[step].context
    return any(use < step and one.is_within(context, one.steps[use].context) for use in frame.code.none_uses(number))


def _gives(ev: Evaluator, number: int, frame: Frame, depth: int) -> bool:
    """Whether all functions that a call may run are known, and none of them returns None."""
    call = ev.expr(frame, number)
    called = [_function(ev, atom) for atom in ev.eval(call.func, frame).atoms] if isinstance(call, ir.Call) else []
    functions = [one for one in called if one is not None and ev.functions.decoration(one) in _CALLED_AS_IT_IS]
    targets = ev.targets(number, frame)
    if not targets or len(functions) != len(called) or {*map(def_key, functions)} != {*map(def_key, targets)}:
        return False
    return all(_returns(ev, target, depth) for target in targets)


def _function(ev: Evaluator, called: Atom) -> FunctionRef | None:
    match called:
        case FunctionRef():
            return called
        case Method(function, _, _):
            return function
        case Instance(cls):
            member = ev.classes.member(cls, "__call__")
            return member.function if member is not None else None
    return None


def _returns(ev: Evaluator, frame: Frame, depth: int) -> bool:
    """Whether each call that runs a frame returns something that is not None."""
    one = frame.code.one
    if one is None or one.is_generator or one.kind not in ("function", "lambda"):
        return False
    if one.falls_through and not ev.liveness.always_returns(frame):
        return False
    returns = list(ev.liveness.returns(frame))
    return bool(returns) and all(
        step.value != ir.NONE and is_never_none(ev, step.value, number, frame, depth + 1) for number, step in returns
    )


def in_branch(ev: Evaluator, number: int, context: int, frame: Frame) -> Val:
    """What expression `number` may be in a branch: without the constants that a test around the branch rules out, as
    None is by `if size is not None:`, and 0 as well by `if size:`."""
    value = ev.eval(number, frame)
    one = frame.code.one
    if context <= 0 or one is None or not any(isinstance(atom, Literal_) for atom in value.atoms):
        return value
    tests = [(here.expr, not here.negated) for here in one.around(context) if here.kind == "if"]
    ruled_out = {kind for test, holds in tests for kind in _ruled_out(number, test, holds, frame)}
    left = frozenset(atom for atom in value.atoms if not (isinstance(atom, Literal_) and _kind(atom) in ruled_out))
    if len(left) == len(value.atoms):
        return value
    return Val(left, value.origins) if left else unknown("parameter")  # some call must pass something else


def _kind(constant: Literal_) -> str:
    if constant.kind == "NoneType":
        return "none"
    return "" if constant.value or constant.kind == "ellipsis" else "empty"


def _ruled_out(number: int, test: int, holds: bool, frame: Frame) -> Iterator[str]:
    """The kinds of constants ("none", "empty") that an expression is not if a test holds, or if it does not."""
    exprs = frame.code.exprs
    for part, is_true in ir.implied(exprs, test, holds) if test != ir.NONE else ():
        if part == number and is_true:
            yield from ("none", "empty")
            continue
        match exprs[part]:
            case ir.Compare(left, ("is" | "is not" as op,), (right,)) if left == number and (op == "is not") is is_true:
                constant = exprs[right]
                if isinstance(constant, ir.Const) and constant.kind == "NoneType":
                    yield "none"
