"""Waking those who wait for something that happens again and again."""

from __future__ import annotations

import asyncio


class Signal:
    """Wakes all who wait for it, and nobody who comes later. Lives on the event loop."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Wait for the next `send`."""
        await self._next.wait()

    def send(self) -> None:
        """Wake all who wait."""
        self._next.set()
        self._next = asyncio.Event()
