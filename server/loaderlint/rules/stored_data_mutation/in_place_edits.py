"""What changes an object in place, and which: `x += 1`, `x[i] = 1`, `x.sort()`, `np.clip(x, 0, 1, out=x)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import (
    INPLACE_ARGUMENT,
    LIST_METHODS,
    MUTATING_FUNCTIONS,
    MUTATING_METHODS,
    OUT_ARGUMENT,
    SHAPE_METHODS_IN_PLACE,
    TAKES_INPLACE,
    TENSOR_METHODS_IN_PLACE,
    VIEW_ATTRIBUTES,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, FunctionRef, Lib, LibObject, Method, Site
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.stored_objects import Kind, is_array_index, known_kind
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.stored_data_mutation.settled_edits import settles_operand

#: How many functions may pass on a view.
_MAX_HANDED = 3


class Edit(NamedTuple):
    """A change in place of expression `target`, at `spot`. `shows`: what kind of object the way it is done shows.
    `form`: 'augment', 'item augment' (`x[i] += 1`), 'item' (`x[i] = 1`), 'method', 'function', 'record'."""

    target: int
    spot: Spot
    shows: Kind | None
    how: str
    form: str


def edits(frame: Frame, model: Model) -> Iterator[Edit]:
    """The changes in place that a frame makes."""
    unused = {step.expr for _, step in model.steps_of(frame, ir.Evaluate)}
    for number, step in model.steps(frame):
        if isinstance(step, ir.Augment) and step.stored != "attr":  # a counter on self is state
            yield from _augment(step, number, frame, model)
        elif isinstance(step, ir.SetItem) and not _follows_augment(frame, number, model):
            shows = _shown_by_index(step.index, frame, model) or _shown_by_number(step, frame, model)
            yield Edit(step.base, Spot(frame, number, "step"), shows, "an assignment to its items", "item")
        elif isinstance(step, ir.Perform):
            yield from _calls(step.call, step.call in unused, frame, model)


def _augment(step: ir.Augment, number: int, frame: Frame, model: Model) -> Iterator[Edit]:
    spot = Spot(frame, number, "step")
    added = model.ev.eval(step.value, frame).literal
    if settles_operand(step.op, added):
        return
    if step.stored == "name":
        yield Edit(step.target, spot, None, f"`{step.op}=`", "augment")
        return
    item = model.ev.expr(frame, step.target)
    if not isinstance(item, ir.Index):
        return
    if not model.ev.eval(item.base, frame).origins and known_kind(model.ev.eval(step.target, frame)) is not None:
        yield Edit(step.target, spot, None, f"`{step.op}=`", "augment")  # of an array that a new dict holds
        return
    shows = _shown_by_index(item.index, frame, model)
    if shows is None and step.op in "+-" and added is not None and added.kind == "int":
        return  # `self.counts[i] += 1` is a counter
    yield Edit(item.base, spot, shows, f"`{step.op}=` on an item", "item augment")


def _follows_augment(frame: Frame, number: int, model: Model) -> bool:
    """`x[i] += 1` is an Augment and then a SetItem: one edit. What follows an Augment is always its own store."""
    return number > 0 and isinstance(model.def_of(frame).steps[number - 1], ir.Augment)


def _shown_by_index(index: int, frame: Frame, model: Model) -> Kind | None:
    """Only arrays take some indexes; a plain slice is taken by lists too."""
    return "unknown" if is_array_index(index, frame, model) else None


def _shown_by_number(step: ir.SetItem, frame: Frame, model: Model) -> Kind | None:
    """`x[2:] = 0`: a list takes no number for several items."""
    if not isinstance(model.ev.expr(frame, step.index), ir.Slice):
        return None
    stored = model.ev.eval(step.value, frame).literal
    return "unknown" if stored is not None and stored.kind in ("int", "float", "bool") else None


def _calls(number: int, unused: bool, frame: Frame, model: Model) -> Iterator[Edit]:
    call = model.ev.expr(frame, number)
    if not isinstance(call, ir.Call):
        return
    spot = Spot(frame, number)
    callee = model.ev.eval(call.func, frame)
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and not callee.only(Method, FunctionRef, Lib):
        if not (func.name in SHAPE_METHODS_IN_PLACE and _is_new_view(func.base, frame, model)):
            yield from _method(func, unused, spot)
    for atom in callee.atoms:
        if isinstance(atom, Lib) and atom.name in MUTATING_FUNCTIONS:
            positional = [arg for arg in call.args if arg.kind == "pos"]
            for position in MUTATING_FUNCTIONS[atom.name]:
                if position < len(positional):
                    word = atom.name.rpartition(".")[2]
                    yield Edit(positional[position].value, spot, "unknown", f"`{word}`", "function")
    for arg in call.args:
        if arg.kind == "kw" and arg.name == OUT_ARGUMENT:
            yield Edit(arg.value, spot, "unknown", "`out=`", "function")
    if call.args and call.args[0].kind == "pos" and any(_is_inplace(one, number, frame, model) for one in callee.atoms):
        yield Edit(call.args[0].value, spot, "tensor", f"`{INPLACE_ARGUMENT}=True`", "function")


def _is_inplace(callee: Atom, number: int, frame: Frame, model: Model) -> bool:
    """Whether a function, or a module that was made so, writes its result to its first argument."""
    if not isinstance(callee, Lib | LibObject) or callee.name not in TAKES_INPLACE:
        return False
    if isinstance(callee, Lib) and callee.name.rpartition(".")[2][0].isupper():
        return False  # it makes the module, whose options it gets
    arguments = model.ev.calls.site_arguments(Site(frame, number) if isinstance(callee, Lib) else callee.site)
    option = arguments.get(INPLACE_ARGUMENT)
    return option is not None and option.literal is not None and option.literal.value is True


def _is_new_view(number: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression makes a tensor object of its own, which may share the values of a stored one, or is a
    parameter that always gets one."""
    match model.ev.expr(frame, number):
        case ir.Param(index) if depth < _MAX_HANDED:
            passed = list(passed_for(frame, index, model))
            return bool(passed) and all(
                one.number != ir.NONE and _is_new_view(one.number, one.frame, model, depth + 1) for one in passed
            )
        case ir.Index(base, index):
            return is_array_index(index, frame, model) or known_kind(model.ev.eval(base, frame)) == "tensor"
        case ir.Attr(_, name):
            return name in VIEW_ATTRIBUTES
        case ir.Call(func):
            return not model.ev.eval(func, frame).only(Method, FunctionRef)
    return False


def _method(func: ir.Attr, unused: bool, spot: Spot) -> Iterator[Edit]:
    if func.name in TENSOR_METHODS_IN_PLACE:
        yield Edit(func.base, spot, "tensor", f"`.{func.name}()`", "method")
    elif func.name in MUTATING_METHODS and unused:
        yield Edit(func.base, spot, "list" if func.name in LIST_METHODS else None, f"`.{func.name}()`", "method")
