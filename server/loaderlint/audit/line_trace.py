"""Finds the lines that change the state of a stream of random numbers, with Python's trace function."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from loaderlint.audit.line_sources import draws_from_watched_only
from loaderlint.audit.messages import Move
from loaderlint.audit.reachable import module_is_of_user
from loaderlint.audit.streams import Stream

#: The number of lines after which a unit of work is no longer watched: for each line, all states are read.
LINES = 3_000

#: Draws in functions of these modules are attributed to the line that calls them; in other libraries, to the function.
_BLAMED_ON_CALLER = frozenset({*sys.stdlib_module_names, "torch", "numpy", "loaderlint"}) - {"__main__"}

#: The maximum number of frames in a stack.
FRAMES = 6

#: The maximum number of moves of one stream that are kept.
_MOVES = 50


class LineTrace:
    """Watches the lines that run inside a `with` block. `moves`: for each stream, by its place in `streams`, the lines
    that changed it."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._streams = streams
        self._states = [stream.state() for stream in streams]
        self._watched = {id(stream.source) for stream in streams}
        self._left = LINES
        self._line: tuple[FrameType, int] | None = None
        self._before: Any = None
        self.moves: list[list[Move]] = [[] for _ in streams]

    def __enter__(self) -> LineTrace:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.settrace(self._before)
        self._look()

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        module = frame.f_globals.get("__name__") or ""
        if module.partition(".")[0] in _BLAMED_ON_CALLER:
            return None
        self._look()
        self._line = frame, frame.f_lineno
        return self._ran if self._left > 0 and module_is_of_user(module) else None

    def _ran(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._left -= 1
        if self._left <= 0:
            sys.settrace(None)
            return None
        self._look()
        self._line = frame, frame.f_lineno
        return self._ran

    def _look(self) -> None:
        """Attribute what has changed to the last line that ran."""
        if self._line is None:
            return
        for number, stream in enumerate(self._streams):
            state = stream.state()
            if state != self._states[number]:
                self._states[number] = state
                if len(self.moves[number]) < _MOVES:
                    only = draws_from_watched_only(*self._line, self._watched)
                    self.moves[number].append(Move(stack(*self._line), stream.digest(), only))


def stack(frame: FrameType, line: int) -> tuple[str, ...]:
    """The frames of user code and of libraries, from this one outwards: 'augment (data.py:12)'."""
    found: list[str] = []
    at: FrameType | None = frame
    while at is not None and len(found) < FRAMES:
        name = at.f_globals.get("__name__", "")
        if name.startswith(("loaderlint.audit", "torch.utils.data._utils")):
            break
        code = at.f_code
        found.append(f"{getattr(code, 'co_qualname', code.co_name)} ({_shown(code.co_filename)}:{line})")
        at = at.f_back
        line = at.f_lineno if at is not None else 0
    return tuple(found)


def _shown(name: str) -> str:
    """The path of a file for people: relative to the current folder if it is below it."""
    try:
        return Path(name).relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return name
