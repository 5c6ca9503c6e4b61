"""Measures CPU time from a keystroke to the diagnostics, on real files, next to one bare `libcst.parse_module` of the
same file.

In each file, a line is typed at random places, character by character, and deleted again, so that about half of the
states do not parse. A keystroke is `Workspace.set_text` and `Workspace.check` of the file: everything that the server
does except its protocol. Files are copied into a separate project, together with a small training project that uses
them, so that there is something to link.
"""

from __future__ import annotations

import gc
import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst

from benchmarks import projects
from benchmarks.measures import MILLISECONDS, Measure, Options, cpu, note, percentile
from loaderlint.engine import Workspace

LINES = (1000, 3000)
#: The typed text: statements with brackets and a string, as is common in such code.
TYPED = ('value = compute(index, key="name")[0]', "for item in items(self.data): total += item", "return {1: (2, [3])}")
#: The number of keystrokes per file and round, and of bare parses in between.
_KEYS, _SOME_KEYS, _PARSES = 600, 100, 5


@dataclass(frozen=True, slots=True)
class Typed:
    """CPU milliseconds of one file in one round. `links`: the number of keystrokes that linked the project again."""

    name: str
    lines: int
    parse: float
    first: float
    times: tuple[float, ...]
    links: int


def run(options: Options) -> Iterator[Measure]:
    """The measurements for each length of file, with one value per file and round."""
    keys = _SOME_KEYS if options.quick else _KEYS
    with tempfile.TemporaryDirectory() as folder:
        files = {size: list(projects.around_installed(Path(folder).resolve(), size)) for size in LINES}
        typed: dict[int, list[Typed]] = {size: [] for size in LINES}
        for number in range(options.rounds):
            note(f"round {number + 1}")
            for size, paths in files.items():
                typed[size] += [measure(path, keys, random.Random(options.seed + number)) for path in paths]
    for size, found in typed.items():
        yield from _measures(f"{size:,} lines", found)


def _measures(where: str, found: Sequence[Typed]) -> Iterator[Measure]:
    for percent in (50, 95, 99):
        times = tuple(percentile(one.times, percent) for one in found)
        yield Measure(f"p{percent}, {where}", "ms", times)
        ratios = tuple(time / one.parse for time, one in zip(times, found, strict=True))
        yield Measure(f"p{percent} / bare parse, {where}", "", ratios)
    yield Measure(f"bare parse, {where}", "ms", tuple(one.parse for one in found))
    yield Measure(f"keystrokes that link anew, {where}", "", tuple(one.links / len(one.times) for one in found))


def measure(path: Path, keys: int, chance: random.Random) -> Typed:
    """Type into the file at `path`."""
    text = path.read_text(encoding="utf-8")
    workspace = Workspace([path.parent])
    workspace.set_text(path, text)
    gc.collect()
    first = cpu(lambda: workspace.check([path]))
    project = workspace.project(path)
    links = project.links
    times: list[float] = []
    parses: list[float] = []
    for number, state in enumerate(states(text, keys, chance)):
        if number % (keys // _PARSES) == 0:
            parses.append(cpu(lambda: libcst.parse_module(text)))

        def key(state: str = state) -> None:
            workspace.set_text(path, state)
            workspace.check([path])

        times.append(cpu(key) * MILLISECONDS)
    parse = statistics.median(parses) * MILLISECONDS
    lines = text.count("\n")
    return Typed(path.name, lines, parse, first * MILLISECONDS, tuple(times), project.links - links)


def states(text: str, keys: int, chance: random.Random) -> Iterator[str]:
    """The states of the text while lines are typed and deleted at random places."""
    lines = text.splitlines(keepends=True)
    for _ in range(keys):
        at = chance.randrange(len(lines))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())].rstrip("\r\n")
        before, after = "".join(lines[:at]), "".join(lines[at:])
        words = chance.choice(TYPED)
        typed = [f"{before}{indent}{words[:end]}\n{after}" for end in range(1, len(words) + 1)]
        for state in (*typed, *reversed(typed[:-1]), text):
            keys -= 1
            if keys < 0:
                return
            yield state
