"""A signal that can be sent repeatedly."""

from __future__ import annotations

import asyncio


class Signal:
    """Wakes all tasks that wait for it now, not those that begin to wait later. Used on the event loop only."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Wait for the next `send`."""
        await self._next.wait()

    def send(self) -> None:
        """Wake all tasks that wait."""
        self._next.set()
        self._next = asyncio.Event()
