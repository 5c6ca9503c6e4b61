"""What a def returns or yields that cannot be sent to another process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.pickling import UNPICKLABLE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, FunctionRef, Instance, LibObject, MapOf, SeqOf, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.held_handles import handle_kind
from loaderlint.rules.shared.pickled_to_workers import is_local
from loaderlint.rules.unpicklable_sample.gradients import grad


class UnpicklableResult(NamedTuple):
    """A part of the result of a def: expression `number` of `frame`. `word` and `advice`: text for messages; `atom`:
    what it is, None for a tensor; `leaf`: whether it is a tensor that is a leaf, which is sent as it is."""

    frame: Frame
    number: int
    word: str
    advice: str
    atom: Atom | None
    leaf: bool


def unpicklable_results(frame: Frame, model: Model) -> Iterator[UnpicklableResult]:
    """What cannot be sent in what a def returns or yields. What `__iter__` returns stays in the worker."""
    one = model.def_of(frame)
    if one.name == "__iter__" and not one.is_generator:
        return
    generator = one.is_generator
    for _, step in model.steps(frame):
        if isinstance(step, ir.Return) and not generator or isinstance(step, ir.YieldStep) and not step.is_from:
            yield from _inside(step.value, frame, model, 0)


def _inside(number: int, frame: Frame, model: Model, depth: int) -> Iterator[UnpicklableResult]:
    e = model.ev.expr(frame, number)
    if number == NONE or depth > 4:
        return
    parts: tuple[int, ...] = ()
    match e:
        case ir.Seq(_, items):
            parts = items
        case ir.Map(_, values):
            parts = values
        case ir.IfExp(_, then, other):
            parts = (then, other)
    if parts:
        for part in parts:
            yield from _inside(part, frame, model, depth + 1)
        return
    found = grad(number, frame, model)
    if found is not None:
        yield UnpicklableResult(frame, number, "a tensor that requires grad", "detach it", None, found == "leaf")
        return
    for atom in atoms_in(model.ev.eval(number, frame), 0):
        named = _why_unpicklable(atom, model)
        if named is not None:
            yield UnpicklableResult(frame, number, *named, atom, False)
            return


def atoms_in(value: Val, depth: int) -> Iterator[Atom]:
    """The atoms of a value, and of the lists and dicts in it."""
    for atom in value.ordered():
        yield atom
        if isinstance(atom, SeqOf) and depth < 3:
            for item in atom.items:
                yield from atoms_in(item, depth + 1)
        elif isinstance(atom, MapOf) and depth < 3:
            for item in atom.values:
                yield from atoms_in(item, depth + 1)


def _why_unpicklable(atom: Atom, model: Model) -> tuple[str, str] | None:
    """What an object that pickle cannot write is, and what to do."""
    match atom:
        case FunctionRef():
            facts = model.ev.facts(atom.path, atom.piece)
            one = facts.ir.defs[atom.def_] if facts else None
            if one is not None and one.kind == "lambda":
                return "a lambda", "return its result"
            if one is not None and is_local(atom, model):
                return f"`{one.name}`, a function inside another,", "return its result"
        case Instance(cls, _) if is_local(cls, model):
            return f"an object of `{model.ev.classes.name(cls)}`, a class inside a function,", "move it to the module"
        case SeqOf(_, _, site) if site is not None:
            e = model.ev.expr(site.frame, site.expr)
            if isinstance(e, ir.Comp) and e.kind == "generator":
                return "a generator", "return a list"
        case LibObject(name, _) if not name.endswith("[]"):
            if (kind := handle_kind(atom, model)) is not None:
                return f"an open {kind.word}", "return what is read from it"
            if name in UNPICKLABLE and name != "torch.Generator":
                word = UNPICKLABLE[name].word
                return f"a {word}", "return a list" if word in (
                    "generator",
                    "view of a dictionary",
                ) else "return plain data"
    return None
