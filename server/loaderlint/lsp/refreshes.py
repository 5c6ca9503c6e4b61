"""Decides when a client that pulls diagnostics is asked to pull again.

A client pulls what it opens and edits without being asked. It does not know what an edit changes in another file, or in
another cell of the same notebook: then the server sends `workspace/diagnostic/refresh`. A refresh makes the client pull
everything that it shows, so the server sends few.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

#: The minimum number of seconds between two refreshes.
APART = 1.0


class Refreshes:
    """Calls `refresh` if `needed` returns True. Used on the event loop only."""

    def __init__(self, needed: Callable[[], bool], refresh: Callable[[], None]) -> None:
        self._needed = needed
        self._refresh = refresh
        self._timer: asyncio.TimerHandle | None = None
        self._sent: float | None = None

    def consider(self) -> None:
        """Ask the client to pull again if that is needed, because the shown diagnostics have changed. If it was asked a
        moment ago, check again after the interval."""
        if self._timer is not None or not self._needed():
            return
        loop = asyncio.get_running_loop()
        wait = 0.0 if self._sent is None else self._sent + APART - loop.time()
        if wait > 0:
            self._timer = loop.call_later(wait, self._consider_again)
            return
        self._sent = loop.time()
        self._refresh()

    def stop(self) -> None:
        """Send nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _consider_again(self) -> None:
        self._timer = None
        self.consider()
