"""Measures CPU time and memory as a project grows.

The project consists of 1,000 real files: each further thousand is another copy of them in separate folders, with the
copy's number in the names of its packages, classes and functions. So every thousand is as real as the first one, and
together they are one project without duplicates. Three things are measured:

- A cold check, for which all text is new. Text and relevant files (those that linking reads) both grow with the copies,
  so time and memory should be on the straight line through zero copies and one. Zero copies mean a small training
  script alone, for which the whole engine is loaded: with nothing at all, the line would begin too low and be too
  steep.
- A keystroke: a small change. Its time should be the same however large the project is (10,000 files at most).
- A cold check of the first thousand files among more and more irrelevant ones: copies of those that linking did not
  read. The additional cost of these should be far below the average cost of a file."""

from __future__ import annotations

import random
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks import corpora, projects
from benchmarks.keystrokes import states
from benchmarks.measures import EVERY_RULE, MIB, MILLISECONDS, Measure, Options, cpu, note
from benchmarks.processes import run as run_command

#: About 1,000 files: libraries of data loading and of models, in a mix of both.
_PACKAGES = ("timm", "torchio", "ultralytics", "mmengine", "litdata", "webdataset", "accelerate")
_FILES = 1000
_KEYS = 100
#: Keystrokes are not measured in larger projects: a second check of them takes as long as all the rest.
_LOOKED = 10_000

_WORD = re.compile(r"\b[^\W\d]\w*")
_DEFINED = re.compile(r"^(?:class|def)\s+(\w{8,})\b", re.MULTILINE)
_IMPORTED = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_OF_OTHERS = re.compile(r"\b(?:torch|np|numpy|random|os|cv2|math|nn|F|dist|data)(?:\.\w+)*\.(\w+)")
_KEYWORDS = re.compile(r"\b(\w+)\s*=[^=]")


@dataclass(frozen=True, slots=True)
class _Original:
    """A real file: its path from its package on, and its text in parts, between which the copy's number is inserted."""

    path: str
    parts: tuple[str, ...]

    def copy(self, folder: Path, number: int) -> int:
        """Write a copy below `folder`. Returns the size of its text in bytes."""
        target = folder / self.numbered(number)
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.write_bytes(f"_{number}".join(self.parts).encode())

    def numbered(self, number: int) -> str:
        """The path of a copy."""
        top, _, rest = self.path.partition("/")
        return f"{top}_{number}/{rest}"


@dataclass(frozen=True, slots=True)
class _Look:
    """The results of one process on a project: the files that linking read, by their paths in the project, and the
    milliseconds of keystrokes in the first of them."""

    relevant: tuple[str, ...]
    keystrokes: tuple[float, ...]


def run(options: Options) -> Iterator[Measure]:
    """CPU time and memory by number of files, and their distance from the line."""
    sizes = (200, 400) if options.quick else options.sizes
    originals = _read(corpora.packages(options))[: sizes[0]]
    costs: dict[int, list[tuple[float, float]]] = {files: [] for files in (0, *sizes)}
    looks: dict[int, _Look] = {}
    texts: dict[int, int] = {}
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        for number in range(options.rounds):
            with _project(folder) as source:
                written = 0
                if not number:
                    _check(source.parent, "once, so that all modules are compiled")
                for before, files in zip((0, *costs), costs, strict=False):
                    written += _grow(source, originals, range(before, files))
                    costs[files].append(_check(source.parent, f"{files:,} files"))
                    if 0 < files <= _LOOKED and not number:
                        texts[files], looks[files] = written, _look(source.parent, options)
        first, last = sizes[0], sizes[-1]
        others = [one for one in originals if f"src/{one.numbered(0)}" not in looks[first].relevant]
        among = [_among(folder, originals, others, last - first) for _ in range(options.rounds)]
    yield from _curve("CPU", "s", {files: [time for time, _ in found] for files, found in costs.items()}, sizes)
    yield from _curve("memory", "MiB", {files: [peak for _, peak in found] for files, found in costs.items()}, sizes)
    for files, look in looks.items():
        yield Measure(f"text, {files:,} files", "MiB", (texts[files] / MIB,))
        yield Measure(f"files that linking looked into, {files:,} files", "", (float(len(look.relevant)),))
        yield Measure(f"a keystroke, {files:,} files", "ms", (statistics.median(look.keystrokes),))
    where = f"{first:,} files among {last - first:,} that are not relevant"
    yield Measure(f"CPU, {where}", "s", tuple(time for time, _ in among))
    yield Measure(f"memory, {where}", "MiB", tuple(peak for _, peak in among))


