"""Calls whose exception is expected: in a `try` that catches it, in `pytest.raises`, or after a test."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import Site
from loaderlint.project.reach.model import Model

#: The exceptions whose handlers catch a ValueError.
_CATCHING = frozenset({"ValueError", "Exception", "BaseException"})


def is_expected(site: Site, tested: int, model: Model) -> bool:
    """Whether a ValueError is expected of the call at `site`, or the call is under a test of what expression
    `tested` names (NONE: of nothing)."""
    frame = site.frame
    one = model.def_of(frame)
    names = set(_names(tested, frame, model)) if tested != NONE else set()
    at, here = next(
        ((n, s.context) for n, s in enumerate(one.steps) if isinstance(s, ir.Perform) and s.call == site.expr), (0, 0)
    )

    def is_about(test: int) -> bool:
        return tested in ir.made_of(frame.code.exprs, [test]) or not names.isdisjoint(_names(test, frame, model))

    if any(map(is_about, _asserted(at, here, frame.code))):
        return True
    while here > 0:
        context = one.contexts[here]
        if context.kind in ("if", "while") and context.expr != NONE and is_about(context.expr):
            return True
        if context.kind == "try" and _catches_it(here, frame, model):
            return True
        if context.kind == "with" and any("raises" in name.lower() for name in _names(context.expr, frame, model)):
            return True
        here = context.parent
    return False


def _asserted(before: int, context: int, code: Code) -> Iterator[int]:
    """What is asserted on every way to a step of a context."""
    one = code.one
    if one is None:
        return
    branching = {around.expr for around in one.contexts} | {e.test for e in code.exprs if isinstance(e, ir.IfExp)}
    for number, step in code.steps_of(ir.Test):
        if number < before and step.expr not in branching and one.is_within(context, step.context):
            yield step.expr


def _catches_it(block: int, frame: Frame, model: Model) -> bool:
    """Whether a handler of the `try` block that is context `block` may catch the ValueError of a loader. A handler that
    names other built-in exceptions only does not."""
    one = model.def_of(frame)
    for number in one.handlers(block):
        expr = one.contexts[number].expr
        caught = set(_names(expr, frame, model)) if expr != NONE else set()
        if not caught or caught & _CATCHING or not all(hasattr(builtins, name) for name in caught):
            return True
    return False


def _names(number: int, frame: Frame, model: Model) -> Iterator[str]:
    """The names that an expression reads."""
    match model.ev.expr(frame, number):
        case ir.Global(name):
            yield name
        case ir.Param(index):
            yield model.def_of(frame).params[index].name
        case ir.Imported(_, name, _):
            yield name or ""
        case ir.Attr(base, name):
            yield name
            if not isinstance(model.ev.expr(frame, base), ir.Global | ir.Param):
                yield from _names(base, frame, model)
        case ir.Call(func, args):
            for part in (func, *(arg.value for arg in args)):
                yield from _names(part, frame, model)
        case ir.Compare(left, _, rights):
            for part in (left, *rights):
                yield from _names(part, frame, model)
        case ir.BoolOp(_, left, right) | ir.Bin(_, left, right):
            yield from _names(left, frame, model)
            yield from _names(right, frame, model)
        case ir.Unary(_, operand):
            yield from _names(operand, frame, model)
        case ir.Seq(_, items):
            for item in items:
                yield from _names(item, frame, model)
