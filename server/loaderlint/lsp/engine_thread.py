"""The one thread on which the engine runs.

pygls reads stdin in its own pool, so a slow job there would keep messages from being read; and the engine does not
support several threads. The stack is large because libcst's parser recurses in native code.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

#: Bytes; threads get 8 MiB or less by default (512 KiB on macOS).
_STACK = 64 * 1024 * 1024
#: Seconds that `stop` waits for the running job. The thread is a daemon, so a job that does not stop does not keep the
#: process alive.
_PATIENCE = 2.0

_Result = TypeVar("_Result")


class Worker:
    """Runs jobs one after the other, in the order of their arrival."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, job: Callable[[], _Result]) -> asyncio.Future[_Result]:
        """Queue `job`; its result or exception is set on the calling event loop. A job whose future is cancelled before
        its turn is skipped."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()

        def perform() -> None:
            if future.cancelled():
                return
            try:
                result = job()
            except BaseException as error:  # a SystemExit of the engine must not end the thread
                _tell(loop, future, _fail, error)
            else:
                _tell(loop, future, _succeed, result)

        self._start()
        self._jobs.put(perform)
        return future

    def stop(self) -> None:
        """Accept no more jobs and wait briefly for the running one."""
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def _start(self) -> None:
        if self._thread is not None:
            return
        before = threading.stack_size(_STACK)
        try:
            self._thread = threading.Thread(target=self._work, name="loaderlint-engine", daemon=True)
            self._thread.start()
        finally:
            threading.stack_size(before)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _tell(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    how: Callable[[asyncio.Future[Any], Any], None],
    what: Any,
) -> None:
    try:
        loop.call_soon_threadsafe(how, future, what)
    except RuntimeError:  # the loop is closed, so no task waits
        logger.debug("a result came after the end")


def _succeed(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        # A future does not accept StopIteration, and a SystemExit would end the loop that reads it.
        usable = isinstance(error, Exception) and not isinstance(error, StopIteration)
        future.set_exception(error if usable else RuntimeError(f"the engine ended with {error!r}"))
