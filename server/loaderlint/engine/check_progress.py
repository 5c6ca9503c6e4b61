"""The progress of a check."""

from __future__ import annotations

from collections.abc import Callable


class Steps:
    """Counts the completed steps of one check, over all projects."""

    def __init__(self, progress: Callable[[int, int], None] | None) -> None:
        self._progress = progress
        self.done = self.total = 0

    def expect(self, count: int) -> None:
        """Add `count` steps to the total."""
        self.total += count

    def __call__(self) -> None:
        """Count one completed step."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """Set the number of completed steps."""
        self.done = min(done, self.total)
        if self._progress is not None and self.total:
            self._progress(self.done, self.total)
