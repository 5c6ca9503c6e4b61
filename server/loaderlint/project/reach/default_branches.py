"""Branches that are not taken unless a user sets an option: the body of `if args.noise:` if the option is off by
default."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loaderlint.project.evaluation.dead_code import DefaultLiveness
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Site

#: The number of calls that are followed back from a line to find the branches around it.
_MAX_CALLS = 6


class DefaultBranches:
    """`callers(frame, index)` returns the callers of a frame in the workers of the loader with that index, each with
    the calling expression; none for a frame that the loader itself calls."""

    def __init__(self, liveness: DefaultLiveness, callers: Callable[[Frame, int], Sequence[tuple[Frame, int]]]) -> None:
        self._liveness = liveness
        self._callers = callers

    def keep_out(self, index: int, frame: Frame, context: int, calls: int = _MAX_CALLS) -> Site | None:
        """The test that, with the options' defaults, prevents a loader from reaching a context of a frame on every
        path; None if there is none."""
        if (test := self.off(frame, context)) is not None:
            return test
        found: Site | None = None
        for caller, number in self._callers(frame, index) if calls else ():
            found = self.keep_out(index, caller, caller.code.context_of(number), calls - 1)
            if found is None:
                return None
        return found

    def off(self, frame: Frame, context: int) -> Site | None:
        """The test around a context that is false with the options' defaults."""
        one = frame.code.one
        if one is None or not self._liveness.is_dead(context, frame):
            return None
        while self._liveness.is_dead(one.contexts[context].parent, frame):
            context = one.contexts[context].parent
        return Site(frame, one.contexts[context].expr)
