"""Where code numbers things by their position in a sequence, as it numbers the classes of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model


def numbered(frame: Frame, model: Model) -> Iterator[int]:
    """The sequences by whose position a frame numbers something: `{name: number for number, name in enumerate(names)}`,
    `names.index(name)`, a counted folder."""
    dicts = model.remembered(_dict_comprehensions, frame.path, frame.piece)
    written = {n for _, step in model.steps(frame) for n in ir.step_expressions(step)} if dicts else set()
    for number, e in dicts:
        if number in written or number in frame.memo:
            yield _enumerated(e.element, frame, model)
    for _, step in model.steps_of(frame, ir.SetItem):
        yield _enumerated(step.value, frame, model)
    yield from _counted(frame, model)
    one = model.def_of(frame)
    for perform, base in frame.code.attribute_calls({"index"}):
        call = model.ev.expr(frame, perform.call)
        if isinstance(call, ir.Call) and len(call.args) == 1:
            yield base
    for perform, _ in frame.code.attribute_calls({"append"}):
        call = model.ev.expr(frame, perform.call)
        if not isinstance(call, ir.Call) or not call.args or len(list(one.loops_around(perform.context))) < 2:
            continue
        for part in _items(call.args[0].value, frame, model):
            if (source := _enumerated(part, frame, model)) != NONE:
                yield source


def _dict_comprehensions(path: Path, piece: int, model: Model) -> list[tuple[int, ir.Comp]]:
    """The dictionaries that comprehensions make in a piece: it may hold thousands of functions."""
    facts = model.ev.facts(path, piece)
    exprs = facts.ir.exprs if facts else ()
    return [(number, e) for number, e in enumerate(exprs) if isinstance(e, ir.Comp) and e.kind == "dict"]


def _counted(frame: Frame, model: Model) -> Iterator[int]:
    """What loops go over that count their turns, `number += 1`, and give the files of each turn its number."""
    one, exprs = model.def_of(frame), model.facts(frame).ir.exprs
    for _, step in model.steps_of(frame, ir.Bind):
        counter = _counter(exprs[step.value], exprs) if step.value != NONE else NONE
        loop = next(one.loops_around(step.context), 0)
        if counter != NONE and loop and _gives_number(counter, loop, frame, model):
            yield one.contexts[loop].expr


def _counter(e: ir.Expr, exprs: tuple[ir.Expr, ...]) -> int:
    """The number that `number += 1` counts on, NONE for anything else."""
    match e:
        case ir.Augmented("+", counted, by) | ir.Bin("+", counted, by):
            return counted if exprs[by] == ir.Const("int", 1) and isinstance(exprs[counted], ir.Phi) else NONE
    return NONE


def _gives_number(counter: int, loop: int, frame: Frame, model: Model) -> bool:
    """Whether tuples that are made in a loop inside of `loop`, one for each file, hold the number of its turn."""
    one, exprs = model.def_of(frame), model.facts(frame).ir.exprs
    for _, step in model.steps(frame):
        if not one.is_within(step.context, loop):
            continue
        inner = next(one.loops_around(step.context), 0) != loop
        for part in ir.made_of(exprs, ir.step_expressions(step)):
            e = exprs[part]
            given = exprs[e.element] if isinstance(e, ir.Comp) else e if inner else None
            if isinstance(given, ir.Seq) and given.kind == "tuple" and counter in given.items:
                return True
    return False


def _enumerated(value: int, frame: Frame, model: Model) -> int:
    """The iterable, if a value is the number that `enumerate` yields; else NONE."""
    e = model.ev.expr(frame, value)
    item = model.ev.expr(frame, e.value) if isinstance(e, ir.Unpack) and e.index == 0 else None
    call = model.ev.expr(frame, item.iterable) if isinstance(item, ir.Element) else None
    if isinstance(call, ir.Call) and call.args and Lib("builtins.enumerate") in model.ev.eval(call.func, frame).atoms:
        return call.args[0].value
    return NONE


def _items(value: int, frame: Frame, model: Model) -> tuple[int, ...]:
    e = model.ev.expr(frame, value)
    return (value, *e.items) if isinstance(e, ir.Seq) else (value,)
