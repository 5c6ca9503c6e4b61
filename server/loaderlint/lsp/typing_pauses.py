"""What counts as a pause in the typing, after which code is linked again, and when the next key is expected."""

from __future__ import annotations

from collections import deque

#: A pause is as long as a multiple of the last linking, so that linking takes at most a sixth of one core while
#: somebody types, and longer than the times between the last keys, so that there is none in a word. Its bounds are in
#: seconds.
_PER_LINKING, _PER_GAP, _SHORTEST, _LONGEST = 5, 1.5, 0.05, 0.5
#: How many of the last gaps between keys count.
_GAPS = 3


class Typing:
    """When the user typed. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._gaps: deque[float] = deque(maxlen=_GAPS)

    def note(self, now: float) -> None:
        """A text was edited."""
        gap = _LONGEST if self._last is None else now - self._last
        if gap >= _LONGEST:
            self._gaps.clear()
        else:
            self._gaps.append(gap)
        self._last = now

    @property
    def next_key(self) -> float:
        """How many seconds after the last key the next one is expected; 0 if that is not known."""
        return _PER_GAP * max(self._gaps, default=0.0)

    def left(self, now: float, took: float) -> float:
        """How many more seconds without a key make a pause, if the last linking took `took` seconds; 0 if there is a
        pause now."""
        if self._last is None:
            return 0.0
        pause = max(_SHORTEST, _PER_LINKING * took, self.next_key)
        return max(0.0, self._last + min(pause, _LONGEST) - now)
