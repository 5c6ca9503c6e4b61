"""CPU time and memory of a cold check as a project grows.

The project is made of real packages of about 1,000 files: each further thousand is another copy of them in a folder of
its own, with the copy's number in the names of its packages, classes and functions. So the code of every thousand is as
real as that of the first one, and as a whole they are one project in which nothing is there twice. Time and memory
should lie on the straight line through an empty project and one of a thousand files."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpora
from benchmarks.measures import Measure, Options, note
from benchmarks.processes import run as run_command

#: About 1,000 files: libraries of data loading and of models, in a mix of both.
_PACKAGES = ("timm", "torchio", "ultralytics", "mmengine", "litdata", "webdataset", "accelerate")
_FILES = 1000

_DEFINED = re.compile(r"^(?:class|def)\s+(\w{8,})\b", re.MULTILINE)
_IMPORTED = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_OF_OTHERS = re.compile(r"\b(?:torch|np|numpy|random|os|cv2|math|nn|F|dist|data)(?:\.\w+)*\.(\w+)")
_KEYWORDS = re.compile(r"\b(\w+)\s*=[^=]")


@dataclass(frozen=True, slots=True)
class _Original:
    """The texts of the thousand files by their relative paths, and the names that are numbered in copies."""

    texts: tuple[tuple[str, str], ...]
    names: re.Pattern[str]


def run(options: Options) -> Iterator[Measure]:
    """CPU time and memory by number of files, and their distance from the line."""
    original = _read(corpora.packages(options))
    sizes = (200, 400) if options.quick else options.sizes
    costs: dict[int, list[tuple[float, float]]] = {files: [] for files in (0, *sizes)}
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        for number in range(options.rounds):
            root = Path(folder).resolve() / str(number)
            (root / "src").mkdir(parents=True)
            (root / "pyproject.toml").write_text('[project]\nname = "grown"\nversion = "0"\n', encoding="utf-8")
            there = 0
            for files in costs:
                _grow(root / "src", original, there, files)
                there = files
                cost = run_command(
                    [sys.executable, "-m", "loaderlint", "check", "--no-cache", "--output-format=json", root],
                    root.parent,
                )
                if cost.code > 1:
                    raise RuntimeError(f"ended with {cost.code}")
                note(f"{files:,} files: {cost.cpu:.2f} s, {cost.peak:.0f} MiB")
                costs[files].append((cost.cpu, cost.peak))
            shutil.rmtree(root)
    for files, found in costs.items():
        yield Measure(f"CPU, {files:,} files", "s", tuple(time for time, _ in found))
        yield Measure(f"memory, {files:,} files", "MiB", tuple(peak for _, peak in found))
    for what, unit in (("CPU", 0), ("memory", 1)):
        medians = {files: sorted(cost[unit] for cost in found)[len(found) // 2] for files, found in costs.items()}
        yield Measure(f"{what}: furthest above the line", "", (_above(medians, sizes),))


def _above(medians: dict[int, float], sizes: Sequence[int]) -> float:
    """The largest quotient of a point and the line through nothing and the first size."""
    slope = (medians[sizes[0]] - medians[0]) / sizes[0]
    return max(medians[files] / (medians[0] + slope * files) for files in sizes)


def _read(packages: Path) -> _Original:
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
    numbered = sorted((defined - foreign - modules) | tops, key=len, reverse=True)
    return _Original(tuple(texts), re.compile(rf"\b(?:{'|'.join(numbered)})\b"))


def _grow(folder: Path, original: _Original, there: int, wanted: int) -> None:
    """Add files until there are as many as wanted."""
    for index in range(there, wanted):
        path, text = original.texts[index % len(original.texts)]
        suffix = f"_{index // len(original.texts)}"
        top, _, rest = path.partition("/")
        target = folder / f"{top}{suffix}" / rest
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(original.names.sub(lambda found: found[0] + suffix, text), encoding="utf-8")  # noqa: B023
