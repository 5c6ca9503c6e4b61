"""Links the files of a project and runs the rules on them; after an edit, only where something that was read has
changed.

Each component of a project (`loaderlint.project.modules.components`) is a unit. It is linked separately, and what it
read is recorded. Its findings are a function of what it read, so an edit relinks the units whose answers it changes."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.engine.check_progress import Steps
from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.remap import Gone, moved_findings, moved_told
from loaderlint.engine.run_rules import ask_rules, merged_findings, unheard
from loaderlint.files import file_accesses
from loaderlint.findings.diagnostics import Problem
from loaderlint.findings.finding import Finding, Silence
from loaderlint.project.modules.project_files import Part
from loaderlint.runtime.call_stack import on_own_stack
from loaderlint.runtime.internal_errors import Cancelled, Failure, Postponed, contained
from loaderlint.runtime.phase_times import phase
from loaderlint.sources.configuration_files import ConfigurationFiles
from loaderlint.sources.library_sources import LibrarySources, SeenLibraries
from loaderlint.sources.library_summaries import LibrarySummaries
from loaderlint.sources.snapshot import Snapshot
from loaderlint.sources.store import Store

if TYPE_CHECKING:
    from loaderlint.explanations.explanation import Told
    from loaderlint.project.reach.model import Model
    from loaderlint.project.versions.library_folders import LibraryFolders
    from loaderlint.rules.base import Rule
    from loaderlint.sources.library_summaries import Release

#: A project without any of these words has no loader of any kind (loaders of PyTorch and of its wrappers,
#: datasets, Keras sequences) and maps no data in a process pool.
_WORDS = ("oader", "Dataset", "Sequence", "num_proc", "num_workers", "Pool(", "PoolExecutor(", "ParallelMapper(")

#: The parts of a project are folders and files with this suffix.
_SOURCES = (".py", ".ipynb")

#: If a project has more bytes than this, they are not kept in memory.
_MUCH = 30_000_000


class Unit(NamedTuple):
    """A part of a project: `findings`, the explanations in `told`, the `snapshot` that both depend on, and the internal
    errors because of which findings may be missing. `retried`: whether the part failed in the same way when it was
    linked again. `limits`: what was skipped because there is too much of it."""

    snapshot: Snapshot
    findings: Mapping[Path, list[Finding]]
    told: Told | None
    failures: tuple[Failure, ...] = ()
    retried: bool = False
    limits: tuple[Problem, ...] = ()

    @property
    def is_worth_retrying(self) -> bool:
        """Whether linking the part again, with nothing changed, may find more. True once: a temporary fault (memory,
        disk) goes away, and any other one recurs until something that the part read changes."""
        return bool(self.failures) and not self.retried

    def failed_as(self, other: Unit) -> bool:
        """Whether both units had the same internal errors."""
        return [(*one[:3], one.cost) for one in self.failures] == [(*one[:3], one.cost) for one in other.failures]


class Linked(NamedTuple):
    """The result of linking: for which generation of the store and which files, by part and in total."""

    generation: int
    paths: tuple[Path, ...]
    units: Mapping[Part, Unit]
    findings: Mapping[Path, list[Finding]]
    told: Told | None


class Linking:
    """Links one project, and keeps the last result. `tells`: every linking collects the data for `explain`. `jobs`: the
    number of processes in which parts may be linked. `rules`: those that may run, all of them if None."""

    def __init__(
        self,
        store: Store,
        configuration: Configuration,
        tells: bool,
        jobs: int = 1,
        rules: Sequence[Rule] | None = None,
    ) -> None:
        self._store = store
        self._configuration = configuration
        self._tells = tells
        self._jobs = jobs
        self._askable = rules
        self.last: Linked | None = None
        self.named: frozenset[Path] = frozenset()
        """The files that the user named: rules that their settings enable run too."""
        self.links = 0
        """How often parts of the project were linked (read by tests and benchmarks)."""
        self._libraries: dict[tuple[LibraryFolders, tuple[Release, ...]], LibrarySources] = {}
        self._configurations = _configurations_of(store)
        self._took = 0.0
        """How many seconds the last linking took."""
        self.known = False
        """Whether the project has ever been linked."""
        self.on_linked: Callable[[Model], None] = lambda model: None
        """Called with each model after the rules ran. The model is released afterwards: keep no part of it."""

    def current(
        self,
        stop: Callable[[], bool],
        steps: Steps,
        *,
        telling: bool = False,
        typing: bool = False,
    ) -> Linked:
        """All findings of the project, with what `explain` needs if `telling`. A part is linked again only if something
        that its last linking read has changed, or if `telling` is true for the first time. Raises Postponed if a part
        has to be linked again while the user is `typing`, and Cancelled if `stop` returns True."""
        last = self.last
        if last is None or last.generation != self._store.generation or (telling and last.told is None):
            last = self.last = self._now(last, stop, steps, telling, typing)
            self._store.settled()
            self.known = True
        return last

    def rest(self) -> None:
        """Release memory: no request is expected for a while."""
        for unit in self.last.units.values() if self.last is not None else ():
            unit.snapshot.pack()
        for sources in self.libraries():
            sources.rest()

    def _now(
        self,
        last: Linked | None,
        stop: Callable[[], bool],
        steps: Steps,
        telling: bool,
        typing: bool,
    ) -> Linked:
        """The current state of the project. Units of the `last` state are kept if nothing that they read changed."""
        paths = self._store.paths()
        if last is None or last.paths != paths:
            last = None
            with phase("reading files"):
                self._read(paths, stop, steps)
        parts = self._store.searching().units()
        kept = {part: self._kept(last.units.get(part), telling) if last is not None else None for part in parts}
        units = {part: unit for part, unit in kept.items() if unit is not None}
        missing = {part: files for part, files in parts.items() if part not in units}
        if last is not None:
            steps.expect(sum(map(len, missing.values())))
        if last is not None and missing and typing:
            raise Postponed(self._took)
        began = time.monotonic()
        for part, unit in self._links(missing, stop, steps, telling):
            before = last.units.get(part) if last is not None else None
            units[part] = unit._replace(retried=before is not None and unit.failed_as(before))
        if missing:
            self._took = time.monotonic() - began
        for unit in units.values():  # only now, because linking may be cancelled
            unit.snapshot.follow()
        if last is not None and len(units) == len(last.units):
            if all(unit is last.units.get(part) for part, unit in units.items()):
                return last._replace(generation=self._store.generation)
        return self._linked(paths, {part: units[part] for part in parts})

    def failures(self) -> Iterator[Failure]:
        """The internal errors in the last linking."""
        for unit in self.last.units.values() if self.last is not None else ():
            yield from unit.failures

    def limits(self) -> Iterator[Problem]:
        """What the last linking skipped because there is too much of it."""
        for unit in self.last.units.values() if self.last is not None else ():
            yield from unit.limits

    def let_go(self, paths: Iterable[Path]) -> None:
        """Release memory in a large project: these files are not needed for a while. Files of parts that are being
        edited are kept."""
        if self._store.is_large:
            part_of = self._store.searching().part_of
            edited = {part_of(path) for path in self._store.edited()}
            self._store.let_go([path for path in paths if part_of(path) not in edited])

    def _kept(self, unit: Unit | None, telling: bool) -> Unit | None:
        """A unit that was linked before, with its places updated; None if it is out of date, or if `telling` and it has
        no explanations."""
        if unit is None or (telling and unit.told is None) or unit.is_worth_retrying:
            return None
        if not unit.snapshot.same_answers():
            return None
        moves = unit.snapshot.moves()
        if not moves:
            return unit
        try:
            told = unit.told and moved_told(unit.told, moves)
            return unit._replace(findings=moved_findings(unit.findings, moves), told=told)
        except Gone:
            return None

    def _linked(self, paths: tuple[Path, ...], units: Mapping[Part, Unit]) -> Linked:
        told = [unit.told for unit in units.values() if unit.told is not None]
        findings = merged_findings([unit.findings for unit in units.values()])
        if len(told) < len(units):
            return Linked(self._store.generation, paths, units, findings, None)
        from loaderlint.explanations.explanation import together

        return Linked(self._store.generation, paths, units, findings, together(told))

    def _read(self, paths: tuple[Path, ...], stop: Callable[[], bool], steps: Steps) -> None:
        """Read all files, which determines the parts of the project."""
        read = 0
        steps.expect(2 * len(paths))
        searching = self._store.searching()
        for path in paths:
            if stop():
                raise Cancelled
            read += len(self._store.data(path))
            searching.learn(path)
            if read > _MUCH:
                self._store.let_go([path])
            steps()
        self._store.is_large = read > _MUCH

    def _links(
        self, parts: Mapping[Part, Sequence[Path]], stop: Callable[[], bool], steps: Steps, telling: bool
    ) -> Iterator[tuple[Part, Unit]]:
        """Link these parts, each with its files, and yield their units."""
        apart: dict[Part, Unit] = {}
        if self._jobs > 1 and len(parts) > 1 and not telling and not self._tells and not any(self._store.edited()):
            with suppress(OSError):  # if no process can be started, this one links everything
                apart.update(self._links_apart(parts, stop, steps))
        yield from apart.items()
        for part, files in parts.items():
            if part in apart:
                continue
            end = steps.done + len(files)
            unit = self.link(part, stop, steps, telling)
            steps.reach(end)
            if self._store.is_large:
                unit.snapshot.pack()
            yield part, unit
            self.let_go(files)
            if self._store.is_large:
                gc.collect(0)  # the garbage of this part; commands run without the collector

    def _links_apart(
        self, parts: Mapping[Part, Sequence[Path]], stop: Callable[[], bool], steps: Steps
    ) -> Iterator[tuple[Part, Unit]]:
        """Link parts in several processes, those with the most files first, so that the longest does not start last."""
        from loaderlint.engine import parallel_linking

        store, configuration = self._store, self._configuration
        joined = store.searching().joined()
        overrides, interpreter = configuration.overrides, configuration.interpreter
        known = parallel_linking.Known(
            store.root, overrides, interpreter, store.paths(), joined, store.is_large, store.kept
        )
        first = sorted(parts, key=lambda part: -len(parts[part]))
        for part, noted in parallel_linking.linked(known, first, self._jobs, stop):
            self.links += noted.links
            snapshot = Snapshot(store, stop, steps, part)
            snapshot.take(noted.notes)
            store.unreadable.update(noted.unreadable)
            store.unknown_encodings.update(noted.unknown_encodings)
            store.left_out.update(noted.left_out)
            configuration.wrong.update(dict.fromkeys(noted.wrong))
            file_accesses.also_saw(noted.seen)
            steps.reach(steps.done + len(parts[part]))
            yield part, Unit(snapshot, noted.findings, None, noted.failures, limits=noted.limits)

    def link(self, part: Part, stop: Callable[[], bool], steps: Steps, telling: bool) -> Unit:
        """Link a part, even if a result for it is known. This runs on the engine's own call stack, because linking
        recurses over the code of a whole project. `stop` and `steps` are called from there."""
        abandoned = threading.Event()

        def linked() -> Unit:
            return self._link(part, lambda: abandoned.is_set() or stop(), steps, telling)

        return on_own_stack(linked, abandoned.set)

    def _link(self, part: Part, stop: Callable[[], bool], steps: Steps, telling: bool) -> Unit:
        libraries = SeenLibraries(partial(self._sources_for, part))
        snapshot = Snapshot(self._store, stop, steps, part, libraries, self._configurations)
        failures: list[Failure] = []
        limits: list[Problem] = []
        found: Mapping[Path, list[Finding]] = {}
        told = self._nothing_told() if telling or self._tells else None
        with _collector_paused(), contained(failures.append, _only_path(snapshot)):
            found, told = self._asked(snapshot, stop, telling, failures.append, limits.append)
        snapshot.release()
        return Unit(snapshot, found, told, tuple(failures), limits=tuple(limits))

    def _asked(
        self,
        snapshot: Snapshot,
        stop: Callable[[], bool],
        telling: bool,
        failed: Callable[[Failure], None],
        limited: Callable[[Problem], None],
    ) -> tuple[dict[Path, list[Finding]], Told | None]:
        """The findings of the rules in a snapshot, by file, and the explanations if `telling`. `failed` is called with
        internal errors, `limited` with what was skipped."""
        found: dict[Path, list[Finding]] = {}
        gathering = telling or self._tells
        words = (*_WORDS, *self._declared_words(snapshot.paths()))
        if not any(snapshot.containing(word) for word in words):
            return found, self._nothing_told() if gathering else None
        from loaderlint.project.reach.model import Model

        self.links += 1
        model = Model(snapshot, self._configuration.environment, self._configuration.declared, explains=gathering)
        try:
            about = self._nothing_told() if gathering else None
            if gathering:
                from loaderlint.explanations import explanation

                # Before the rules, whose queries can exhaust the limits of an evaluation: the map must not depend on
                # them.
                with contained(failed, _only_path(snapshot), cost="answer"):
                    about = explanation.told(model)
            silences: list[Silence] = []
            rules = self._rules(snapshot.paths(), telling)
            for one in ask_rules(model, rules, stop, silences.append if gathering else unheard, failed):
                found.setdefault(one.place.path, []).append(one)
            for limit in model.limits():
                limited(Problem(limit.path, limit.message, False, is_limit=True))
            self.on_linked(model)
            return found, about.with_silences(silences) if about else None
        finally:
            model.take_apart()

    def _sources_for(self, part: Part) -> LibrarySources:
        """The libraries that the files of a part import. Parts that run in one environment share them."""
        around = os.path.commonpath(part) if part else self._store.root
        folder = Path(os.path.dirname(around) if str(around).endswith(_SOURCES) else around)
        folders, fitting = self._configuration.library_folders(folder), self._configuration.summarised(folder)
        if (folders, fitting) not in self._libraries:
            summaries = LibrarySummaries(fitting, self._configuration.note)
            self._libraries[folders, fitting] = LibrarySources(folders, summaries, self._store.kept)
        return self._libraries[folders, fitting]

    def libraries(self) -> Iterator[LibrarySources]:
        """The libraries whose source was read."""
        yield from self._libraries.values()

    def changed(self) -> bool:
        """Whether a file of a library or a configuration, which no recorded read covers, has changed."""
        return self._configurations.changed() or any(one.changed() for one in self.libraries())

    def forget(self) -> None:
        """Forget libraries and configurations, because they may have changed."""
        self._libraries.clear()
        self._configurations = _configurations_of(self._store)

    def _nothing_told(self) -> Told:
        from loaderlint.explanations.explanation import Told

        return Told()

    def _declared_words(self, paths: Iterable[Path]) -> frozenset[str]:
        """The last part of the name of every loader that the settings declare for these files."""
        folders = {path.parent: path for path in paths}
        return frozenset(
            one.name.rpartition(".")[2] for path in folders.values() for one in self._configuration.declared(path)
        )

    def _rules(self, paths: Iterable[Path], telling: bool) -> list[Rule]:
        """The rules that are enabled for at least one of these files; all that may run if `telling`."""
        from loaderlint.rules import RULES

        rules = RULES if self._askable is None else self._askable
        if telling:
            return list(rules)
        folders = {path.parent: path for path in paths}
        asked = [self._configuration.settings(path) for path in folders.values()]
        return [r for r in rules if any(one.enabled(r.name, r.code, r.enabled_by_default) for one in asked)]


def _configurations_of(store: Store) -> ConfigurationFiles:
    return ConfigurationFiles(store.root, lambda: not store.is_loose)


def _only_path(snapshot: Snapshot) -> Path | None:
    """The file or folder that a part consists of; None for a part with several, and for the whole project."""
    return Path(snapshot.part[0]) if len(snapshot.part) == 1 else None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Run without the cycle collector: nothing in a growing model is garbage, and looking for garbage again and again
    takes a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
