"""What code does with the result of `get_worker_info()`: it may take a share of a stream by it, or only print it and
seed with it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import ExprId
from loaderlint.knowledge.numpy_random import GENERATOR_SEEDS, GENERATORS, SEEDERS
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.told_values import tells, users

#: Expressions with a part of the result, or a number that is made of it.
_MADE_OF_IT = (ir.Attr, ir.Bin, ir.Unary, ir.BoolOp, ir.IfExp, ir.Phi, ir.Text, ir.Seq, ir.Unpack)
#: Functions that make another number of a number.
_NUMBERS = frozenset(f"builtins.{name}" for name in "int float str abs hash max min".split())


def may_share_out(call: WorkerCall, model: Model) -> bool:
    """Whether code may take a share by the result of a call of `get_worker_info()`. It does not where it asks whether
    the result is None, prints it, and makes seeds of it."""
    exprs, frame = call.frame.code.exprs, call.frame
    waiting, seen = [call.number], {call.number}
    while waiting:
        number = waiting.pop()
        for user, e in users(number, exprs):
            if isinstance(e, ir.Compare) and e.ops in (("is",), ("is not",)):
                continue
            if isinstance(e, ir.Call) and _is_seed_or_text(e, number, call, model):
                continue
            if not isinstance(e, _MADE_OF_IT) and not (isinstance(e, ir.Call) and _is_number(e, call, model)):
                return True
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    one = model.def_of(frame)
    kept = {step.name for step in one.steps if isinstance(step, ir.Bind) and step.value in seen}
    return any(_goes_on(step, seen) for step in one.steps) or any(
        isinstance(e, ir.Capture) and e.name in kept for e in exprs
    )


def _is_seed_or_text(e: ir.Call, number: ExprId, call: WorkerCall, model: Model) -> bool:
    """Whether a call seeds with a value, makes a generator of it, or prints it."""
    func = model.ev.expr(call.frame, e.func)
    if tells(e, number, call.frame, model):
        return True
    if isinstance(func, ir.Attr) and func.base != number and func.name in GENERATOR_SEEDS:
        return True
    callees = model.ev.eval(e.func, call.frame).atoms
    return bool(callees) and all(
        isinstance(one, Lib) and (one.name in SEEDERS or one.name in GENERATORS) for one in callees
    )


def _is_number(e: ir.Call, call: WorkerCall, model: Model) -> bool:
    callees = model.ev.eval(e.func, call.frame).atoms
    return bool(callees) and all(isinstance(one, Lib) and one.name in _NUMBERS for one in callees)


def _goes_on(step: ir.Step, made: set[ExprId]) -> bool:
    """Whether a step stores what is made of the result, gives it to other code, or goes through it."""
    match step:
        case ir.Bind(_, _, value, scope):
            return scope != "local" and value in made
        case ir.SetAttr() | ir.SetItem() | ir.Augment() | ir.Return() | ir.YieldStep() | ir.Iterate() | ir.Enter():
            return not made.isdisjoint(ir.step_expressions(step))
    return False
