"""Measures keystrokes at a person's pace in a given project: CPU time, and wall time to the final diagnostics.

    python -m benchmarks.settled_keys FOLDER FILE [FILE ...]

The other keystroke benchmarks send the next key as soon as the last one is answered: while the project is linked, they
get findings that are still valid, and most keys are never checked separately. Here, a line that draws numbers is typed
at places spread over each file, with one key every `--pace` milliseconds, whatever the server does. At the end of the
line the typing stops: the time to the final answer is that from the last key until everything has been checked
(`loaderlint/status`). FOLDER is copied and opened as a whole.

CPU time is that of the server's processes for all of this, printed next to one bare `libcst.parse_module` of the same
file in the same run, and as a share of it: the share is meaningful even on a busy machine, the wall times only on an
idle one. Linux only.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst

from benchmarks.client import Server
from benchmarks.measures import MILLISECONDS, cpu, percentile

TYPED = "value = np.random.randint(0, len(self.items))"
#: A line in a function before which a statement can be typed; and what the line above it must not end with.
_IN_FUNCTION = re.compile(r"\s+(?:return\b|self\.)")
_OPEN = ("(", ",", "[", "{", "\\")
_SPOTS, _PARSES = 8, 5


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys typed into one file. `cpu`: milliseconds per key; `walls`: milliseconds from the last key of each line
    to the final diagnostics; `parse`: milliseconds of a bare parse."""

    lines: int
    keys: int
    cpu: float
    walls: tuple[float, ...]
    parse: float

    def __str__(self) -> str:
        p50, p95 = (percentile(self.walls, percent) for percent in (50, 95))
        share = self.cpu / self.parse
        return (
            f"{self.lines} lines, {self.keys} keys: CPU {self.cpu:.2f} ms a key, {share:.3f} of a bare parse "
            f"({self.parse:.1f} ms); final answer {p50:.0f} ms after a line, p95 {p95:.0f} ms"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.settled_keys", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the project")
    parser.add_argument("files", type=Path, nargs="+", help="files of it")
    parser.add_argument("--lines", type=int, default=_SPOTS, help=f"lines to type into a file (default: {_SPOTS})")
    parser.add_argument("--pace", type=float, default=120, help="milliseconds between keys (default: 120)")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made).resolve() / folder.name
        shutil.copytree(folder, copy, symlinks=True)
        for file in asked.files:
            name = file.resolve().relative_to(folder)
            print(f"{name}: {measured(copy, copy / name, asked.lines, asked.pace)}", flush=True)


def measured(folder: Path, path: Path, lines: int, pace: float) -> Keys:
    """Type `lines` lines into the file at `path` of the project in `folder`, with one key every `pace` milliseconds."""
    text = path.read_text(encoding="utf-8")
    parse = statistics.median(cpu(lambda: libcst.parse_module(text)) for _ in range(_PARSES)) * MILLISECONDS
    walls: list[float] = []
    keys = 0
    with Server(folder) as server:
        server.initialize()
        server.notify("initialized", {})
        server.open(path, text)
        server.settled(path)
        before = server.cpu()
        for states in typed_lines(text, lines):
            for state in states:
                time.sleep(pace / MILLISECONDS)
                server.change(path, state)
                began = time.perf_counter()
            server.settled(path)
            walls.append((time.perf_counter() - began) * MILLISECONDS)
            keys += len(states)
        used = (server.cpu() - before) * MILLISECONDS / keys
    return Keys(text.count("\n") + 1, keys, used, tuple(walls), parse)


def typed_lines(text: str, count: int) -> Iterator[list[str]]:
    """The states of a text while the line is typed at one place after the other. The first key of a line removes the
    previous line.

    Raises ValueError if there is no place to type."""
    lines = text.split("\n")
    spots = [at for at in range(1, len(lines)) if _can_be_typed_at(lines, at)]
    if not spots:
        raise ValueError("no function in which a line can be typed")
    spots = spots[:: max(1, len(spots) // count)][:count]
    for spot in spots:
        indent = lines[spot][: len(lines[spot]) - len(lines[spot].lstrip())]
        ends = range(1, len(TYPED) + 1)
        yield ["\n".join([*lines[:spot], indent + TYPED[:end], *lines[spot:]]) for end in ends]


def _can_be_typed_at(lines: list[str], at: int) -> bool:
    return bool(_IN_FUNCTION.match(lines[at])) and not lines[at - 1].rstrip().endswith(_OPEN)


if __name__ == "__main__":
    main()
