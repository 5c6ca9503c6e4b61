"""The calls and stores that change the order of a list in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.listings import SHUFFLES
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order.list_targets import (
    DictValue,
    Entry,
    Target,
    filled_inside,
    is_target,
    item_stores,
)
from loaderlint.rules.shared.listing_order.orders import Orders, as_drawn, as_sorted
from loaderlint.rules.shared.seeded_draws import draws_with_seed

#: What draws some items of a sequence, or all in another order. A seed decides about positions, not names.
CHOOSES = frozenset({"sample", "choice", "choices"})
DRAWS = CHOOSES | {"permutation", "permuted"}
#: What makes another container of the same items.
_CONTAINERS = frozenset(f"builtins.{name}" for name in ("set", "frozenset", "list", "tuple", "dict.fromkeys"))


def change_of(target: Target, frame: Frame, model: Model) -> str:
    """How a def changes the order of a sequence: 'sorted', 'shuffled', 'drawn' (shuffled with a seed, which gives
    the same order only if the listing does), or not at all, ''."""
    is_drawn = False
    for _, how, call in changing_calls(target, frame, model):
        if how == "sorted" or not draws_with_seed(call, frame, model):
            return how
        is_drawn = True
    if is_stored_sorted(target, frame, model):
        return "sorted"
    changes = {change_of(inside, one.frame, model) for one, inside in filled_inside(target, frame, model)}
    return next((how for how in ("sorted", "shuffled") if how in changes), "drawn" if is_drawn else "")


def changing_calls(target: Target, frame: Frame, model: Model) -> Iterator[tuple[int, str, ir.Call]]:
    """The calls of a def that change the order of a sequence in place, each with the number of its step:
    'sorted' or 'shuffled'."""
    for step, call in model.ev.performed(frame):
        func = model.ev.expr(frame, call.func)
        name = called_name(func)
        how = "shuffled" if name in SHUFFLES else "sorted" if "sort" in name.lower() and name != "sorted" else ""
        touched = [call.args[0].value] if how and call.args else []
        if how and isinstance(func, ir.Attr) and name not in DRAWS:  # `rows.sample()` gives other rows
            touched.append(func.base)
        if any(is_target(one, target, frame, model) for one in touched):
            yield frame.code.evaluated_by(step.call) or 0, how, call


def is_shuffled(name: str, frames: Iterable[Frame], model: Model) -> bool:
    """Whether one of `frames` shuffles the list `self.name` without a seed."""
    return any(change_of(name, frame, model) == "shuffled" for frame in frames)


def is_stored_sorted(target: Target, frame: Frame, model: Model) -> bool:
    """Whether a def replaces the sequence by a sorted copy: `self.names = sorted(self.names)`."""
    stored: list[int] = []
    if isinstance(target, str):
        stored = [step.value for _, step in frame.code.stores_of(target)]
    elif isinstance(target, DictValue):
        stored = [step.value for step in item_stores(target.made, frame, model)]
    elif isinstance(target, Entry):
        stored = [step.value for step in item_stores(target.name, frame, model)]
        again = (model.ev.expr(frame, step.value) for _, step in frame.code.stores_of(target.name))
        stored += [e.element for e in again if isinstance(e, ir.Comp)]
    return any(_is_sorted_copy(value, target, frame, model) for value in stored)


def _is_sorted_copy(number: int, target: Target, frame: Frame, model: Model) -> bool:
    """Whether a call sorts `target`, whatever part of the result is taken: `sorted(names)[:10]`."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Index):
        return _is_sorted_copy(e.base, target, frame, model)
    if not isinstance(e, ir.Call) or not e.args or not _has_items_of(e.args[0].value, target, frame, model):
        return False
    return bool(says_sort(e, frame, model))


def _has_items_of(number: int, target: Target, frame: Frame, model: Model) -> bool:
    """Whether an expression is `target`, or a container of its items: `set(names)`, `[n for n in names if n]`."""
    if is_target(number, target, frame, model):
        return True
    match model.ev.expr(frame, number):
        case ir.Call(func, (first, *_)):
            names = {atom.name for atom in model.ev.eval(func, frame).atoms if isinstance(atom, Lib)}
            return bool(names) and names <= _CONTAINERS and _has_items_of(first.value, target, frame, model)
        case ir.Comp(kind, _, _, (iterable, *_)) if kind != "dict":
            return _has_items_of(iterable, target, frame, model)
    return False


def after(change: str, found: Orders) -> Orders:
    """The orders after a change, which `change_of` names. Shuffling leaves open which order a sequence has, but a part
    of a listing keeps its items."""
    match change:
        case "sorted":
            return as_sorted(found)
        case "shuffled":
            return frozenset(order for order in found if order.cut)
        case "drawn":
            return as_drawn(found)
    return found


def says_sort(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether the name of the callee says that it sorts: `sorted`, `natsorted`, `np.sort`, `sort_by_number`."""
    names = [called_name(model.ev.expr(frame, call.func))]
    names += [atom.name for atom in model.ev.eval(call.func, frame).atoms if isinstance(atom, Lib)]
    return any("sort" in name.lower() for name in names)


def called_name(func: ir.Expr | None) -> str:
    """The last name in what is called: `sort` for `names.sort`."""
    match func:
        case ir.Attr(_, name) | ir.Global(name):
            return name
        case ir.Imported(_, str(name), _):
            return name
    return ""


__all__ = [
    "CHOOSES",
    "DRAWS",
    "after",
    "called_name",
    "change_of",
    "changing_calls",
    "is_shuffled",
    "is_stored_sorted",
    "says_sort",
]
