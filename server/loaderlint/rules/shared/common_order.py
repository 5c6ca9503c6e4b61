"""Draws that must be the same in all workers: an iterable dataset orders its files before each worker takes its
share."""

from __future__ import annotations

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.project.reach.worker_dataset import WORKER_INFO

#: Functions and methods that order items, or choose a list of them.
_ORDERING = frozenset("shuffle permutation permuted randperm sample choices".split())
_WORKER_INFO = Lib(WORKER_INFO)


def sets_common_order(call: WorkerCall, name: str, model: Model) -> bool:
    """Whether the draw `name` orders what an iterable dataset iterates over before any worker takes its share. With
    different numbers, workers would take shares of different orders, and items would be duplicated or lost."""
    ordering = name.rpartition(".")[2] in _ORDERING and name != "numpy.random.sample"
    if not ordering or not _is_iterated(call.frame, model):
        return False
    for other in model.frame_calls(call.frame):
        if other.number == call.number:
            return True
        if _asks_for_worker(other, model):
            return False
    return True


def _is_iterated(frame: Frame, model: Model) -> bool:
    """Whether the workers of some loader reach a frame from the `__iter__` of a dataset."""
    for index, parent in model.reached[frame].parents.items():
        root, seen = frame, {frame}
        while parent is not None and parent not in seen:
            root = parent
            seen.add(root)
            parent = model.reached[root].parents.get(index)
        if model.def_of(root).name == "__iter__":
            return True
    return False


def _asks_for_worker(call: WorkerCall, model: Model) -> bool:
    """Whether a call, or a function that it calls, asks which worker runs it."""
    if _WORKER_INFO in call.callee.atoms:
        return True
    targets = model.ev.targets(call.number, call.frame)
    return any(_WORKER_INFO in one.callee.atoms for frame in model.run_by(targets) for one in model.frame_calls(frame))


__all__ = ["sets_common_order"]
