"""What a test or an assertion before says of a value: after `assert options.copies == 1`, and inside of `if mode ==
"train":`, it is that constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code, Equality, Frame
from loaderlint.project.evaluation.values import Literal_, Val, of

_KINDS = frozenset({"int", "float", "bool", "str"})
_LOOPS = ("loop", "while")
#: How many branches around a test are looked at, how many equalities of each, and how many steps after one.
_MAX_AROUND, _MAX_IN_ONE, _MAX_STEPS = 32, 16, 400
#: How many constants of a list.
_MAX_VALUES = 8


def asserted_value(number: int, test: int, frame: Frame, is_dead: Callable[[int], bool]) -> Val | None:
    """What expression `number` is where the def evaluates `test`: one of some constants. None if nothing before says
    so, or if it may be another one since. `is_dead`: whether the steps of a context never run."""
    at = frame.code.evaluated_by(test) if _equalities(frame.code) else None
    return value_asserted_at(number, at, frame, is_dead)


def value_asserted_at(number: int, at: int | None, frame: Frame, is_dead: Callable[[int], bool]) -> Val | None:
    """As `asserted_value`, at a step."""
    code = frame.code
    equalities = _equalities(code)
    if at is None or code.one is None or not equalities:
        return None
    for context in (*islice(code.one.enclosing(code.one.steps[at].context), _MAX_AROUND), 0):
        for one in equalities.get(context, ()):
            if at - _MAX_STEPS < one.step < at and _reads_same(one.left, number, code.exprs):
                changing = (step for step in _between(one, at, code) if _may_change(step, number, code))
                if all(is_dead(step.context) for step in changing):
                    return of(*(Literal_(value.kind, value.value) for value in one.values))
    return None


def _equalities(code: Code) -> dict[int, list[Equality]]:
    """What the tests and assertions of a def say, by the branch in which it holds: the last ones first."""
    if code.equalities is None:
        code.equalities = _find_equalities(code)
    return code.equalities


def _find_equalities(code: Code) -> dict[int, list[Equality]]:
    if code.one is None:
        return {}
    branching = {here.expr for here in code.one.contexts} | {e.test for e in code.exprs if isinstance(e, ir.IfExp)}
    found = [
        Equality(number, step.context, *pair)
        for number, step in code.steps_of(ir.Test)
        if step.expr not in branching
        for pair in _equal(step.expr, False, code)
    ]
    for context, here in enumerate(code.one.contexts):
        pairs = list(_equal(here.expr, here.negated, code)) if here.kind == "if" and here.expr != ir.NONE else ()
        at = code.evaluated_by(here.expr) if pairs else None
        found += [Equality(at, context, *pair) for pair in pairs] if at is not None else []
    by_context: dict[int, list[Equality]] = {}
    for one in sorted(found, reverse=True):
        kept = by_context.setdefault(one.context, [])
        if len(kept) < _MAX_IN_ONE:
            kept.append(one)
    return by_context


def _equal(test: int, negated: bool, code: Code) -> Iterator[tuple[int, tuple[ir.Const, ...]]]:
    """The expressions, each with the constants of which it is one where a test is true, or where it is not
    (`negated`)."""
    for part, holds in ir.implied(code.exprs, test, not negated):
        match code.exprs[part]:
            case ir.Compare(left, ("==" | "!=" as op,), (right,)) if (op == "==") is holds:
                value = code.exprs[right]
                if isinstance(value, ir.Const) and value.kind in _KINDS:
                    yield left, (value,)
            case ir.Compare(left, ("in" | "not in" as op,), (right,)) if (op == "in") is holds:
                listed = code.exprs[right]
                values = [code.exprs[item] for item in listed.items] if isinstance(listed, ir.Seq) else []
                constants = [one for one in values if isinstance(one, ir.Const) and one.kind in _KINDS]
                if 0 < len(constants) == len(values) <= _MAX_VALUES:
                    yield left, tuple(constants)


def _between(one: Equality, at: int, code: Code) -> Iterator[ir.Step]:
    """The steps that may run after an equality and before step `at`: in a loop that is around that step alone, also
    those after it."""
    assert code.one is not None
    steps = code.one.steps
    around = set(code.one.enclosing(one.context))
    is_repeated = any(
        code.one.contexts[n].kind in _LOOPS and n not in around for n in code.one.enclosing(steps[at].context)
    )
    yield from steps[one.step + 1 : len(steps) if is_repeated else at]


def _reads_same(one: int, other: int, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether two expressions read the same local variable, or the same attribute of it."""
    while isinstance(e := exprs[one], ir.Attr) and isinstance(also := exprs[other], ir.Attr) and one != other:
        if e.name != also.name:
            return False
        one, other = e.base, also.base
    return one == other or (isinstance(e, ir.Param) and e == exprs[other])


def _may_change(step: ir.Step, number: int, code: Code) -> bool:
    """Whether a step may assign an attribute that an expression reads, or passes the object that has it to a function
    that may."""
    read = code.exprs[number]
    if not isinstance(read, ir.Attr):
        return False
    if isinstance(step, ir.SetAttr):
        return step.name == read.name
    call = code.exprs[step.call] if isinstance(step, ir.Perform) else None
    if not isinstance(call, ir.Call):
        return False
    root, func = _root(number, code), code.exprs[call.func]
    passed = [arg.value for arg in call.args] + ([func.base] if isinstance(func, ir.Attr) else [])
    return any(_is_object(one, root, read.name, code) for one in passed)


def _root(number: int, code: Code) -> ir.Expr | int:
    """The variable of which an expression reads an attribute."""
    while isinstance(e := code.exprs[number], ir.Attr):
        number = e.base
    return e if isinstance(e, ir.Param) else number


def _is_object(number: int, root: ir.Expr | int, name: str, code: Code) -> bool:
    """Whether an expression is a variable, or an attribute of it other than the one that is asked about."""
    e = code.exprs[number]
    return _root(number, code) == root and not (isinstance(e, ir.Attr) and e.name == name)
