"""Loaders that always raise TypeError, because they ask their dataset for its length, and there is none: `__len__`
returns None (there is only a docstring, `pass` or code without a `return`), or the dataset itself is None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.classes import Member
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import Atom, Instance
from loaderlint.project.loaders.presumed_datasets import dataset_kind

if TYPE_CHECKING:
    from loaderlint.project.loaders.loaders import Loader

_LENGTH = "__len__"


def lacks_length(ev: Evaluator, loader: Loader) -> bool:
    """Whether the dataset of a loader is None, or the loader shuffles a map-style dataset of the project whose length
    is None. Nothing of torch's is between them."""
    if loader.argument("dataset").is_none:
        return True
    shuffles = loader.argument("shuffle").literal
    if shuffles is None or shuffles.value is not True or shuffles.configured:
        return False
    if not all(loader.argument(name).is_none for name in ("sampler", "batch_sampler")):
        return False
    held = loader.argument("dataset").atoms
    return bool(held) and all(_has_none(ev, one) for one in held) and not ev.files.containing(f".{_LENGTH} =")


def _has_none(ev: Evaluator, held: Atom) -> bool:
    """Whether the length of a dataset is always None."""
    if not isinstance(held, Instance) or ev.calls.is_chosen(held) or dataset_kind(ev, held.cls) != "map":
        return False
    member = ev.classes.member(held.cls, _LENGTH)
    return member is not None and not ev.classes.has_unknown_base(held.cls) and _returns_none(ev, member)


def _returns_none(ev: Evaluator, member: Member) -> bool:
    """Whether a method ends, and never with a value. One that raises is to be overridden."""
    facts = ev.facts(member.function.path, member.function.piece) if member.function is not None else None
    if facts is None or member.function is None:
        return False
    one = facts.ir.defs[member.function.def_]
    if one.kind != "function" or one.is_generator or one.decorators:
        return False
    returned = [step.value for step in one.steps if isinstance(step, ir.Return)]
    raises = any(isinstance(step, ir.Raise) for step in one.steps)
    return not raises and all(value == NONE or _is_none(facts.ir.exprs[value]) for value in returned)


def _is_none(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value is None and e.kind == "NoneType"
