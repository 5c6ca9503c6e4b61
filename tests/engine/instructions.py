"""Keystrokes in files of 1,000 and 3,000 lines and one bare parse, each in a separate thread. callgrind runs this, and
counts the instructions of each thread (see test_counts.py)."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import libcst

from benchmarks.projects import TRAINING
from loaderlint.engine import Workspace

#: A piece of about ten lines. Keys are typed into the one in the middle of the file.
BLOCK = '''
def function_{n}(values, scale={n}):
    """Part {n}."""
    total = 0
    for index, value in enumerate(values):
        if value > scale:
            total += value * index
    return [total, *sorted(values)]

'''
#: The texts that are typed after a statement. One of the states does not parse.
TYPED = (" + (value", " + (value)", " + (value) * 2")


def text(lines: int) -> str:
    """A file with about this many lines, and a dataset and a loader at its end."""
    return "".join(BLOCK.format(n=n) for n in range(lines // BLOCK.count("\n"))) + TRAINING


class Typing:
    """A project with one file."""

    def __init__(self, folder: Path, lines: int) -> None:
        folder.mkdir()
        (folder / "pyproject.toml").write_text('[project]\nname = "demo"\n', encoding="utf-8")
        self.path, self.text = folder / "train.py", text(lines)
        self.path.write_text(self.text, encoding="utf-8")
        self.workspace = Workspace([folder])
        self.workspace.set_text(self.path, self.text)
        assert self.workspace.check([self.path])[self.path]
        self.type(" + 1")

    def type(self, words: str) -> None:
        """A keystroke that leaves this text after a statement in the middle."""
        middle = self.text.index("total += value * index", len(self.text) // 2) + len("total += value * index")
        self.workspace.set_text(self.path, self.text[:middle] + words + self.text[middle:])
        assert self.workspace.check([self.path])[self.path]

    def type_all(self) -> None:
        """Type all states."""
        for words in TYPED:
            self.type(words)


def wait_for_other_threads() -> None:
    """Return when this thread is the only one of the process. The system's thread ends a little after `join` returns,
    and until then callgrind does not use its number again."""
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.001)


def in_threads(*works: Callable[[], object]) -> None:
    """Run them one after the other, each in a separate thread. No thread ends before all have worked, so that no thread
    number is used twice."""
    turns = [threading.Event() for _ in range(len(works) + 1)]

    def take_turn(number: int, work: Callable[[], object]) -> None:
        turns[number].wait()
        work()
        turns[number + 1].set()
        turns[-1].wait()

    threads = [threading.Thread(target=take_turn, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    turns[0].set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    short, long = (Typing(Path(sys.argv[1]).resolve() / str(lines), lines) for lines in (1000, 3000))
    wait_for_other_threads()
    # The first thread gets the number of the thread that linked on its own stack, and callgrind adds both up.
    in_threads(lambda: None, short.type_all, long.type_all, lambda: libcst.parse_module(short.text))
