"""Loaders that give no batch, because the code of their workers always fails: each sample of the dataset, or the
collate function, runs a statement that always raises (see `failing_code`). Such a program ends with its first batch.

Of the names that nothing binds, only those count that somebody has forgotten to import: of modules, and of functions of
other modules. A function that is nowhere may be one that its author has yet to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, def_key
from loaderlint.project.loaders.failing_code import FailingCode, Failure
from loaderlint.project.loaders.unbound_names import MODULES

#: A failing statement is looked for behind at most this many calls.
_MAX_CALLS = 8
#: Pipelines that call each of their steps.
_CALL_ALL = frozenset({"torchvision.transforms.Compose", "torchvision.transforms.v2.Compose"})


class FailingWorkers:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator, failing: FailingCode) -> None:
        self._ev = evaluator
        self._failing = failing
        self._known: dict[Frame, bool] = {}

    def fail(self, entries: Iterable[Frame]) -> bool:
        """Whether each of these frames always raises, and there is one."""
        answers = [self._fails(frame, _MAX_CALLS, frozenset()) for frame in entries]
        return bool(answers) and all(answers)

    def _fails(self, frame: Frame, depth: int, around: Set[Frame]) -> bool:
        """Whether a frame always raises, itself or in at most `depth` nested calls. `around`: the frames that call
        it."""
        if frame in self._known:
            return self._known[frame]
        if depth == 0 or frame in around or self._ev.installed.holds(frame.path):
            return False
        answer = self._raises(frame) or any(
            self._fails(target, depth - 1, around | {frame}) for target in self._always_runs(frame)
        )
        if answer or not around:
            self._known[frame] = answer
        return answer

    def _raises(self, frame: Frame) -> bool:
        """Whether a frame always fails itself. What it raises on purpose is for its callers."""
        one = frame.code.one
        failing = self._failing.failing_steps(def_key(frame)) if one is not None else ()
        return one is not None and any(
            self._runs(failure.context, frame)
            for failure in failing
            if failure.where != "in" and not isinstance(one.steps[failure.step], ir.Raise)
            if self._is_mistake(failure, frame)
        )

    def _is_mistake(self, failure: Failure, frame: Frame) -> bool:
        """Whether a name that nothing binds is one that the file should import, if that is why a step fails."""
        name = failure.unbound
        if not name or name in MODULES:
            return True
        files = (self._ev.file(path) for path in self._ev.files.containing(f"def {name}("))
        return any(file is not None and file.path != frame.path and name in file.names for file in files)

    def _runs(self, context: int, frame: Frame) -> bool:
        """Whether a context of a frame runs in any case. Loops go over something, unless it is known that they do
        not."""
        one, liveness = frame.code.one, self._ev.liveness
        while one is not None and context:
            here = one.contexts[context]
            goes_on = here.kind in ("loop", "with") and not liveness.is_dead(context, frame)
            if not goes_on and not liveness.always_runs(context, here.parent, frame):
                return False
            context = here.parent
        return True

    def _always_runs(self, frame: Frame) -> Iterator[Frame]:
        """The frames that each run of a frame calls in any case."""
        for number, targets in self._ev.leads(frame).items():
            e = frame.code.exprs[number]
            is_certain = isinstance(e, ir.Call) and self._runs_all(e, targets, frame)
            if is_certain and self._runs(frame.code.context_of(number), frame):
                yield from targets

    def _runs_all(self, call: ir.Call, targets: tuple[Frame, ...], frame: Frame) -> bool:
        """Whether a call runs each of the frames that it leads to: the only one, or the steps of a pipeline."""
        called = self._ev.eval(call.func, frame).atoms
        if len(called) != 1 or any(self._ev.calls.is_guess(frame, one) or self._is_lazy(one) for one in targets):
            return False
        return len(targets) == 1 or all(isinstance(one, LibObject) and one.name in _CALL_ALL for one in called)

    def _is_lazy(self, frame: Frame) -> bool:
        """Whether a call of a def does not run its body yet: a generator, or a coroutine."""
        one = self._ev.def_of(frame)
        return one is None or one.is_generator or one.kind != "function"
