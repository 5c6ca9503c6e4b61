"""Where code numbers things by their position in a sequence, as it numbers the classes of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import ClassRef, Instance, Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import ListingOrder
from loaderlint.rules.unsorted_listing.kept_numbers import sample_codes, takes_items_by


def numbered(frame: Frame, order: ListingOrder, model: Model) -> Iterator[int]:
    """The sequences by whose position a frame numbers something: `{name: number for number, name in enumerate(names)}`,
    `names.index(name)`, a counted folder. Not those in which the frame, or worker code, looks items up by number: such
    a number is no class."""
    for number in _numbered(frame, order, model):
        if number != NONE and not _is_looked_up(number, frame, model):
            yield number


def numbered_in_sample(frame: Frame, order: ListingOrder, model: Model) -> Iterator[int]:
    """The sequences in which sample code finds the place of a name, to give a class its number:
    `self.classes.index(name)`. Not those in which worker code looks items up by number."""
    for number in _found_places(frame, order, model):
        if not _is_looked_up(number, frame, model):
            yield number


def _is_looked_up(number: int, frame: Frame, model: Model) -> bool:
    """Whether worker code looks items up by number in an attribute that holds a sequence."""
    looked_up = model.once(_attributes_looked_up)
    e = model.ev.expr(frame, number)
    held = [(e.base, e.name)] if isinstance(e, ir.Attr) else []
    held += [(step.base, step.name) for _, step in model.steps_of(frame, ir.SetAttr) if step.value == number]
    return any((one.cls, name) in looked_up for base, name in held for one in model.ev.eval(base, frame).only(Instance))


def _attributes_looked_up(model: Model) -> frozenset[tuple[ClassRef, str]]:
    """The attributes, with their classes, in which worker code looks items up by a number that it computes."""
    codes = model.once(sample_codes)
    return frozenset((cls, name) for cls, run in codes.items() for code in run for name in _looked_up_in(code))


def _looked_up_in(code: Code) -> Iterator[str]:
    for e in map(code.exprs.__getitem__, code.expressions()):
        kept = code.exprs[e.base] if isinstance(e, ir.Index) else None
        if isinstance(e, ir.Index) and isinstance(kept, ir.Attr) and ir.is_self(code.exprs[kept.base]):
            if not isinstance(code.exprs[e.index], ir.Const | ir.Slice):
                yield kept.name


def _numbered(frame: Frame, order: ListingOrder, model: Model) -> Iterator[int]:
    dicts = model.remembered(_dict_comprehensions, frame.path, frame.piece)
    evaluated = model.ev.evaluated(frame) if dicts else ()
    for number, e in dicts:
        if number in evaluated:
            yield _enumerated(e.element, frame, model)
    for _, step in model.steps_of(frame, ir.SetItem):
        if not _is_place_of_items(step.value, frame, model):
            yield _enumerated(step.value, frame, model)
    yield from _counted(frame, model)
    yield from _found_places(frame, order, model)
    one = model.def_of(frame)
    for perform, base in frame.code.attribute_calls({"append"}):
        call = model.ev.expr(frame, perform.call)
        if not isinstance(call, ir.Call) or not call.args or len(list(one.loops_around(perform.context))) < 2:
            continue
        for place, part in enumerate(_items(call.args[0].value, frame, model), -1):
            source = _enumerated(part, frame, model)
            if source != NONE and not takes_items_by(base, place, frame, model):
                yield source


def _is_place_of_items(number: int, frame: Frame, model: Model) -> bool:
    """Whether a frame also stores something at this number in an attribute in which worker code looks items up by
    number: `self.images[number] = read(name)`. Such a number is no class."""
    looked_up = model.once(_attributes_looked_up)
    held = [frame.code.exprs[step.base] for _, step in model.steps_of(frame, ir.SetItem) if step.index == number]
    return any(
        (one.cls, e.name) in looked_up
        for e in held
        if isinstance(e, ir.Attr)
        for one in model.ev.eval(e.base, frame).only(Instance)
    )


def _found_places(frame: Frame, order: ListingOrder, model: Model) -> Iterator[int]:
    """The sequences in which a frame finds the place of an item, to do more with it than to take such items."""
    for perform, base in frame.code.attribute_calls({"index"}):
        call = model.ev.expr(frame, perform.call)
        if not isinstance(call, ir.Call) or len(call.args) != 1 or _is_ignored(perform.call, frame, model):
            continue
        if not _finds_items(perform.call, base, frame, order, model):
            yield base


def _is_ignored(number: int, frame: Frame, model: Model) -> bool:
    """Whether a value is only passed to functions of the project that do not read the parameter."""
    calls = frame.code.calls_with(number)
    passed = {step.call for step, _ in calls}
    users = _users(number, frame, model)
    if not calls or users - passed or any(number == part for part in _kept(frame, model)):
        return False
    targets = [(call, target) for step, call in calls for target in model.ev.targets(step.call, frame)]
    return bool(targets) and not any(_reads(call, number, target, model) for call, target in targets)


def _finds_items(number: int, names: int, frame: Frame, order: ListingOrder, model: Model) -> bool:
    """Whether `number`, the position of a name in the sequence `names`, only takes the items at this position from
    sequences of the same order: `files[names.index(name)]` gives the same file in any order."""
    exprs, orders = frame.code.exprs, order.of(names, frame)
    users = [exprs[one] for one in _users(number, frame, model)]
    if not users or frame.def_ == 0 or not all(isinstance(e, ir.Index) and e.index == number for e in users):
        return False
    bases = {e.base for e in users if isinstance(e, ir.Index)}
    bound = {step.name for _, step in model.steps_of(frame, ir.Bind) if step.value == number}
    stored = (part for _, step in model.steps(frame) for part in _stored(step))
    if number in stored or any(isinstance(e, ir.Capture) and e.name in bound for e in exprs):
        return False
    return bool(orders) and all(order.of(base, frame) == orders for base in bases)


def _stored(step: ir.Step) -> tuple[int, ...]:
    """What a step stores, returns, yields or tests, apart from the local name that it binds."""
    is_local = isinstance(step, ir.Perform) or (isinstance(step, ir.Bind) and step.scope == "local")
    return () if is_local else ir.step_expressions(step)


def _users(number: int, frame: Frame, model: Model) -> set[int]:
    """The expressions that a frame makes of a value."""
    written = {part for _, step in model.steps(frame) for part in ir.step_expressions(step)}
    return {one for one in ir.made_of(frame.code.exprs, written) if number in ir.operands(frame.code.exprs[one])}


def _kept(frame: Frame, model: Model) -> Iterator[int]:
    """What steps bind, store or return."""
    return (
        step.value for _, step in model.steps(frame) if isinstance(step, ir.Bind | ir.SetAttr | ir.SetItem | ir.Return)
    )


def _reads(call: ir.Call, number: int, target: Frame, model: Model) -> bool:
    """Whether a function may read the parameter that a call passes a value for."""
    one = model.def_of(target)
    positional = [arg.value for arg in call.args if arg.kind == "pos"]
    names = {arg.name for arg in call.args if arg.kind == "kw" and arg.value == number}
    offset = 0 if target.receiver is None else 1
    indices = {index for index, param in enumerate(one.params) if param.name in names}
    indices |= {place + offset for place, value in enumerate(positional) if value == number}
    if any(arg.kind in ("star", "starstar") for arg in call.args) or len(indices) != 1:
        return True
    (index,) = indices
    if index >= len(one.params) or one.params[index].kind not in ("pos", "any", "kw"):
        return True
    read = [target.code.exprs[number] for number in target.code.expressions()]
    return any(isinstance(e, ir.MakeDef) or (isinstance(e, ir.Param) and e.index == index) for e in read)


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
