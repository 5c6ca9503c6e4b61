"""Detects pauses in the typing, after which code is linked again, and estimates when the next key comes."""

from __future__ import annotations

from collections import deque

#: The length of a pause is a multiple of the time of the last linking, so that linking takes at most a sixth of one
#: core while the user types. It is also longer than the times between the last keys, so that there is no pause in a
#: word. The bounds are in seconds.
_PER_LINKING, _PER_GAP, _SHORTEST, _LONGEST = 5, 1.5, 0.05, 0.5
#: The number of gaps between the last keys that are considered.
_GAPS = 3


class Typing:
    """The times of edits, in seconds of one clock."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._gaps: deque[float] = deque(maxlen=_GAPS)

    def note(self, now: float) -> None:
        """Record that a text was edited."""
        gap = _LONGEST if self._last is None else now - self._last
        if gap >= _LONGEST:
            self._gaps.clear()
        else:
            self._gaps.append(gap)
        self._last = now

    @property
    def next_key(self) -> float:
        """The expected number of seconds from the last key to the next one; 0 if it is not known."""
        return _PER_GAP * max(self._gaps, default=0.0)

    def left(self, now: float, took: float) -> float:
        """The number of further seconds without a key that make a pause, if the last linking took `took` seconds; 0 if
        there is a pause now."""
        if self._last is None:
            return 0.0
        pause = max(_SHORTEST, _PER_LINKING * took, self.next_key)
        return max(0.0, self._last + min(pause, _LONGEST) - now)
