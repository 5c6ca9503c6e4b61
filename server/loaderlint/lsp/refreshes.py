"""When a client that pulls diagnostics is asked to pull again.

It pulls what it opens and edits by itself. It does not know what such an edit changes elsewhere, in another file or in
another cell of the same notebook: then the server sends `workspace/diagnostic/refresh`. A refresh makes the client pull
everything that it shows, so the server sends few.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

#: Seconds from one refresh to the next, at least.
APART = 1.0


class Refreshes:
    """Calls `refresh` if `needed` returns True. Lives on the event loop."""

    def __init__(self, needed: Callable[[], bool], refresh: Callable[[], None]) -> None:
        self._needed = needed
        self._refresh = refresh
        self._timer: asyncio.TimerHandle | None = None
        self._sent: float | None = None

    def consider(self) -> None:
        """The shown diagnostics have changed: ask the client to pull again if needed; if it was asked a moment ago,
        check again after the interval."""
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
