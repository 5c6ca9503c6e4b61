"""Loops over a set of texts, whose order differs in each run: `for ext in {".jpg", ".png"}: names += glob(ext)`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.listings import KEEPS_ORDER
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject, Literal_, SeqOf, Val
from loaderlint.project.reach.model import Model

#: A sequence is looked for in at most so many calls and comprehensions: `list(tqdm(x))`.
_MAX_WRAPPERS = 8
#: Those of them that take a function before the items.
_TAKE_A_FUNCTION = frozenset({"builtins.filter", "builtins.map"})


def items_from(number: int, frame: Frame, model: Model) -> int:
    """What gives a sequence its items, in the same order: the `x` of `list(x)`, `filter(f, x)` and `[y for y in x]`."""
    for _ in range(_MAX_WRAPPERS):
        e = model.ev.expr(frame, number)
        if isinstance(e, ir.Comp) and e.kind in ("list", "generator"):
            number = e.iterables[0]
            continue
        names = {atom.name for atom in model.ev.eval(e.func, frame).only(Lib)} if isinstance(e, ir.Call) else set()
        position = 1 if names <= _TAKE_A_FUNCTION else 0
        if not isinstance(e, ir.Call) or not names or not names <= KEEPS_ORDER or len(e.args) <= position:
            break
        number = e.args[position].value
    return number


def looped_set(iterable: int, frame: Frame, model: Model) -> int | None:
    """The set of several texts that a loop over `iterable` goes through; None if it is no such set."""
    number = items_from(iterable, frame, model)
    return number if _holds_texts(model.ev.eval(number, frame), model) else None


def _holds_texts(value: Val, model: Model) -> bool:
    if len(value.atoms) != 1:
        return False
    (atom,) = value.atoms
    if isinstance(atom, LibObject) and atom.name == "builtins.frozenset":
        given = model.ev.calls.site_arguments(atom.site).positional
        return len(given) == 1 and _are_texts(next(iter(given[0].only(SeqOf)), None))
    return isinstance(atom, SeqOf) and atom.kind == "set" and _are_texts(atom)


def _are_texts(one: SeqOf | None) -> bool:
    """Whether the items are several constant texts. The order of numbers is the same in each run."""
    literals = [item.literal for item in one.items] if one is not None else []
    texts = {literal.value for literal in literals if isinstance(literal, Literal_) and literal.kind == "str"}
    return len(texts) > 1 and len(texts) == len(set(literals))
