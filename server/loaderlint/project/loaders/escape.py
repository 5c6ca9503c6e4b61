"""Classes that escape: they are passed on, stored, returned or chosen, not only called.

The def alone does not show what the call of a parameter runs. If no loader class escapes anywhere in the project, such
a call makes no loader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation import library_calls
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.values import Lib

#: A text that names something: `DataLoader`, `torch.utils.data.DataLoader`, `torch.utils.data:DataLoader`.
_NAMES = re.compile(r"(?:[\w.]+[.:])?(\w+)")
#: Steps that do not pass on their value.
_IDLE = (ir.Evaluate, ir.Test, ir.Raise, ir.Delete, ir.Enter)


#: The numbers of expressions, each with whether its value is passed on.
_Going = Iterable[tuple[int, bool]]


def in_def(def_: int, facts: PieceFacts, names: frozenset[str], here: Unframed) -> Iterator[int]:
    """The expressions of def `def_` that are written as one of `names`, or are a text that ends with one, and whose
    value escapes: it is not only called, compared or an annotation. A local variable escapes where it is used."""
    return _named(_begin(def_, facts), facts, names, here)


def in_value(number: int, facts: PieceFacts, names: frozenset[str], here: Unframed) -> Iterator[int]:
    """The same for the expressions from which the value of expression `number` may be computed."""
    return _named([(number, True)], facts, names, here)


def depends_on_default(number: int, def_: int, facts: PieceFacts) -> bool:
    """Whether a parameter of the def with a constant as its default is part of an expression. If the callers are not
    known, the parameter is assumed to be that constant."""
    params, exprs = facts.ir.defs[def_].params, facts.ir.exprs
    for e in (exprs[one] for one in ir.made_of(exprs, [number])):
        default = params[e.index].default if isinstance(e, ir.Param) and e.index < len(params) else NONE
        if default != NONE and exprs[default] != ir.Const("NoneType", None):
            return True
    return False


def _named(begin: _Going, facts: PieceFacts, names: frozenset[str], here: Unframed) -> Iterator[int]:
    exprs = facts.ir.exprs
    written = {number for number, e in enumerate(exprs) if _is_named(e, number, facts, names)}
    waiting, seen = list(begin) if written else [], set[tuple[int, bool]]()
    while waiting:
        number, goes_on = waiting.pop()
        if number == NONE or (number, goes_on) in seen:
            continue
        seen.add((number, goes_on))
        e = exprs[number]
        if goes_on and number in written:
            yield number
        waiting += _parts(e, goes_on, here, facts, written)


def attribute_named(call: ir.Call, here: Unframed, facts: PieceFacts) -> str:
    """`x` of `getattr(object, "x")`, '' for other calls."""
    key = facts.ir.exprs[call.args[1].value] if len(call.args) > 1 and call.args[1].kind == "pos" else None
    if not isinstance(key, ir.Const) or not isinstance(key.value, str):
        return ""
    callee = here.value(call.func)
    return key.value if callee is not None and callee.atoms == {Lib("builtins.getattr")} else ""


def _is_named(e: ir.Expr, number: int, facts: PieceFacts, names: frozenset[str]) -> bool:
    if isinstance(e, ir.Const):
        text = _NAMES.fullmatch(e.value) if isinstance(e.value, str) else None
        return text is not None and text[1] in names
    return called_name(facts.ir.exprs, number) in names


def _begin(def_: int, facts: PieceFacts) -> Iterator[tuple[int, bool]]:
    """The expressions that a def evaluates, each with whether its value is passed on."""
    one = facts.ir.defs[def_]
    yield from ((param.default, True) for param in one.params)
    yield from ((number, True) for number in one.decorators)
    yield from ((number, True) for _, number in one.keywords)
    captured = any(inner.parent == def_ for inner in facts.ir.defs[1:])
    for step in one.steps:
        goes_on = not isinstance(step, _IDLE)
        if type(step) is ir.Bind and step.value != NONE:
            if isinstance(facts.ir.exprs[step.value], ir.Imported):
                continue
            goes_on = step.name != "__all__" and (captured or step.scope != "local" or one.kind in ("body", "class"))
        yield from ((number, goes_on) for number in ir.step_expressions(step))


def _parts(
    e: ir.Expr, goes_on: bool, here: Unframed, facts: PieceFacts, written: set[int]
) -> Iterator[tuple[int, bool]]:
    """The parts of an expression, each with whether its value is passed on. Of a call's arguments, only those that
    contain one of the `written`, so that most callees need not be evaluated."""
    match e:
        case ir.Call(func, args):
            yield func, False
            values = [arg.value for arg in args if not written.isdisjoint(ir.made_of(facts.ir.exprs, [arg.value]))]
            passed = bool(values) and not _forgets(func, here)
            yield from ((value, passed) for value in values)
        case ir.Compare() | ir.Attr() | ir.Text():
            yield from ((number, False) for number in ir.operands(e))
        case ir.Seq() | ir.Map():
            for number in ir.operands(e):
                yield number, goes_on and number != NONE and not isinstance(facts.ir.exprs[number], ir.Const)
        case _:
            yield from ((number, goes_on) for number in ir.operands(e))


def _forgets(func: int, here: Unframed) -> bool:
    """Whether the result of a call contains none of its arguments: `isinstance` and most functions of libraries."""
    callee = here.value(func)
    return callee is not None and all(
        isinstance(one, Lib) and library_calls.is_opaque(one.name) for one in callee.atoms
    )
