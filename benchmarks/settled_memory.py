"""Measures how the server's memory grows over edits that are all checked, in a given project.

    python -m benchmarks.settled_memory FOLDER FILE [--edits 1000]

A line that draws numbers is typed into FILE at places spread over it, key by key, as in `settled_keys`; but each key is
sent as soon as everything has been checked after the last one (`loaderlint/status`). The memory of the server's
processes is printed ten times, each time with the original text and after the server's background work. FOLDER is
copied and opened as a whole. Linux only.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.client import Server
from benchmarks.settled_keys import typed_lines

_EDITS, _LOOKS, _LINES = 1_000, 10, 64


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.settled_memory", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the project")
    parser.add_argument("file", type=Path, help="a file of it")
    parser.add_argument("--edits", type=int, default=_EDITS, help=f"how many edits (default: {_EDITS})")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made).resolve() / folder.name
        shutil.copytree(folder, copy, symlinks=True)
        for edits, memory in measured(copy, copy / asked.file.resolve().relative_to(folder), asked.edits):
            print(f"{edits:>6} edits: {memory:.1f} MiB", flush=True)


def measured(folder: Path, path: Path, edits: int) -> Iterator[tuple[int, float]]:
    """The number of edits so far and the server's memory in MiB, before the first edit and after each tenth of
    `edits`."""
    text = path.read_text(encoding="utf-8")
    states = itertools.cycle(itertools.chain.from_iterable(typed_lines(text, _LINES)))
    with Server(folder) as server:
        server.initialize()
        server.notify("initialized", {})
        server.open(path, text)
        server.settled(path)
        yield 0, server.rested_memory()
        for look in range(1, _LOOKS + 1):
            for state in itertools.islice(states, edits * look // _LOOKS - edits * (look - 1) // _LOOKS):
                server.change(path, state)
                server.settled(path)
            server.change(path, text)
            server.settled(path)
            yield edits * look // _LOOKS, server.rested_memory()


if __name__ == "__main__":
    main()
