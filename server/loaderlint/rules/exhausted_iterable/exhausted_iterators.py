"""Iterators that `__iter__` returns or yields from, and that are exhausted in the next epoch."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.iterators import ITERATORS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.exhausted_iterable.iterator_progress import Progress, progress
from loaderlint.rules.shared.one_shot_iterators import Kept, kept


class Exhausted(Struct, frozen=True):
    """An iterator that is exhausted: the step of `__iter__` that gives it, its description, the attributes that keep
    its progress, and whether it may never end."""

    step: int
    described: str
    attributes: tuple[str, ...]
    doubtful: bool
    is_file: bool = False


def exhausted_by(frame: Frame, model: Model) -> Iterator[Exhausted]:
    """The exhausted iterators that the `__iter__` run by `frame` gives."""
    for number, step in model.steps(frame):
        handed = NONE
        if isinstance(step, ir.Return):
            handed = step.value
        elif isinstance(step, ir.Iterate):
            handed = step.iterable
        elif isinstance(step, ir.YieldStep) and step.is_from:
            handed = step.value
        if handed == NONE:
            continue
        found = _own_progress(handed, frame, model)
        if found is not None and isinstance(step, ir.Return):
            place = " and ".join(f"`self.{name}`" for name in found.attributes)
            left = f"returns itself, with {place} where the last epoch ended"
            yield Exhausted(number, left, found.attributes, found.doubtful)
        for one in _kept_in(handed, frame, model, 0):
            if one.owner == frame.receiver:
                run_out = f"uses `{one.described}`, which is exhausted by then"
                yield Exhausted(number, run_out, (one.name,), one.made.doubtful, one.made.is_file)


def _own_progress(handed: int, frame: Frame, model: Model) -> Progress | None:
    """The progress of the dataset itself, where `__iter__` only returns it."""
    if not ir.is_self(model.ev.expr(frame, handed)) or not isinstance(frame.receiver, Instance):
        return None
    if any(not isinstance(step, ir.Return | ir.Evaluate) for _, step in model.steps(frame)):
        return None
    return progress(frame.receiver, model)


def _kept_in(number: int, frame: Frame, model: Model, depth: int) -> Iterator[Kept]:
    """The kept iterators that going through an expression uses up: itself, or what `map` and its like go over."""
    found = kept(number, frame, model)
    if found is not None:
        yield found
        return
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Call) and depth < 4:
        atoms = model.ev.eval(e.func, frame).atoms
        if atoms and all(isinstance(a, Lib) and a.name in ITERATORS for a in atoms):
            for arg in e.args:
                yield from _kept_in(arg.value, frame, model, depth + 1)
    elif isinstance(e, ir.Comp) and e.kind == "generator":
        yield from _kept_in(e.iterables[0], frame, model, depth + 1)
