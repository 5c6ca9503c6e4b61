"""How far a check is."""

from __future__ import annotations

from collections.abc import Callable


class Steps:
    """Counts what has been done in one check, over all projects."""

    def __init__(self, progress: Callable[[int, int], None] | None) -> None:
        self._progress = progress
        self.done = self.total = 0

    def expect(self, count: int) -> None:
        """There are `count` more steps to come."""
        self.total += count

    def __call__(self) -> None:
        """One more is done."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """So many are done by now."""
        self.done = min(done, self.total)
        if self._progress is not None and self.total:
            self._progress(self.done, self.total)
