"""Tests of settings: their answer is the same for all samples, so a branch under one whose value is not known may never
run."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    Unknown,
    def_key,
)
from loaderlint.project.reach.model import Loader, Model

_READ = (ir.Attr, ir.Global, ir.Imported, ir.Capture)
_OF_SETTINGS = (*_READ, ir.Index, ir.Const, ir.Param, ir.Unary, ir.BoolOp, ir.Compare, ir.Seq)
#: Builtins whose result is the same each time that they get the same setting.
_QUESTIONS = frozenset("bool callable getattr hasattr isinstance issubclass len".split())


def is_setting(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test reads only attributes of the object and names outside of the def, and its result is not known."""
    return _reads_settings(test, frame, model) and model.ev.liveness.truth(test, frame) is None


def rests_on_unknown(context: int, frame: Frame, model: Model) -> bool:
    """Whether a context of worker code only runs under a setting that may have other values: code that is not known
    makes it, or there are alternatives. Constants that known callers pass are no doubt: each is passed some time."""
    around = (one for one in model.def_of(frame).around(context) if one.expr != NONE)
    return any(_is_in_doubt(one, frame, model) for one in around)


def may_never_hold(test: int, negated: bool, frame: Frame, model: Model) -> bool:
    """Whether a test, or its contrary, asks for such a setting: as a whole, or as one of several conditions that must
    all hold."""
    match model.ev.expr(frame, test):
        case ir.Unary("not", operand):
            return may_never_hold(operand, not negated, frame, model)
        case ir.BoolOp(op, left, right) if (op == "or") is negated:
            return any(may_never_hold(side, negated, frame, model) for side in (left, right))
    return is_setting(test, frame, model) and _may_differ(test, frame, model)


def _is_in_doubt(one: ir.Context, frame: Frame, model: Model) -> bool:
    if one.kind == "match":
        return _reads_settings(one.expr, frame, model) and _may_differ(one.expr, frame, model)
    return one.kind == "if" and may_never_hold(one.expr, one.negated, frame, model)


def is_reached_in_doubt(frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether a loader reaches a frame only over a call that rests on such a setting, or may call something else."""
    chain = model.chain(frame, loader)
    return any(_is_doubtful_link(before, after, model) for before, after in zip(chain, chain[1:], strict=False))


def may_call_another(call: int, frame: Frame, model: Model) -> bool:
    """Whether an attribute or a variable that is called has several values, of which a dataset uses one: functions that
    a setting chooses between, or one that code gives that is not known. The items of a list are all called."""
    e = model.ev.expr(frame, call)
    if not isinstance(e, ir.Call) or not _is_one_value(e.func, frame, model):
        return False
    atoms = [atom for atom in model.ev.eval(e.func, frame).atoms if not isinstance(atom, Literal_)]
    if len(atoms) < 2:
        return False
    known = {def_key(target) for target in model.ev.targets(call, frame)}
    return len(known) > 1 or any(isinstance(atom, Unknown | Lib | LibObject | LibMember) for atom in atoms)


def _is_doubtful_link(before: Frame, after: Frame, model: Model) -> bool:
    call = model.call_to(before, after)
    if call is None:
        return False
    return rests_on_unknown(before.code.context_of(call), before, model) or may_call_another(call, before, model)


def _is_one_value(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression reads the same value for all samples: no item of a sequence, but one under a setting."""
    match model.ev.expr(frame, number):
        case ir.Attr(base, _):
            return _is_one_value(base, frame, model)
        case ir.Index(base, index):
            return _reads_settings(index, frame, model) and _is_one_value(base, frame, model)
        case ir.Param() as e:
            return ir.is_self(e)
        case ir.Global() | ir.Imported() | ir.Capture():
            return True
    return False


def set_by_workers(receiver: Atom, model: Model) -> frozenset[str]:
    """The attributes of an object that worker code sets after its construction."""
    return model.remembered(_set_by_workers, receiver)


def _set_by_workers(receiver: Atom, model: Model) -> frozenset[str]:
    frames = (one for one in model.reached_on(receiver) if model.def_of(one).name != "__init__")
    return frozenset(step.name for frame in frames for _, step in model.steps_of(frame, ir.SetAttr))


def _reads_settings(test: int, frame: Frame, model: Model) -> bool:
    exprs = frame.code.exprs
    changed = set_by_workers(frame.receiver, model) if isinstance(frame.receiver, Instance) else frozenset[str]()
    is_any_read = False
    for part in ir.made_of(exprs, [test]):
        match exprs[part]:
            case ir.Param() as e if not ir.is_self(e) or frame.receiver is None:
                return False
            case ir.Attr(base, name) if name in changed and ir.is_self(exprs[base]):
                return False
            case ir.Call(func, _) if not _asks(func, frame):
                return False
            case ir.Call():
                continue
            case e if not isinstance(e, _OF_SETTINGS):
                return False
            case e:
                is_any_read = is_any_read or isinstance(e, _READ)
    return is_any_read


def _asks(func: int, frame: Frame) -> bool:
    """Whether a call looks something up, or asks what it is."""
    e = frame.code.exprs[func]
    return (isinstance(e, ir.Global) and e.name in _QUESTIONS) or (isinstance(e, ir.Attr) and e.name == "get")


def _may_differ(test: int, frame: Frame, model: Model) -> bool:
    exprs = frame.code.exprs
    functions = {e.func for e in exprs if isinstance(e, ir.Call)}
    return any(
        not isinstance(atom, Literal_)
        for part in ir.made_of(exprs, [test])
        if isinstance(exprs[part], (*_READ, ir.Index)) and part not in functions
        for atom in model.ev.eval(part, frame).atoms
    )
