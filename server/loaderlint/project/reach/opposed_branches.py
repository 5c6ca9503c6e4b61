"""Branches that exclude each other: a loader that is created under `if phase == "test":` does not run the body of `if
opt["phase"] == "train":`.

Names are compared as they are written: the loop variable `phase`, `self.phase` and `opt["phase"]` are assumed to be the
same choice. That is likely, not certain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import Site

#: The number of calls that are followed back from a line to find the branches around it.
_MAX_CALLS = 6


class Choice(NamedTuple):
    """A test that compares `name` with the text `value`, and whether they are equal."""

    name: str
    value: str
    holds: bool


class OpposedBranches:
    """Finds the loaders that do not run a line because of such a choice. `callers(frame, index)` gives the callers of a
    frame in the workers of the loader with that index, each with the calling expression; none for a frame that the
    loader itself calls."""

    def __init__(self, callers: Callable[[Frame, int], Sequence[tuple[Frame, int]]]) -> None:
        self._callers = callers
        self._made_under: dict[Site, frozenset[Choice]] = {}

    def rule_out(self, site: Site | None, index: int, frame: Frame, context: int) -> bool:
        """Whether the loader that is created at `site` never runs a branch of a frame, on any path."""
        if site is None:
            return False
        made = self._made_under.get(site)
        if made is None:
            here = site.frame.code.context_of(site.expr)
            made = self._made_under[site] = frozenset(choices(site.frame, here))
        return bool(made) and self._excluded(made, index, frame, context, _MAX_CALLS)

    def _excluded(self, made: frozenset[Choice], index: int, frame: Frame, context: int, calls: int) -> bool:
        if any(_are_opposed(one, other) for one in choices(frame, context) for other in made):
            return True
        callers = self._callers(frame, index) if calls else ()
        return bool(callers) and all(
            self._excluded(made, index, caller, caller.code.context_of(number), calls - 1) for caller, number in callers
        )


def choices(frame: Frame, context: int) -> Iterator[Choice]:
    """The comparisons with constant texts in the tests of the branches around a step."""
    for around in frame.code.one.around(context) if frame.code.one is not None else ():
        test = frame.code.exprs[around.expr] if around.kind == "if" and around.expr != ir.NONE else None
        if isinstance(test, ir.Compare) and test.ops in (("==",), ("!=",)):
            right = frame.code.exprs[test.rights[0]]
            name = _name(frame.code, test.left)
            if name and isinstance(right, ir.Const) and isinstance(right.value, str):
                yield Choice(name, right.value, (test.ops == ("==",)) is not around.negated)


def _name(code: Code, number: int) -> str:
    """The last name of the compared expression: a variable, a parameter, an attribute or a key."""
    match code.exprs[number]:
        case ir.Attr(_, name) | ir.Global(name) | ir.Capture(_, name):
            return name
        case ir.Index(_, index):
            key = code.exprs[index] if index != ir.NONE else None
            return key.value if isinstance(key, ir.Const) and isinstance(key.value, str) else ""
        case ir.Param(index) if code.one is not None and index < len(code.one.params):
            return code.one.params[index].name
    return _only(bind.name for _, bind in code.bindings.get(number, ()))


def _only(names: Iterable[str]) -> str:
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _are_opposed(one: Choice, other: Choice) -> bool:
    """Whether two tests exclude each other."""
    if one.name != other.name:
        return False
    return one.holds and other.holds if one.value != other.value else one.holds is not other.holds
