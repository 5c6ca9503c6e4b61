"""Pairs that a loop makes by position: `for i in range(len(images)): pairs.append((images[i], masks[i]))`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import counted_loop


class IndexedPair(NamedTuple):
    """The expressions of two sequences whose items at one position go into one list, tuple or dict."""

    first: int
    second: int


def indexed_pairs(frame: Frame, model: Model) -> Iterator[IndexedPair]:
    """The pairs that a def makes, each once."""
    exprs = frame.code.exprs
    found: dict[IndexedPair, None] = {}
    for e in exprs:
        items = e.items if isinstance(e, ir.Seq) else e.values if isinstance(e, ir.Map) else ()
        taken = [_taken(item, frame, model) for item in items if item != NONE] if len(items) > 1 else []
        for ours, theirs in combinations(taken, 2):
            shared = ours.keys() & theirs.keys()
            found |= {IndexedPair(ours[loop], theirs[loop]): None for loop in shared if ours[loop] != theirs[loop]}
    yield from found


def _taken(item: int, frame: Frame, model: Model) -> dict[int, int]:
    """The sequence from which each loop takes a part of an item by the number of its turn, by what the loop goes
    through."""
    exprs = frame.code.exprs
    found: dict[int, int] = {}
    for part in ir.made_of(exprs, (item,)):
        e = exprs[part]
        if isinstance(e, ir.Index) and (loop := counted_loop(exprs[e.index], frame, model)) != NONE:
            found[loop] = e.base
        elif isinstance(e, ir.Unpack) and e.index == 1 and (loop := _enumerated(e, frame, model)) != NONE:
            call = exprs[loop]
            if isinstance(call, ir.Call) and call.args:
                found[loop] = call.args[0].value
    return found


def _enumerated(e: ir.Unpack, frame: Frame, model: Model) -> int:
    """The call of `enumerate` whose items a loop unpacks; else NONE."""
    return counted_loop(e._replace(index=0), frame, model)


__all__ = ["IndexedPair", "indexed_pairs"]
