"""Branches that are not taken unless a user sets an option: the body of `if args.noise:` if the option is off by
default."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.dead_code import DefaultLiveness, Liveness
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import Instance, Site, def_key
from loaderlint.project.loaders.presumed_datasets import dataset_kind

#: The number of calls that are followed back from a line to find the branches around it.
_MAX_CALLS = 6


class DefaultBranches:
    """`callers_in(frame, index)` returns the callers of a frame in the workers of the loader with that index, each with
    the calling expression; none for a frame that the loader itself calls. `callers`: those in the main process.
    `liveness`: which tests rule a branch out, by default those that hold unless a user sets an option."""

    def __init__(
        self,
        ev: Evaluator,
        callers: Callers,
        callers_in: Callable[[Frame, int], Sequence[tuple[Frame, int]]],
        liveness: Liveness | None = None,
    ) -> None:
        self._ev = ev
        self._liveness = liveness or DefaultLiveness(ev)
        self._callers = callers
        self._callers_in = callers_in
        self._off_in_main: dict[tuple[Frame, int], Site | None] = {}

    def keep_out(self, index: int, frame: Frame, context: int, calls: int = _MAX_CALLS) -> Site | None:
        """The test that, with the options' defaults, prevents a loader from reaching a context of a frame on every
        path; None if there is none."""
        if (test := self.off(frame, context) or self.off_object(frame)) is not None:
            return test
        found: Site | None = None
        for caller, number in self._callers_in(frame, index) if calls else ():
            found = self.keep_out(index, caller, caller.code.context_of(number), calls - 1)
            if found is None:
                return None
        return found

    def runs(self, frame: Frame, context: int) -> bool:
        """Whether each run of a def passes a context with the options' defaults."""
        return self._liveness.always_runs(context, 0, frame)

    def off(self, frame: Frame, context: int) -> Site | None:
        """The test around a context that is false with the options' defaults."""
        one = frame.code.one
        if one is None or not self._liveness.is_dead(context, frame):
            return None
        while self._liveness.is_dead(one.contexts[context].parent, frame):
            context = one.contexts[context].parent
        return Site(frame, one.contexts[context].expr)

    def off_object(self, frame: Frame, calls: int = _MAX_CALLS) -> Site | None:
        """The test that, with the options' defaults, keeps the main process from creating the object on which a method
        runs. None if there is none, and for a dataset: an option that chooses one is as good as always set."""
        inst = frame.receiver
        if not isinstance(inst, Instance) or inst.site is None or not calls:
            return None
        if dataset_kind(self._ev, inst.cls) is not None:
            return None
        made = inst.site.frame
        context = made.code.context_of(inst.site.expr)
        return self.off_in_main(made, context, calls - 1) or self.off_object(made, calls - 1)

    def off_in_main(self, frame: Frame, context: int, calls: int = _MAX_CALLS) -> Site | None:
        """The test that, with the options' defaults, keeps the main process from a context of a frame: around it, or
        around all known calls of its def. None if there is none."""
        key = frame, context
        if key not in self._off_in_main:
            with provisional(self._off_in_main, key, None):
                self._off_in_main[key] = self._find_off(frame, context, calls)
        return self._off_in_main[key]

    def _find_off(self, frame: Frame, context: int, calls: int) -> Site | None:
        called = [self.off(one, context) for one in self._callers.frames(frame.path, frame.piece, frame.def_)]
        found = self.off(frame, context) or (called[0] if called and all(called) else None)
        one = frame.code.one
        if found is not None or one is None or frame.def_ == 0 or not calls:
            return found
        for site in self._callers.sites_running(one.name, def_key(frame)):
            caller = self._callers.opened(site.path, site.piece, site.def_)
            found = self.off_in_main(caller, site.context, calls - 1) if caller is not None else None
            if found is None:
                return None
        return found
