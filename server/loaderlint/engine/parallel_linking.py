"""Links the components of a project in several processes.

Components do not import each other, so a process gets the list of components and reads only the files of its own. It
returns its findings and what they depend on, as if the component had been linked here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from loaderlint.engine.check_progress import Steps
from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.linking import Linking
from loaderlint.files import file_accesses
from loaderlint.findings.diagnostics import Problem
from loaderlint.findings.finding import Finding
from loaderlint.project.modules.project_files import Part
from loaderlint.runtime import process_pool
from loaderlint.runtime.internal_errors import Cancelled, Failure
from loaderlint.sources.open_file import KeptPieces
from loaderlint.sources.snapshot import Notes
from loaderlint.sources.store import Store


class Known(Struct, frozen=True):
    """What a process must know of a project. `joined`: which folders and files of the root belong together (see
    `Searching.joined`)."""

    root: Path
    overrides: Mapping[str, object]
    interpreter: str | None
    paths: tuple[Path, ...]
    joined: Mapping[str, Part]
    is_large: bool
    kept: KeptPieces | None


class Noted(NamedTuple):
    """The result for a part: its findings, what they depend on, problems with files and settings, the files and folders
    that were examined, the number of linkings, internal errors, and limits that were reached."""

    findings: Mapping[Path, list[Finding]]
    notes: Notes
    unreadable: Mapping[Path, str]
    unknown_encodings: Mapping[Path, str]
    left_out: Mapping[Path, str]
    wrong: tuple[Problem, ...]
    seen: Mapping[str, file_accesses.Stamp | None]
    links: int
    failures: tuple[Failure, ...]
    limits: tuple[Problem, ...]


def linked(known: Known, parts: Sequence[Part], jobs: int, stop: Callable[[], bool]) -> Iterator[tuple[Part, Noted]]:
    """Link parts in at most `jobs` processes, in the given order, and yield each when it is done. A part whose process
    failed (out of memory, for example) is left out, and the caller links it.

    Raises Cancelled when `stop` returns True, OSError if no process can be started."""

    def look() -> None:
        if stop():
            raise Cancelled

    for part, noted in process_pool.run(
        _link, parts, min(jobs, len(parts)), prepare=partial(_prepare, known), look=look
    ):
        if not isinstance(noted, process_pool.Failure):
            yield part, noted


# --- in the process ---------------------------------------------------------------------------------------------------

_project: tuple[Store, Configuration] | None = None


def _prepare(known: Known) -> None:
    global _project
    store = Store(known.root, known.kept)
    store.is_large = known.is_large
    store.suppose(known.paths)
    store.searching().suppose(known.joined)
    _project = store, Configuration(known.root, known.overrides, known.interpreter)


def _link(part: Part) -> Noted:
    assert _project is not None, "prepared"
    store, configuration = _project
    file_accesses.watch()
    linking = Linking(store, configuration, tells=False)
    unit = linking.link(part, lambda: False, Steps(None), telling=False)
    unit.snapshot.pack()
    failures = (*unit.failures, *store.failures())
    store.let_go(store.searching().units()[part])
    if store.kept is not None:
        store.kept.put(one for libraries in linking.libraries() for one in libraries.opened())
    _, seen = file_accesses.seen()
    unreadable, unknown, left_out = dict(store.unreadable), dict(store.unknown_encodings), dict(store.left_out)
    wrong, links = tuple(configuration.wrong), linking.links
    notes = unit.snapshot.notes()
    return Noted(unit.findings, notes, unreadable, unknown, left_out, wrong, seen, links, failures, unit.limits)
