"""Locks that order the threads of one process, in workers that have none."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.knowledge.pickling import THREAD_LOCKS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject
from loaderlint.project.reach.model import Loader, Model

_LOCK_WORDS = tuple(sorted({name.rpartition(".")[2] for name in THREAD_LOCKS}))


def may_lock(loader: Loader, model: Model) -> bool:
    """Whether what the loader's workers run uses a lock: cheaper to see than all that is sent to them."""
    locking = model.once(_locking)
    return bool(locking) and any(reached.frame in locking for reached in model.reached_by(loader))


def _locking(model: Model) -> frozenset[Frame]:
    """The frames that workers run and that use a lock."""
    names = any(model.files.containing(word) for word in _LOCK_WORDS)
    if not names or not model.files.containing("threading"):
        return frozenset()
    return frozenset(frame for frame in model.reached if any(_is_lock(atom, model) for atom in _seen_by(frame, model)))


def _seen_by(frame: Frame, model: Model) -> Iterator[Atom]:
    """What the expressions of a frame are."""
    for number in model.ev.evaluated(frame):
        yield from model.ev.eval(number, frame).atoms


def _is_lock(atom: Atom, model: Model) -> bool:
    if isinstance(atom, LibObject):
        return atom.name in THREAD_LOCKS
    return isinstance(atom, Instance) and not THREAD_LOCKS.isdisjoint(model.ev.classes.library_bases(atom.cls))


def has_threads(frame: Frame, model: Model) -> bool:
    """Whether the class that uses a lock has threads to order."""
    owner = frame.owner
    return owner is None or any(True for _ in model.ev.classes.methods_holding(owner, "Thread"))
