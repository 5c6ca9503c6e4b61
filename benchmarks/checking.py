"""The command line: `loaderlint check` and other linters, each run in a new process.

A cold check begins with an empty cache, and writing the cache is part of it. A warm check uses the cache of an earlier
check."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import corpora, peers, projects
from benchmarks.measures import Measure, Options, note, ratio
from benchmarks.peers import Peer
from benchmarks.processes import Cost, run


def loading_code(options: Options) -> Iterator[Measure]:
    """A cold check of code that loads data, and the checks of it by the peers."""
    folder = corpora.loading(options)
    yield from _sizes(folder)
    costs = _in_turn((peers.loaderlint(), *peers.PEERS), folder, options)
    yield from _shown(costs)
    own = _cpu(costs["loaderlint"])
    for name, others in costs.items():
        if name != "loaderlint":
            yield ratio(f"{name} / loaderlint", _cpu(others), own)


def packages(options: Options) -> Iterator[Measure]:
    """A cold check of many packages at once, and that of ruff with one rule."""
    folder = corpora.whole(options)
    yield from _sizes(folder)
    costs = _in_turn((peers.loaderlint(), peers.RUFF), folder, options)
    yield from _shown(costs)
    yield ratio("loaderlint / ruff, one rule", _cpu(costs["loaderlint"]), _cpu(costs[peers.RUFF.name]))


def warm(options: Options) -> Iterator[Measure]:
    """A second check of the same packages, and one after an edit of a file with a finding."""
    folder = corpora.whole(options)
    edited = _edited_file(folder)
    text = edited.read_bytes()
    with _cache() as environment:
        first = _check(folder, environment)
        yield Measure("files in the cache", "", (float(_files_below(environment)),))
        unchanged, changed = [], []
        for number in range(options.rounds):
            unchanged.append(_check(folder, environment))
            try:
                edited.write_bytes(text + f"\n\ndef added_{number}(value):\n    return value + {number}\n".encode())
                changed.append(_check(folder, environment))
            finally:
                edited.write_bytes(text)
            _check(folder, environment)
        yield Measure("cold", "s", (first.cpu,))
        yield Measure("unchanged", "s", _cpu(unchanged))
        yield Measure("after an edit", "s", _cpu(changed))
        yield Measure("libcst imported", "", (float(_imports_libcst(folder, environment)),))


def _in_turn(contestants: Sequence[Peer], folder: Path, options: Options) -> dict[str, list[Cost]]:
    """The costs of each contestant, round after round, each round starting with the next one. Before that, each is run
    once on one file, so that none compiles its modules in a round, and all files are read once."""
    programs = {peer.name: peers.programs(peer, options) for peer in contestants}
    with tempfile.TemporaryDirectory() as small:
        (Path(small) / "one.py").write_text(projects.TRAINING, encoding="utf-8")
        corpora.mark(Path(small))
        for peer in contestants:
            _run(peer, programs[peer.name], Path(small).resolve())
    corpora.size(folder)
    costs: dict[str, list[Cost]] = {peer.name: [] for peer in contestants}
    for number in range(options.rounds):
        start = number % len(contestants)
        for peer in (*contestants[start:], *contestants[:start]):
            note(f"round {number + 1}: {peer.name}")
            costs[peer.name].append(_run(peer, programs[peer.name], folder))
    return costs


def _run(peer: Peer, programs: Path, folder: Path) -> Cost:
    """A check with an empty cache, from a folder without settings."""
    with _cache() as environment:
        path = os.pathsep.join((str(programs), os.environ.get("PATH", "")))
        cost = run(peer.command(programs, folder), folder.parent, {**environment, "PATH": path})
    if cost.code not in peer.ends:
        raise RuntimeError(f"{peer.name} ended with {cost.code}: {cost.output[-500:]}")
    return cost


def _check(folder: Path, environment: Mapping[str, str]) -> Cost:
    return run([sys.executable, "-m", "loaderlint", "check", folder], folder.parent, environment)


@contextmanager
def _cache() -> Iterator[dict[str, str]]:
    """The environment of a process with a cache in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"XDG_CACHE_HOME": folder, "LOADERLINT_CACHE_DIR": str(Path(folder) / "loaderlint")}


def _files_below(environment: Mapping[str, str]) -> int:
    return sum(1 for path in Path(environment["XDG_CACHE_HOME"]).rglob("*") if path.is_file())


def _edited_file(folder: Path) -> Path:
    """A file of some length that defines a dataset."""
    holds: Callable[[Path], bool] = lambda path: b"(Dataset)" in path.read_bytes()  # noqa: E731
    return next(path for path in sorted(folder.rglob("*.py")) if path.stat().st_size > 5000 and holds(path))


def _imports_libcst(folder: Path, environment: Mapping[str, str]) -> bool:
    """Whether a check of an unchanged folder imports libcst."""
    script = "import sys; from loaderlint.cli import main; main(['check', sys.argv[1]]); print('libcst' in sys.modules)"
    return run([sys.executable, "-c", script, folder], folder.parent, environment).output.rstrip().endswith("True")


def _sizes(folder: Path) -> Iterator[Measure]:
    files, lines = corpora.size(folder)
    yield Measure("files", "", (float(files),))
    yield Measure("lines", "", (float(lines),))


def _shown(costs: Mapping[str, Sequence[Cost]]) -> Iterator[Measure]:
    for name, own in costs.items():
        yield Measure(f"{name}: CPU", "s", _cpu(own))
        yield Measure(f"{name}: memory", "MiB", tuple(cost.peak for cost in own))


def _cpu(costs: Sequence[Cost]) -> tuple[float, ...]:
    return tuple(cost.cpu for cost in costs)
