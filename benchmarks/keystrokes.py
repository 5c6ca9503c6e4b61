"""CPU time from a keystroke to the diagnostics, on real files, next to one bare `libcst.parse_module` of the same file.

    python benchmarks/keystrokes.py                     files of about 1,000 and 3,000 lines of installed packages
    python benchmarks/keystrokes.py FILE [FILE ...]     these files, each in its own project as the editor would open it

In each file somebody types a line at random places, sign by sign, and deletes it again, so that about half of the
states do not parse. A keystroke is `Workspace.set_text` and `Workspace.check` of the file: everything that the server
does but for its protocol. Files of packages are copied into a project of their own, together with a small training
project that uses them, so that there is something to link.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import libcst

from loaderlint.engine import Workspace

LINES = (1000, 3000)
#: What is typed: a statement with brackets and a string, as code of this kind has them.
TYPED = ('value = compute(index, key="name")[0]', "for item in items(self.data): total += item", "return {1: (2, [3])}")

TRAIN = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

import {module}


class Samples(Dataset):
    def __init__(self, path):
        self.data = np.load(path)
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        image = self.data[index]
        image -= self.rng.random()
        return {module}.{function}(image)


train_loader = DataLoader(Samples("a.npy"), num_workers=4)
"""


class Result(NamedTuple):
    """Milliseconds of CPU time of one file. `links`: how many keystrokes linked the project anew."""

    name: str
    lines: int
    parse: float
    first: float
    times: list[float]
    links: int


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--keys", type=int, default=600, help="keystrokes a file (default 600)")
    arguments.add_argument("--seed", type=int, default=0)
    asked = arguments.parse_args()
    print(
        f"{'file':<46}{'lines':>6}{'parse':>8}{'first':>8}{'p50':>8}{'p95':>8}{'p99':>8}  p50/parse  p95/parse  links"
    )
    with tempfile.TemporaryDirectory() as folder:
        for path in asked.files or sorted(_projects(Path(folder).resolve())):
            _show(measure(path.resolve(), asked.keys, random.Random(asked.seed)))


def _projects(folder: Path) -> Iterator[Path]:
    """A project for each of some real files of about each of the sizes."""
    for size in LINES:
        for source in _installed(size):
            project = folder / f"{size}-{source.stem}"
            project.mkdir()
            (project / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch==1.8"]\n')
            shutil.copy(source, project / source.name)
            tree = libcst.parse_module(source.read_bytes())
            functions = [one.name.value for one in tree.body if isinstance(one, libcst.FunctionDef)]
            called = functions[len(functions) // 2] if functions else "__name__"
            (project / "train.py").write_text(TRAIN.format(module=source.stem, function=called))
            yield project / source.name


def _installed(size: int, count: int = 4) -> list[Path]:
    """Files of the standard library and of installed packages whose length is nearest to `size` lines."""
    roots = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
    found = []
    for path in {path for root in roots for path in root.rglob("*.py") if "test" not in str(path)}:
        try:
            lines = path.read_bytes().count(b"\n")
        except OSError:
            continue
        if path.stem.isidentifier() and abs(lines - size) < size / 5 and b"\ndef " in path.read_bytes():
            found.append((abs(lines - size), path.name, path))
    chosen: list[Path] = []
    for _, name, path in sorted(found):
        if name not in {one.name for one in chosen}:
            chosen.append(path)
    return chosen[:count]


def measure(path: Path, keys: int, chance: random.Random) -> Result:
    """Type into the file at `path`."""
    text = path.read_text(encoding="utf-8")
    gc.collect()
    parse = min(_cpu(lambda: libcst.parse_module(text)) for _ in range(3))
    workspace = Workspace([path.parent])
    workspace.set_text(path, text)
    first = _cpu(lambda: workspace.check([path]))
    project = workspace.project(path)
    links = project.links
    times: list[float] = []
    for state in _typed(text, keys, chance):

        def key(state: str = state) -> None:
            workspace.set_text(path, state)
            workspace.check([path])

        times.append(_cpu(key))
    return Result(path.name, text.count("\n"), parse, first, times, project.links - links)


def _typed(text: str, keys: int, chance: random.Random) -> Iterator[str]:
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


def _cpu(work: object) -> float:
    start = time.process_time()
    work()  # type: ignore[operator]
    return (time.process_time() - start) * 1000


def _show(result: Result) -> None:
    cuts = statistics.quantiles(result.times, n=100, method="inclusive")
    p50, p95, p99 = cuts[49], cuts[94], cuts[98]
    print(
        f"{result.name[:45]:<46}{result.lines:>6}{result.parse:>8.1f}{result.first:>8.1f}{p50:>8.2f}{p95:>8.2f}{p99:>8.2f}"
        f"{p50 / result.parse:>11.3f}{p95 / result.parse:>11.3f}{result.links:>7}",
        flush=True,
    )


if __name__ == "__main__":
    main()
