"""Output of the command line: colours, messages on stderr, a progress bar."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

#: Seconds before a progress bar is worth showing.
PATIENCE = 0.7


class Progress:
    """A progress bar on a terminal, which appears when the work takes long. `color` as in `colors`."""

    def __init__(self, stream: TextIO, color: str = "auto") -> None:
        self._plain = not colors(stream, color)
        self._visible = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        if not self._visible:
            return
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True, no_color=self._plain), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("Reading", total=total)
        self._bar.update(self._task, completed=done, total=total)


def colors(stream: TextIO, wish: str = "auto") -> bool:
    """Whether to print colours to a stream: as `wish` says ('always', 'never'), else only if it is a terminal that
    supports them (https://no-color.org, https://force-color.org)."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("FORCE_COLOR") and not os.environ.get("NO_COLOR"):
        return True
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.name == "nt" and not (os.environ.get("WT_SESSION") or os.environ.get("ANSICON")):
        return False  # the old Windows console would print the codes
    return stream.isatty()


def width(stream: TextIO) -> int:
    """The number of columns of the terminal; a fixed number for other streams."""
    import shutil

    return shutil.get_terminal_size((160, 24)).columns if stream.isatty() else 160


def write_bytes(parts: Iterable[bytes], stream: TextIO | None = None) -> None:
    """Write bytes to a stream (by default stdout), after everything that was printed."""
    out = stream or sys.stdout
    out.flush()
    for part in parts:
        out.buffer.write(part)
    out.buffer.flush()


def files(count: int) -> str:
    """'1 file', '2 files'."""
    return f"{count} file" if count == 1 else f"{count} files"


def printable(text: str) -> str:
    """`text` on one line, with `?` instead of control characters and characters that could disguise a name. File names
    may contain any of them."""
    if text.isprintable():
        return text
    import unicodedata

    return "".join("?" if unicodedata.category(sign)[0] == "C" or sign in "\u2028\u2029" else sign for sign in text)


def show(lines: Iterable[str]) -> None:
    """Print lines on stdout, wrapped at the width of the terminal."""
    for line in lines:
        print(_fitted(line, sys.stdout))


def say(message: str) -> None:
    """Print a message on stderr, because stdout is for findings."""
    print(_fitted(printable(message), sys.stderr), file=sys.stderr)


def _fitted(line: str, stream: TextIO) -> str:
    if not stream.isatty():
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 4)
    return "\n".join(wrapped(line, indent, width(stream)))


def complain(message: str) -> None:
    """Print what went wrong on stderr, each line with the tool's name."""
    for line in message.splitlines():
        say(f"loaderlint: {line}")


def wrapped(text: str, indent: str, columns: int) -> list[str]:
    """`text` in lines of `columns` columns (at least 40), broken between words; `indent` starts all lines but the
    first."""
    from textwrap import wrap

    first = text[: len(text) - len(text.lstrip(" "))]
    return wrap(
        text.strip(" "),
        max(40, columns),
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
