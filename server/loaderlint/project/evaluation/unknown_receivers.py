"""Calls of methods on objects that are not known: `data.get_loader(workers=args.workers)`, where nobody sees what
`data` is. A method that no other code calls may run there, so the defaults of its parameters are not all that they may
be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.registries import makes_configured
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.values import (
    OF_MISSING_MODULE,
    FunctionRef,
    LibObject,
    Literal_,
    Site,
    Unknown,
    Val,
    choices_of,
    is_none,
    join,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Methods whose arguments tell by position, too, what they are. Libraries have methods with many other names.
_OWN_NAME = re.compile("loader", re.IGNORECASE)
#: The reasons of unknown values that may be a module of the project.
_MODULES = frozenset({"importlib"})
_PLAIN = frozenset({"pos", "kw"})


def may_pass(name: str, params: Sequence[ir.ParamIR], call: ir.Call) -> bool:
    """Whether the text of a call may pass a parameter that has a default, to a def that is called `name`."""
    usual = {param.name for param in params if param.default != ir.NONE}
    named = any(arg.kind == "kw" and arg.name in usual for arg in call.args)
    return named or bool(_OWN_NAME.search(name) and any(arg.kind == "pos" for arg in call.args))


def passed_to(
    ev: Evaluator, function: FunctionRef, params: Sequence[ir.ParamIR], site: Site, *, is_method: bool
) -> Mapping[int, Val]:
    """What a call passes to a def if it is one of something unknown that may be this def, by the index of the
    parameter. Empty if it is not, or if the def does not accept the arguments."""
    call = ev.expr(site.frame, site.expr)
    if not isinstance(call, ir.Call) or not _is_of_unknown(ev, call.func, site.frame, is_method=is_method):
        return {}
    arguments = ev.calls.arguments(call, site.frame)
    if not arguments.fit(params, is_method) or ev.functions.decoration(function) != "plain":
        return {}
    written = [arg for arg in call.args if arg.kind in _PLAIN]
    names = {arg.name for arg in written if arg.kind == "kw"}
    first = int(is_method)
    last = first + sum(arg.kind == "pos" for arg in written) if len(written) == len(call.args) else first
    bound = arguments.bind(params[first:], None)
    return {
        index: value
        for index, (param, value) in enumerate(zip(params[first:], bound, strict=True), first)
        if value is not None and (param.name in names or index < last)
    }


def _is_of_unknown(ev: Evaluator, func: int, frame: Frame, *, is_method: bool) -> bool:
    """Whether a callee is an attribute of something unknown: an object, or a module if the attribute is no method."""
    match ev.expr(frame, func):
        case ir.Attr(base, _):
            atoms = ev.eval(base, frame).atoms
        case ir.Call(_, args) if args:
            atoms = ev.eval(args[0].value, frame).atoms | ev.eval(func, frame).atoms
            return bool(atoms) and all(map(_is_unknown_here, atoms))
        case _:
            return False
    owners = [one for one in atoms if not is_none(one)]
    if not is_method:
        return bool(owners) and all(isinstance(one, Unknown) and one.reason in _MODULES for one in owners)
    return bool(owners) and all(map(_may_be_of_project, owners)) and not _asks_base(ev, func, frame)


def _may_be_of_project(owner: object) -> bool:
    """Whether an object of which only its origin is known may be one of the project's classes."""
    if isinstance(owner, LibObject):
        return bool(makes_configured(owner.name))
    return _is_unknown_here(owner)


def _is_unknown_here(value: object) -> bool:
    """Whether a value is unknown, and not because its module is missing."""
    return isinstance(value, Unknown) and value.reason not in OF_MISSING_MODULE


def _asks_base(ev: Evaluator, func: int, frame: Frame) -> bool:
    """Whether a callee is a method of the base class: `super().get_loader`."""
    e = ev.expr(frame, func)
    base = ev.expr(frame, e.base) if isinstance(e, ir.Attr) else None
    return isinstance(base, ir.Call) and ev.expr(frame, base.func) == ir.Global("super")


def getattr_calls(exprs: Sequence[ir.Expr], one: ir.DefIR) -> Iterator[tuple[ir.Perform, ir.Call]]:
    """The calls in a def of what `getattr` gives: `getattr(module, name)(...)`."""
    for step in one.steps:
        call = exprs[step.call] if type(step) is ir.Perform else None
        func = exprs[call.func] if isinstance(call, ir.Call) and call.func != ir.NONE else None
        if type(step) is ir.Perform and isinstance(call, ir.Call) and isinstance(func, ir.Call):
            if exprs[func.func] == ir.Global("getattr") and len(func.args) >= 2:
                yield step, call


def looks_up(ev: Evaluator, call: ir.Call, frame: Frame, name: str) -> bool:
    """Whether the callee of a call is `getattr(x, name)`, where an option may say the name."""
    getter = ev.expr(frame, call.func)
    if not isinstance(getter, ir.Call) or len(getter.args) < 2:
        return False
    key = ev.eval(getter.args[1].value, frame)
    texts = {one.value for one in key.only(Literal_)}
    return name in texts.union(*(choices_of(key) or ()))


def with_passed(usual: Sequence[Val | None], passed: Sequence[Mapping[int, Val]], ev: Evaluator) -> list[Val | None]:
    """The arguments of a frame that unknown code calls, where a parameter may also be what one of these calls
    passes."""
    return [
        value
        if value is None
        else join((value, *(one[index] for one in passed if _is_news(ev, value, one.get(index)))))
        for index, value in enumerate(usual)
    ]


def _is_news(ev: Evaluator, usual: Val, given: Val | None) -> bool:
    """Whether a call may pass something else than the default, which is a number, a text or a flag. A default number of
    workers stays what it is where a call passes less than one, or where the number is not known."""
    literal = usual.literal
    if given is None or literal is None or literal.value is None:
        return False
    is_number = type(literal.value) in (int, float) and literal.value
    return not is_number or count_of(ev, given).least >= 1


def is_trusted(value: Val | None) -> bool:
    """Whether an argument is a default that counts as the usual value."""
    literal = value.literal if value is not None else None
    return isinstance(literal, Literal_) and literal.value is not None
