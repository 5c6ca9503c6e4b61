"""The parts of a sample that cannot be batched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Literal_
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.unknown_settings import rests_on_unknown
from loaderlint.rules.uncollatable_sample.item_stores import Given, constants
from loaderlint.rules.uncollatable_sample.uncollatable_values import Kind, Uncollatable


class Part(NamedTuple):
    """Something in what step `step` of `frame` gives cannot be batched: expression `number`. `is_choice`: that is so
    only without something that the dataset may have, a transform for example. `is_always`: whether the
    step runs does not depend on what the dataset holds."""

    frame: Frame
    step: int
    number: int
    kind: Kind
    is_choice: bool
    is_always: bool


def uncollatable_parts(frame: Frame, model: Model) -> Iterator[Part]:
    """What cannot be batched in what a def returns or yields. What `__iter__` returns is no sample."""
    one = model.def_of(frame)
    if one.is_generator:
        given = [(number, step.value) for number, step in model.steps_of(frame, ir.YieldStep) if not step.is_from]
    elif one.name == "__iter__":
        return
    else:
        given = [(number, step.value) for number, step in model.steps_of(frame, ir.Return)]
    for number, value in given:
        if not model.ev.liveness.is_dead(one.steps[number].context, frame):
            yield from _inside(value, number, frame, model)


def _inside(number: int, step: int, frame: Frame, model: Model) -> Iterator[Part]:
    if number == NONE:
        return
    is_filled = bool(frame.code.fillings(number))  # then not all of its items are what is written there
    uncollatable, given = model.once(Uncollatable), Given(frame, step)
    match model.ev.expr(frame, number):
        case ir.Seq(kind, items) if kind != "set" and not is_filled:
            for place, item in enumerate(items):
                parts = _inside(item, step, frame, model)
                yield from (part for part in parts if not uncollatable.is_changed(number, place, given))
        case ir.Map(keys) as e if not is_filled:
            if NONE not in keys or uncollatable.of(number, frame, given) is not None:
                yield from _in_dict(e, number, given, model)
        case _:
            found = uncollatable.of(number, frame, given)
            if found is not None:
                is_choice = _is_choice(step, frame, model) or _may_be_given(frame, model)
                yield Part(frame, step, number, found, is_choice, _is_always(step, frame, model))


def _in_dict(e: ir.Map, number: int, given: Given, model: Model) -> Iterator[Part]:
    """What cannot be batched in the items of the dict display `e`, expression `number`. Those of `**sample` are asked
    for together: a later key may replace one."""
    uncollatable = model.once(Uncollatable)
    for key, value in zip(e.keys, e.values, strict=True):
        names = constants(model.ev.eval(key, given.frame)) if key != NONE else ()
        for part in _inside(value, given.step, given.frame, model):
            if not any(uncollatable.is_changed(number, name, given) for name in names):
                yield part


def _is_always(step: int, frame: Frame, model: Model) -> bool:
    one = model.def_of(frame)
    tests = (around.expr for around in one.around(one.steps[step].context) if around.kind == "if")
    asked = (frame.code.exprs[number] for number in ir.made_of(frame.code.exprs, tests))
    return not any(isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(frame, e.base)) for e in asked)


def _is_choice(step: int, frame: Frame, model: Model) -> bool:
    """Whether a step runs for one of the values of an attribute or argument that may be None or an object, or under a
    setting that is not known. A loader whose dataset has both would fail at the first batch of one of them, so the code
    most likely uses the other one."""
    one = model.def_of(frame)
    context = one.steps[step].context
    tests = (around.expr for around in one.around(context) if around.kind == "if")
    is_mixed = any(test != NONE and _is_mixed(test, frame, model) for test in tests)
    return is_mixed or rests_on_unknown(context, frame, model)


def _is_mixed(test: int, frame: Frame, model: Model) -> bool:
    match model.ev.expr(frame, test):
        case ir.Unary("not", operand) | ir.Compare(operand, ("is" | "is not",), _):
            return _is_mixed(operand, frame, model)
        case ir.Attr() | ir.Param():
            nones = {isinstance(a, Literal_) and a.value is None for a in model.ev.eval(test, frame).atoms}
            return len(nones) > 1
    return False


def _may_be_given(frame: Frame, model: Model) -> bool:
    """Whether a method asks for an attribute that its object does not have, and code gives some object one:
    `subset.dataset.transform = Compose(...)`."""
    asked = {
        e.name
        for around in model.def_of(frame).contexts
        if around.kind == "if" and around.expr != NONE
        for e in (model.ev.expr(frame, number) for number in ir.made_of(frame.code.exprs, [around.expr]))
        if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(frame, e.base))
    }
    return any(_is_without(name, frame, model) and _is_given(name, model) for name in sorted(asked))


def _is_without(name: str, frame: Frame, model: Model) -> bool:
    reads = (number for number, base in frame.code.attributes(name) if ir.is_self(model.ev.expr(frame, base)))
    return any(model.ev.eval(number, frame).is_none for number in reads)


def _is_given(name: str, model: Model) -> bool:
    for path in model.files.containing(f".{name} ="):
        file = model.files.file(path)
        if file is not None and any(file.asking(_gives, name)):
            return True
    return False


@needs_word
def _gives(text: str, name: str) -> bool:
    """Whether code gives an object that is not `self` an attribute."""
    return re.search(rf"(?<!\bself)\.{re.escape(name)}\s*=[^=]", text) is not None
