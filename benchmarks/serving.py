"""Measures the language server as a process: the time until it answers, the time until an opened file has its findings,
and its memory. On Linux only, where the CPU time and memory of another process can be read exactly."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import libcst

from benchmarks import corpora, projects
from benchmarks.client import Server
from benchmarks.keystrokes import LINES, states
from benchmarks.measures import MILLISECONDS, Measure, Options, cpu, note

_KEYS, _SOME_KEYS = 10_000, 300
#: The package in which keys are typed: small, with a dataset that makes loaders, and imported by no other package.
_TYPED = "torchio"
#: The number of process starts, and of parses of the small file.
_STARTS = 5


def starting(options: Options) -> Iterator[Measure]:
    """CPU time from the start of the process to the answer to `initialize`, and whether libcst was loaded by then."""
    with tempfile.TemporaryDirectory() as folder:
        root = projects.of_many_files(Path(folder).resolve())
        _started(root)
        times, before = zip(*(_started(root) for _ in range(_STARTS * options.rounds)), strict=True)
    yield Measure("initialize answered", "s", times)
    yield Measure("libcst loaded before the answer", "", before)
    yield Measure("bare Python process", "s", tuple(_bare_start() for _ in range(_STARTS)))


def opening(options: Options) -> Iterator[Measure]:
    """CPU time of a newly started server from the opening of a file to its first findings, in a project of 200 files,
    next to bare parses of the file: a real file with a dataset and a loader at its end."""
    for size in LINES:
        parses: list[float] = []
        times: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            files = list(projects.around_installed(Path(folder).resolve(), size))
            for _ in range(options.rounds):
                for path in files[: 2 if options.quick else len(files)]:
                    text = path.read_text(encoding="utf-8") + projects.TRAINING
                    parses.append(_parse(text))
                    times.append(_opened(path, text))
        yield Measure(f"first findings, {size:,} lines", "ms", tuple(times))
        ratios = tuple(time / parse for time, parse in zip(times, parses, strict=True))
        yield Measure(f"first findings / bare parse, {size:,} lines", "", ratios)


def memory(options: Options) -> Iterator[Measure]:
    """The memory of the server's processes with all packages as its workspace: directly after the first check, after
    the background work that follows, and its growth after many keystrokes. Each keystroke is checked before the next
    one, and many link their part of the workspace again, so the typed file is in a small part, where ten thousand
    keystrokes end within minutes. The cost of a keystroke in a large part is measured elsewhere."""
    folder = corpora.whole(options)
    path = _typed_file(folder)
    text = path.read_text(encoding="utf-8")
    with Server(folder) as server:
        _begin(server)
        server.open(path, text)
        server.settled(path)
        yield Measure("CPU until all was looked at", "s", (server.cpu(),))
        yield Measure("when all has just been looked at", "MiB", (server.memory(),))
        yield Measure("with the workspace open", "MiB", (server.rested_memory(),))
        keys = _SOME_KEYS if options.quick else _KEYS
        _type(server, path, text, keys // 10, options.seed)
        before = server.rested_memory()
        note(f"{before:.0f} MiB; typing")
        start = server.cpu()
        _type(server, path, text, keys, options.seed + 1)
        cost = server.cpu() - start
        yield Measure(f"more after {keys:,} keystrokes", "MiB", (server.rested_memory() - before,))
        yield Measure("CPU a keystroke, with the protocol", "ms", (cost / keys * MILLISECONDS,))


def _typed_file(folder: Path) -> Path:
    """The first file with a dataset in the package in which keys are typed."""
    return next(path for path in sorted((folder / _TYPED).rglob("*.py")) if b"(Dataset)" in path.read_bytes())


def _type(server: Server, path: Path, text: str, keys: int, seed: int) -> None:
    for state in states(text, keys, random.Random(seed)):
        server.change(path, state)
        server.settled(path)
    server.change(path, text)
    server.settled(path)


def _begin(server: Server) -> None:
    server.initialize()
    server.notify("initialized", {})


def _started(root: Path) -> tuple[float, float]:
    with Server(root) as server:
        server.initialize()
        return server.cpu(), float(server.loaded("libcst"))


def _opened(path: Path, text: str) -> float:
    """Milliseconds until the first findings of a file among 200 others. The libraries are loaded before that."""
    with tempfile.TemporaryDirectory() as folder:
        root = projects.of_many_files(Path(folder).resolve() / "project")
        opened, apart = root / path.name, Path(folder).resolve() / "apart" / "small.py"
        opened.write_text(text, encoding="utf-8")
        apart.parent.mkdir()
        corpora.mark(apart.parent)
        with Server(root) as server:
            _begin(server)
            server.open(apart, projects.TRAINING)
            server.published(apart)
            start = server.cpu()
            server.open(opened, text)
            server.published(opened)
            return (server.cpu() - start) * MILLISECONDS


def _parse(text: str) -> float:
    """Milliseconds of a bare parse."""
    return statistics.median(cpu(lambda: libcst.parse_module(text)) for _ in range(_STARTS)) * MILLISECONDS


def _bare_start() -> float:
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", ""], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