def _curve(what: str, unit: str, found: dict[int, list[float]], sizes: Sequence[int]) -> Iterator[Measure]:
    """The points, and the largest ratio between a point and the line through zero and the first size."""
    for files, values in found.items():
        yield Measure(f"{what}, {files:,} files", unit, tuple(values))
    medians = {files: statistics.median(values) for files, values in found.items()}
    slope = (medians[sizes[0]] - medians[0]) / sizes[0]
    above = max(medians[files] / (medians[0] + slope * files) for files in sizes)
    yield Measure(f"{what}: furthest above the line", "", (above,))


# --- what is measured -------------------------------------------------------------------------------------------------


def _check(root: Path, what: str) -> tuple[float, float]:
    """CPU seconds and MiB of a cold check."""
    cost = run_command(
        [sys.executable, "-m", "loaderlint", "check", "--no-cache", "--output-format=json", root], root.parent
    )
    if cost.code not in (0, 1):  # it is negative after a signal
        raise RuntimeError(f"ended with {cost.code}")
    note(f"{what}: {cost.cpu:.2f} s, {cost.peak:.0f} MiB")
    return cost.cpu, cost.peak


def _among(folder: str, originals: Sequence[_Original], others: Sequence[_Original], more: int) -> tuple[float, float]:
    """A cold check of the originals among `more` copies of the others."""
    with _project(folder) as source:
        _grow(source, originals, range(len(originals)))
        _grow(source, others, range(len(others), len(others) + more))
        return _check(source.parent, f"{len(originals):,} files among {more:,} that are not relevant")


def _look(root: Path, options: Options) -> _Look:
    """Check a project in a new process, and type in it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_looked, root, options.seed).result()


def _looked(root: Path, seed: int) -> _Look:
    from loaderlint.engine import Workspace
    from loaderlint.sources.store import Store

    relevant: set[Path] = set()
    original = Store.file

    def noting(store: Store, path: Path) -> object:
        relevant.add(path)
        return original(store, path)

    Store.file = noting  # type: ignore[assignment, method-assign]
    workspace = Workspace([root])
    workspace.check()
    Store.file = original  # type: ignore[method-assign]
    path = min(relevant)
    text = path.read_text(encoding="utf-8")
    workspace.set_text(path, text)
    workspace.check([path])
    times = []
    for state in states(text, _KEYS, random.Random(seed)):

        def key(state: str = state) -> None:
            workspace.set_text(path, state)
            workspace.check([path])

        times.append(cpu(key) * MILLISECONDS)
    return _Look(tuple(path.relative_to(root).as_posix() for path in sorted(relevant)), tuple(times))


# --- what it is measured on -------------------------------------------------------------------------------------------


@contextmanager
def _project(folder: str) -> Iterator[Path]:
    """The source folder of a temporary project."""
    root = Path(folder).resolve() / "project"
    source = root / "src"
    source.mkdir(parents=True)
    (root / "pyproject.toml").write_text(f'[project]\nname = "grown"\nversion = "0"\n\n{EVERY_RULE}', encoding="utf-8")
    (root / "train.py").write_text(projects.TRAINING, encoding="utf-8")
    # A folder of thousands of folders without a source file counts as data, and is not read.
    (source / "sizes.py").write_text("", encoding="utf-8")
    yield source
    shutil.rmtree(root)


def _grow(folder: Path, originals: Sequence[_Original], indices: Iterable[int]) -> int:
    """Add the files with these numbers, counted over all copies. Returns the size of their text in bytes."""
    return sum(originals[index % len(originals)].copy(folder, index // len(originals)) for index in indices)


def _read(packages: Path) -> tuple[_Original, ...]:
    """The thousand files. Only names that they define themselves are numbered, not those of libraries."""
    texts = [
        (path.relative_to(packages).as_posix().partition("/")[2], path.read_text(encoding="utf-8", errors="replace"))
        for name in _PACKAGES
        for path in sorted((packages / name).rglob("*.py"))
    ][:_FILES]
    tops = {path.partition("/")[0] for path, _ in texts}
    defined: set[str] = set()
    foreign: set[str] = set()
    for _, text in texts:
        defined.update(_DEFINED.findall(text))
        foreign.update(_OF_OTHERS.findall(text), _KEYWORDS.findall(text))
        for module, names in _IMPORTED.findall(text):
            if module.partition(".")[0] not in tops and not module.startswith("."):
                foreign.update(re.findall(r"\w+", names))
    modules = {Path(path).stem for path, _ in texts} | {part for path, _ in texts for part in Path(path).parts[:-1]}
    numbered = (defined - foreign - modules) | tops
    return tuple(_Original(path, _parts(text, numbered)) for path, text in texts)


def _parts(text: str, numbered: set[str]) -> tuple[str, ...]:
    """The text, split after each of these names."""
    cuts = [found.end() for found in _WORD.finditer(text) if found[0] in numbered]
    return tuple(text[start:end] for start, end in zip((0, *cuts), (*cuts, len(text)), strict=True))
