"""A pool of processes: tasks go out, results come back in any order, and no task stops the others.

A process that dies, runs out of memory or takes too long costs its own task only; the next task gets a new process."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from loaderlint.runtime import child_processes

T = TypeVar("T")
R = TypeVar("R")

#: Seconds between two calls of `look`.
_LOOK = 0.5
#: Created in advance, because there may be too little memory to create it later.
_NO_MEMORY = pickle.dumps(("memory", None))


class Failure(Struct, frozen=True):
    """Why a task has no result. `message`: the exit code of a crash, or the type and text of an error; `details`: the
    traceback of an error."""

    kind: Literal["crash", "memory", "time", "error"]
    message: str = ""
    details: str = ""


def run(
    work: Callable[[T], R],
    tasks: Iterable[T],
    count: int,
    *,
    prepare: Callable[[], object] | None = None,
    seconds: float | None = None,
    renew_after: int | None = None,
    look: Callable[[], None] = lambda: None,
) -> Iterator[tuple[T, R | Failure]]:
    """Yield each task with its result or failure, from at most `count` processes. Tasks are taken when a process is
    free.

    The processes find `work` and `prepare` by name; each of them calls `prepare` first. A task may take `seconds`; a
    process ends after `renew_after` tasks. `look` is called from time to time, and an exception in it ends the work.
    Raises OSError if no process can be started, and what `look` raises."""
    pool: _Pool[T, R] = _Pool(work, prepare, count, seconds, renew_after)
    try:
        yield from pool.run(tasks, look)
    finally:
        pool.end()


class _Pool(Generic[T, R]):
    def __init__(
        self,
        work: Callable[[T], R],
        prepare: Callable[[], object] | None,
        count: int,
        seconds: float | None,
        renew_after: int | None,
    ) -> None:
        self._setup = (prepare, work)
        self._count = count
        self._seconds = seconds
        self._renew_after = renew_after
        self._heard: queue.SimpleQueue[tuple[_Worker[T], bytes | None]] = queue.SimpleQueue()
        self._idle: list[_Worker[T]] = []
        self._busy: list[_Worker[T]] = []
        self._again: list[T] = []

    def run(self, tasks: Iterable[T], look: Callable[[], None]) -> Iterator[tuple[T, R | Failure]]:
        waiting = iter(tasks)
        while self._hand_out(waiting):
            look()
            for worker, outcome in self._outcomes():
                task = worker.task
                self._hand_out(waiting)  # first, because the caller may take its time with the result
                yield task, outcome

    def end(self) -> None:
        for worker in (*self._idle, *self._busy):
            worker.child.end()

    def _hand_out(self, waiting: Iterator[T]) -> bool:
        """Give each free process a task. Returns whether there is anything to wait for."""
        while len(self._busy) < self._count:
            try:
                task = self._again.pop() if self._again else next(waiting)
            except StopIteration:
                break
            self._busy.append(self._begun(task))
        return bool(self._busy)

    def _begun(self, task: T) -> _Worker[T]:
        while self._idle:
            worker = self._idle.pop()
            try:
                worker.begin(task, self._seconds)
            except (OSError, ValueError):  # it died while it was idle
                worker.child.end()
            else:
                return worker
        worker = _Worker(self._heard, task)
        with contextlib.suppress(OSError, ValueError):  # its death is reported by the listening thread
            worker.child.send(self._setup)
            worker.begin(task, self._seconds)
        return worker

    def _outcomes(self) -> Iterator[tuple[_Worker[T], R | Failure]]:
        """The next outcome, if it comes soon."""
        try:
            worker, data = self._heard.get(timeout=self._patience())
        except queue.Empty:
            now = time.monotonic()
            for worker in [one for one in self._busy if one.deadline is not None and one.deadline <= now]:
                self._drop(worker)
                yield worker, Failure("time")
            return
        if worker not in self._busy:  # the last message of a process that was ended, or that died while it was idle
            if worker in self._idle:
                self._idle.remove(worker)
            return
        if data is None:
            code = worker.child.exit_code()
            self._drop(worker)
            if worker.was_idle and not worker.has_begun:
                self._again.append(worker.task)  # it died while it was idle, and the task came too late
            else:
                yield worker, Failure("crash", str(code))
            return
        kind, value = pickle.loads(data)
        if kind == "ready":
            worker.ready(self._seconds)
            return
        if kind == "begun":
            worker.has_begun = True
            return
        self._release(worker, keep=kind != "memory")
        yield worker, value if kind == "done" else Failure(kind, *(value or ()))

    def _patience(self) -> float:
        deadlines = [worker.deadline for worker in self._busy if worker.deadline is not None]
        return max(0.0, min([_LOOK, *(deadline - time.monotonic() for deadline in deadlines)]))

    def _release(self, worker: _Worker[T], *, keep: bool) -> None:
        if not keep or worker.tasks == self._renew_after:
            self._drop(worker)
            return
        self._busy.remove(worker)
        self._idle.append(worker)

    def _drop(self, worker: _Worker[T]) -> None:
        self._busy.remove(worker)
        worker.child.end()


class _Worker(Generic[T]):
    """A process of the pool, and the task that it works on or was started for."""

    def __init__(self, heard: queue.SimpleQueue[Any], task: T) -> None:
        self.task = task
        self.tasks = 0
        self.has_begun = False
        self.deadline: float | None = None
        self._is_ready = False
        self.child = child_processes.Child(__name__, heard=lambda data: heard.put((self, data)))

    def begin(self, task: T, seconds: float | None) -> None:
        """Send it a task, which may take `seconds`. Raises OSError or ValueError if the process has died."""
        self.task = task
        self.tasks += 1
        self.has_begun = False
        self.child.send(task)
        if self._is_ready:
            self.ready(seconds)

    @property
    def was_idle(self) -> bool:
        """Whether it had done another task before this one."""
        return self.tasks > 1

    def ready(self, seconds: float | None) -> None:
        """Start the clock of the task, once the process has started."""
        self._is_ready = True
        self.deadline = None if seconds is None else time.monotonic() + seconds


# --- in the process ---------------------------------------------------------------------------------------------------


def main() -> None:
    """Do the tasks that arrive on stdin."""
    child_processes.ignore_interrupts()
    source, sink = child_processes.claim_stdio()
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=child_processes.each_message, args=(source, inbox.put), daemon=True).start()
    try:
        prepare, work = pickle.loads(inbox.get())
        if prepare is not None:
            prepare()
        child_processes.write(sink, ("ready", None))
        while True:
            task = pickle.loads(inbox.get())
            child_processes.write(sink, ("begun", None))
            child_processes.write_pickled(sink, _answer(work, task))
    except OSError:  # nobody reads the answers anymore
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _answer(work: Callable[[Any], object], task: object) -> bytes:
    try:
        return pickle.dumps(("done", work(task)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return _NO_MEMORY
    except Exception as error:
        return pickle.dumps(("error", (f"{type(error).__name__}: {error}", traceback.format_exc())))
