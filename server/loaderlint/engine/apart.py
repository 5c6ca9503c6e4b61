"""Parts of a project that are linked in several processes.

Parts do not import each other, so a process reads the files of its part and no others; which parts there are it is
told. What it found and what that rests on comes back, as if the part had been linked here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loaderlint import processes, witness
from loaderlint.cache.pieces import KeptPieces
from loaderlint.engine.configuration import Configuration
from loaderlint.engine.diagnostics import Problem
from loaderlint.engine.linking import Linking
from loaderlint.engine.steps import Steps
from loaderlint.findings import Finding
from loaderlint.project.files import Part
from loaderlint.store import Cancelled, Notes, Store

#: Seconds between two looks at whether to stop.
_LOOK = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """What a process is told of a project. `joined`: which folders and files of the root belong together (see
    `Searching.joined`)."""

    root: Path
    overrides: Mapping[str, object]
    interpreter: str | None
    paths: tuple[Path, ...]
    joined: Mapping[str, Part]
    is_large: bool
    kept: KeptPieces | None


class Noted(NamedTuple):
    """What came of a part: its findings, what they rest on, what was wrong with files and settings, what was looked at
    on disk, and how often there was something to link."""

    findings: Mapping[Path, list[Finding]]
    notes: Notes
    unreadable: Mapping[Path, str]
    wrong: tuple[Problem, ...]
    seen: Mapping[str, witness.Stamp | None]
    links: int


def linked(known: Known, parts: Sequence[Part], jobs: int, stop: Callable[[], bool]) -> Iterator[tuple[Part, Noted]]:
    """The parts, each as soon as it is linked, in at most so many processes; the first ones are begun first. A part
    whose process died (out of memory, say) is left out.

    Raises Cancelled when `stop` answers True in between."""
    from pebble import ProcessExpired, ProcessPool

    context = processes.context("loaderlint.engine.apart", "loaderlint.project.model", "loaderlint.rules")
    pool = ProcessPool(min(jobs, len(parts)), initializer=_prepare, initargs=(known,), context=context)
    try:
        running: dict[Future[Noted], Part] = {pool.schedule(_link, args=[part]): part for part in parts}
        while running:
            done, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            if stop():
                raise Cancelled
            for future in done:
                part = running.pop(future)
                try:
                    yield part, future.result()
                except (ProcessExpired, BrokenExecutor):
                    continue
    finally:
        pool.stop()  # type: ignore[no-untyped-call]
        pool.join()


# --- in the process ---------------------------------------------------------------------------------------------------

_project: tuple[Store, Configuration] | None = None


def _prepare(known: Known) -> None:
    global _project
    processes.leave_interrupts()
    store = Store(known.root, known.kept)
    store.is_large = known.is_large
    store.suppose(known.paths)
    store.searching().suppose(known.joined)
    _project = store, Configuration(known.root, known.overrides, known.interpreter)


def _link(part: Part) -> Noted:
    assert _project is not None, "prepared"
    store, configuration = _project
    witness.watch()
    linking = Linking(store, configuration, tells=False)
    unit = linking.link(part, lambda: False, Steps(None), telling=False)
    unit.snapshot.pack()
    store.let_go(store.searching().units()[part])
    _, seen = witness.seen()
    unreadable, wrong = dict(store.unreadable), tuple(configuration.wrong)
    return Noted(unit.findings, unit.snapshot.notes(), unreadable, wrong, seen, linking.links)
