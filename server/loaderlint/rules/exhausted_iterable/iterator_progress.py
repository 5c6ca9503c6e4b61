"""How far an object is that is its own iterator: the attributes that its `__next__` moves on until it ends."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.one_shot_iterators import kept


class Progress(Struct, frozen=True):
    """The `attributes` that keep its progress. `doubtful`: it may never end."""

    attributes: tuple[str, ...]
    doubtful: bool


def progress(inst: Instance, model: Model) -> Progress | None:
    """What `__next__` of an object moves on until it raises StopIteration; None if it never does, if that cannot be
    seen, or if something sets it back."""
    entry = model.ev.classes.open_method(inst, "__next__")
    if entry is None:
        return None
    frames = [frame for frame in model.run_by((entry,)) if frame.receiver == inst]
    drawn = [one for frame in frames for one in _drawn(frame, inst, model)]
    if drawn:
        return Progress(tuple(dict.fromkeys(name for name, _ in drawn)), any(doubt for _, doubt in drawn))
    moved = {name for frame in frames for name in _moved(frame, model)}
    read = {name for frame in frames for name in _read_where_it_ends(frame, model)}
    names = tuple(sorted(moved & read))
    if not names or any(_is_set_back(name, inst, frames, model) for name in names):
        return None
    return Progress(names, False)


def _drawn(frame: Frame, inst: Instance, model: Model) -> Iterator[tuple[str, bool]]:
    """The kept iterators that a frame calls `next` on without a default."""
    for _, call in model.ev.performed(frame):
        if Lib("builtins.next") in model.ev.eval(call.func, frame).atoms and len(call.args) == 1:
            found = kept(call.args[0].value, frame, model)
            if found is not None and found.owner == inst:
                yield found.name, found.made.doubtful


def _moved(frame: Frame, model: Model) -> Iterator[str]:
    """The attributes that a frame counts up: `self.position += 1`, `self.position = self.position + 1`."""
    for _, step in model.steps(frame):
        if isinstance(step, ir.SetAttr) and ir.is_self(model.ev.expr(frame, step.base)):
            if _counts(step, frame, model):
                yield step.name


def _counts(step: ir.SetAttr, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, step.value) if step.value != NONE else None
    before = e.target if isinstance(e, ir.Augmented) else e.left if isinstance(e, ir.Bin) and e.op in "+-" else NONE
    old = model.ev.expr(frame, before) if before != NONE else None
    return isinstance(old, ir.Attr) and old.name == step.name


def _read_where_it_ends(frame: Frame, model: Model) -> Iterator[str]:
    """The attributes of self in the tests that stand around a `raise StopIteration`."""
    one = model.def_of(frame)
    for _, step in model.steps(frame):
        if not isinstance(step, ir.Raise) or not _is_stop(step.value, frame, model):
            continue
        context = step.context
        while context > 0:
            here = one.contexts[context]
            if here.kind in ("if", "while"):
                yield from _own_attributes(here.expr, frame, model)
            context = here.parent


def _is_stop(value: int, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, value) if value != NONE else None
    if isinstance(e, ir.Call):
        e = model.ev.expr(frame, e.func)
    return e == ir.Global("StopIteration")


def _own_attributes(number: int, frame: Frame, model: Model) -> Iterator[str]:
    e = model.ev.expr(frame, number)
    match e:
        case ir.Attr(base, name):
            if ir.is_self(model.ev.expr(frame, base)):
                yield name
        case ir.Compare(left, _, rights):
            for part in (left, *rights):
                yield from _own_attributes(part, frame, model)
        case ir.Bin(_, left, right) | ir.BoolOp(_, left, right):
            yield from _own_attributes(left, frame, model)
            yield from _own_attributes(right, frame, model)
        case ir.Unary(_, operand):
            yield from _own_attributes(operand, frame, model)


def _is_set_back(name: str, inst: Instance, frames: list[Frame], model: Model) -> bool:
    """Whether something but the constructor sets an attribute to what is no next number."""
    for store in model.ev.classes.stores(inst, name):
        step = model.def_of(store.frame).steps[store.step]
        if not store.construction and isinstance(step, ir.SetAttr) and not _counts(step, store.frame, model):
            return True
    own = {(frame.path, frame.piece) for frame in frames}
    for frame in model.reached:
        if (frame.path, frame.piece) in own or frame.receiver == inst:
            continue
        for step in model.def_of(frame).steps:
            if isinstance(step, ir.SetAttr) and step.name == name and not ir.is_self(model.ev.expr(frame, step.base)):
                return True  # a worker_init_fn, say
    return False
