"""Places of a program of which a run comes by one at most: in branches whose tests exclude each other, or one of which
switches workers off."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Site, order_of_atom
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.opposed_branches import last_name, setting_name
from loaderlint.rules.shared.branches import are_apart


def never_with(one: Site, other: Site, model: Model) -> bool:
    """Whether what is created at one of two places is never there together with what is created at the other: `if
    args.data in ("a", "b"):` and `if args.data == "c":`, or two branches of one `match`."""
    if one.frame is other.frame:
        code = one.frame.code
        if code.one is not None and are_apart(code.context_of(one.expr), code.context_of(other.expr), one.frame, model):
            return True
    return model.opposed_settings.are_apart(one, other)


def starts_none_with(made: Site, loader: Loader, model: Model) -> bool:
    """Whether the branch that creates something also sets what the loader takes for its number of workers to 0:
    `configs["num_workers"] = 0`."""
    passed = _workers_of(loader, model)
    code, frame = made.frame.code, made.frame
    if passed is None or loader.site is None or code.one is None:
        return False
    here = code.context_of(made.expr)
    name = _name_of_local(loader.site.frame, passed) or setting_name(model.ev, loader.site.frame, passed)
    stores = [one for one in model.remembered(_stores, frame) if one.name == name]
    before = code.evaluated_by(loader.site.expr) if loader.site.frame is frame else None
    for one in reversed(stores):
        if (before is None or one.step < before) and not are_apart(one.context, here, frame, model):
            literal = model.ev.eval(one.value, frame).literal
            return one.context in (0, *code.one.enclosing(here)) and literal is not None and literal.value == 0
    return False


def _workers_of(loader: Loader, model: Model) -> int | None:
    """What the call that creates a loader passes for its number of workers."""
    call = model.ev.expr(loader.site.frame, loader.site.expr) if loader.site is not None else None
    args = call.args if isinstance(call, ir.Call) else ()
    return next((arg.value for arg in args if arg.name == "num_workers"), None)


class _Store(NamedTuple):
    """A step that binds a local, or sets an attribute or an item; `name` as in `setting_name`."""

    step: int
    name: str
    context: int
    value: int


def _stores(frame: Frame, model: Model) -> list[_Store]:
    found: list[_Store] = []
    for number, step in model.steps(frame):
        name = _stored_name(step, frame)
        if name and isinstance(step, ir.Bind | ir.SetAttr | ir.SetItem) and step.value != ir.NONE:
            found.append(_Store(number, name, step.context, step.value))
    return found


def _stored_name(step: ir.Step, frame: Frame) -> str:
    code = frame.code
    match step:
        case ir.Bind():
            return f"{frame.order} local {step.name}"
        case ir.SetAttr(base=base, name=name) if ir.is_self(code.exprs[base]) and frame.receiver is not None:
            return f"{order_of_atom(frame.receiver)}.{name}"
        case ir.SetAttr(base=base, name=name):
            owner = last_name(code, base)
            return f"{owner}.{name}" if owner else ""
        case ir.SetItem(base=base, index=index):
            key, owner = code.exprs[index], last_name(code, base)
            return f"{owner}.{key.value}" if owner and isinstance(key, ir.Const) else ""
    return ""


def _name_of_local(frame: Frame, number: int) -> str:
    """A name for a local that several statements bind; '' for another expression."""
    if not isinstance(frame.code.exprs[number], ir.Phi):
        return ""
    name = last_name(frame.code, number)
    choices = frame.code.chosen_from(number)
    names = {bind.name for choice in choices for _, bind in frame.code.bindings.get(choice, ())} or {name}
    return f"{frame.order} local {names.pop()}" if len(names) == 1 else ""
