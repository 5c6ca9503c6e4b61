"""Gives the engine its own call stack, so that no answer depends on the depth of its caller.

Python's recursion limit counts the frames of the caller too, and the native stack of a thread may be as small as 512
KiB. Work that recurses over a user's code therefore runs on a thread with a known stack and a known limit. The
recursive functions have much lower limits of their own, so they never reach this one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

#: Python frames. `loaderlint.project.evaluation.evaluator.MAX_NESTED` and `loaderlint.syntax.nesting_depth.MAX_LEVELS`
#: need a third of it.
FRAMES = 30_000
#: Bytes of native stack, tried in this order. Only the used part takes memory.
_SIZES = (256 * 1024 * 1024, 64 * 1024 * 1024)
#: Seconds between two checks for Ctrl-C: on Windows nothing else ends a wait.
_LOOK = 1.0

_Result = TypeVar("_Result")


class _Here(threading.local):
    """Whether this thread runs on the engine's own stack."""

    is_own = False


_here = _Here()
_lock = threading.Lock()
_users = 0
_usual_limit = 0


def on_own_stack(work: Callable[[], _Result], abandon: Callable[[], None] = lambda: None) -> _Result:
    """Call `work` on the engine's own stack and return its result. Raises what `work` raises.

    The caller waits. If it is interrupted meanwhile (Ctrl-C), it calls `abandon`, which should make `work` end early,
    and waits for that end. Nested calls stay on the same stack."""
    if _here.is_own:
        return work()
    run = _Run(work)
    thread = _started(run)
    if thread is None:  # no thread or no memory left: this stack is better than none
        return work()
    try:
        _join(thread)
    except BaseException:
        abandon()
        _join(thread)
        raise
    return run.result()


def with_room(work: Callable[[], _Result]) -> _Result:
    """Call `work` here, and again on the engine's own stack if it raises a RecursionError, which only says that this
    stack has no room. `work` must have no effects when it raises."""
    try:
        return work()
    except RecursionError:
        if _here.is_own:
            raise
    return on_own_stack(work)


class _Run(Generic[_Result]):
    """One call and its outcome."""

    def __init__(self, work: Callable[[], _Result]) -> None:
        self._work = work
        self._results: list[_Result] = []
        self._error: BaseException | None = None

    def __call__(self) -> None:
        _here.is_own = True
        _raise_limit()
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            _restore_limit()

    def result(self) -> _Result:
        """The result. Raises what the call raised."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # the traceback refers to this frame
        return self._results[0]


def _started(run: _Run[_Result]) -> threading.Thread | None:
    for size in _SIZES:
        thread = threading.Thread(target=run, name="loaderlint-stack", daemon=True)
        with _lock:
            usual = threading.stack_size(size)
            try:
                thread.start()
            except (RuntimeError, MemoryError):
                continue
            finally:
                threading.stack_size(usual)
        return thread
    return None


def _join(thread: threading.Thread) -> None:
    while thread.is_alive():
        thread.join(_LOOK)


def _raise_limit() -> None:
    """Raise the recursion limit. It belongs to the whole interpreter: the first user raises it, the last one restores
    it."""
    global _users, _usual_limit
    with _lock:
        if _users == 0:
            _usual_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_usual_limit, FRAMES))
        _users += 1


def _restore_limit() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            sys.setrecursionlimit(_usual_limit)
