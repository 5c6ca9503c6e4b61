"""The engine for the event loop: all questions are asked on the engine's thread, one after the other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from loaderlint.lsp.backend import Backend, Workspace
from loaderlint.lsp.engine_jobs import Answer, Engine, Job
from loaderlint.lsp.engine_thread import Worker

_Result = TypeVar("_Result")


class AsyncEngine:
    """An `Engine` and its thread."""

    def __init__(self, load: Callable[[], Backend]) -> None:
        self.pages: Mapping[str, str] = {}
        """The page of every rule, once the engine is loaded."""
        self._engine = Engine(load)
        self._worker = Worker()
        self._asides: set[threading.Event] = set()

    async def load(self) -> None:
        """Load the engine now, so that the first job need not wait for it."""
        self.pages = await self._worker.run(lambda: self._engine.backend().pages)

    def perform(self, job: Job, early: Callable[[Answer], None]) -> asyncio.Future[Answer | None]:
        """See `Engine.perform`; `early` is called on the engine's thread."""
        engine = self._engine
        return self._worker.run(lambda: engine.perform(job, early))

    async def ask(self, question: Callable[[Workspace], _Result]) -> _Result:
        """Put a question to the workspace."""
        return await self._worker.run(lambda: self._engine.answer(question))

    async def try_asking(self, question: Callable[[Workspace], _Result]) -> _Result | None:
        """Like `ask`, but None if the engine raises an error, which is logged once."""
        try:
            return await self.ask(question)
        except Exception as error:
            self.unanswered(error)
            return None

    def unanswered(self, error: Exception) -> None:
        """Log why a question could not be answered, once for each error."""
        self._engine.unanswered(error)

    async def ask_aside(self, question: Callable[[Workspace, Callable[[], bool]], _Result]) -> _Result | None:
        """Put a long question to the workspace, with a `stop` for it. None if a change came in between: the caller
        waits until the analysis is complete, and asks again."""
        stopped, engine = threading.Event(), self._engine

        def asked() -> _Result | None:
            try:
                return None if stopped.is_set() else question(engine.workspace(), stopped.is_set)
            except engine.backend().cancelled:
                return None

        self._asides.add(stopped)
        try:
            return await self._worker.run(asked)
        finally:
            stopped.set()  # the caller may have been cancelled
            self._asides.discard(stopped)

    def stop_asides(self) -> None:
        """Stop all questions of `ask_aside`, because something has changed: their callers wait until the analysis is
        complete, and ask again."""
        for stopped in self._asides:
            stopped.set()

    def close(self) -> None:
        """End the engine, even if it is busy."""
        self._engine.close()
        self._worker.stop()
