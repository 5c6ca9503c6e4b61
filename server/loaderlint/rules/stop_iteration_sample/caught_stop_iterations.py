"""Whether a StopIteration that is raised in worker code ends a loader's epoch, or is stopped on its way."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Unknown
from loaderlint.project.reach.model import Loader, Model, WorkerCall

_CATCHING = ("StopIteration", "Exception", "BaseException")
#: Why it ends no epoch.
STOPPED = "a StopIteration is caught on the way, or is meant to end the data there"


def is_stopped(call: WorkerCall, model: Model) -> bool:
    """Whether a StopIteration of a call never leaves its def."""
    return _is_caught(call.context, call.frame, model) or _in_generator(call, model)


class Stops:
    """Whether a StopIteration raised in `frame` is stopped on its way to a loader, or means there what it says."""

    def __init__(self, frame: Frame, model: Model) -> None:
        self._frame, self._model = frame, model

    def cure(self, loader: Loader) -> str:
        """Why it does not end the loader's epoch; '' if it does."""
        chain = self._model.chain(self._frame, loader)
        stopped = (
            not self._makes_samples(chain[0], loader)
            or any(self._model.def_of(frame).is_generator for frame in chain)
            or any(self._is_stopped(before, after) for before, after in zip(chain, chain[1:], strict=False))
        )
        return STOPPED if stopped else ""

    def _makes_samples(self, entry: Frame, loader: Loader) -> bool:
        """Whether the entry is a map-style dataset's, or the collate function."""
        if not self._model.reached[entry].loaders.get("sample", 0) >> loader.index & 1:
            return True
        if self._model.def_of(entry).name not in ("__getitem__", "__getitems__"):
            return entry.receiver is None or self._model.def_of(entry).name in ("__call__", "forward")
        receiver = entry.receiver
        return not isinstance(receiver, Instance) or self._model.dataset_kind(receiver.cls) != "iterable"

    def _is_stopped(self, before: Frame, after: Frame) -> bool:
        for call in self._model.frame_calls(before):
            if after in self._model.ev.targets(call.number, before):
                lazily = bool(call.callee.only(Lib)) or _in_generator(call, self._model)
                return lazily or _is_caught(call.context, before, self._model)
        return False


def _is_caught(context: int, frame: Frame, model: Model) -> bool:
    """Whether a `try` around it catches StopIteration."""
    one = model.def_of(frame)
    while context > 0:
        here = one.contexts[context]
        if here.kind == "try" and any(_catches(one.contexts[n].expr, frame, model) for n in one.handlers(context)):
            return True
        if here.kind == "with" and _may_suppress(here.expr, frame, model):
            return True
        context = here.parent
    return False


def _may_suppress(manager: int, frame: Frame, model: Model) -> bool:
    """Whether a `with` may swallow it: `suppress(...)`, or an unknown manager."""
    atoms = model.ev.eval(manager, frame).atoms
    return any(isinstance(a, Unknown) or (isinstance(a, LibObject) and a.name.endswith("suppress")) for a in atoms)


def _catches(caught: int, frame: Frame, model: Model) -> bool:
    if caught == NONE:
        return True
    e = model.ev.expr(frame, caught)
    if isinstance(e, ir.Seq):
        return any(_catches(item, frame, model) for item in e.items)
    return not isinstance(e, ir.Global) or e.name in _CATCHING


def _in_generator(call: WorkerCall, model: Model) -> bool:
    """Whether the call is in a generator: Python makes a RuntimeError of its StopIteration."""
    one = model.def_of(call.frame)
    if one.is_generator:
        return True
    generators = {
        iterable
        for e in model.facts(call.frame).ir.exprs
        if isinstance(e, ir.Comp) and e.kind == "generator"
        for iterable in e.iterables
    }
    return any(here.kind == "loop" and here.expr in generators for here in one.around(call.context))
