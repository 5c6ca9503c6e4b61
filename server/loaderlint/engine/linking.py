"""From the files of a project to what the rules find, again only when something that was read has changed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.engine.asking import ask_rules, unheard
from loaderlint.engine.configuration import Configuration
from loaderlint.engine.steps import Steps
from loaderlint.findings import Finding, Silence
from loaderlint.store import Cancelled, Snapshot, Store

if TYPE_CHECKING:
    from loaderlint.explanation import Told
    from loaderlint.project.model import Model
    from loaderlint.rules.base import Rule

#: A project that holds none of these has no loader of any kind (PyTorch's and its wrappers', datasets, Keras sequences)
#: and maps no data in a pool of processes.
_WORDS = ("oader", "Dataset", "Sequence", "num_proc", "Pool(", "PoolExecutor(", "ParallelMapper(")


class Linked(NamedTuple):
    """What was found in which generation of the store, and what it rests on."""

    generation: int
    snapshot: Snapshot
    findings: dict[Path, list[Finding]]
    told: Told | None


class Linking:
    """Links one project, and keeps what came of it last. `tells`: every linking gathers what `explain` needs."""

    def __init__(self, store: Store, configuration: Configuration, tells: bool) -> None:
        self._store = store
        self._configuration = configuration
        self._tells = tells
        self.last: Linked | None = None
        self.named: frozenset[Path] = frozenset()
        """The files that the user names: the rules of their settings are asked, too."""
        self.links = 0
        """How often the project was linked (read by tests and benchmarks)."""
        self.known = False
        """Whether the project has been linked at all."""
        self.on_linked: Callable[[Model], None] = lambda model: None
        """Called with each model when the rules have been asked; the model goes after it, so keep no part of it."""

    def current(self, stop: Callable[[], bool], steps: Steps, *, telling: bool = False) -> Linked:
        """All findings of the project, with what `explain` needs if `telling`. Linked anew only if something that the
        last linking read has changed, or if that is asked for the first time."""
        linked = self.last
        if linked is not None and linked.generation != self._store.generation:
            if linked.snapshot.same_answers():
                linked = self.last = linked._replace(generation=self._store.generation)
                self._store.settled()
            else:
                linked = None
        if linked is None or (telling and linked.told is None):
            self.last = None  # the old model goes before a new one comes
            linked = self.last = self._link(stop, steps, telling)
        return linked

    def rest(self) -> None:
        """Nobody asks for a while."""
        if self.last is not None:
            self.last.snapshot.pack()

    def _link(self, stop: Callable[[], bool], steps: Steps, telling: bool) -> Linked:
        paths = self._store.paths()
        steps.expect(2 * len(paths))
        end = steps.done + 2 * len(paths)
        for path in paths:
            if stop():
                raise Cancelled
            self._store.data(path)
            steps()
        snapshot = Snapshot(self._store, stop, steps)
        with _collector_paused():
            found, told = self._asked(snapshot, stop, telling)
        steps.reach(end)
        snapshot.release()
        self._store.settled()
        self.known = True
        return Linked(self._store.generation, snapshot, found, told)

    def _asked(
        self, snapshot: Snapshot, stop: Callable[[], bool], telling: bool
    ) -> tuple[dict[Path, list[Finding]], Told | None]:
        """What the rules find in a snapshot, by file; what there is to tell of it, if `telling`."""
        found: dict[Path, list[Finding]] = {}
        gathering = telling or self._tells
        if not any(snapshot.containing(word) for word in (*_WORDS, *self._declared_words())):
            return found, self._nothing_told() if gathering else None
        from loaderlint.project.model import Model

        self.links += 1
        model = Model(snapshot, self._configuration.environment, self._configuration.declared, explains=gathering)
        try:
            silences: list[Silence] = []
            for one in ask_rules(model, self._rules(telling), stop, silences.append if gathering else unheard):
                found.setdefault(one.place.path, []).append(one)
            self.on_linked(model)
            if not gathering:
                return found, None
            from loaderlint.explanation import told

            return found, told(model, silences)
        finally:
            model.take_apart()

    def _nothing_told(self) -> Told:
        from loaderlint.explanation import Told

        return Told()

    def _declared_words(self) -> frozenset[str]:
        """The last names of all declared loaders."""
        folders = {path.parent: path for path in self._store.paths()}
        return frozenset(
            one.name.rpartition(".")[2] for path in folders.values() for one in self._configuration.declared(path)
        )

    def _rules(self, telling: bool) -> list[Rule]:
        """The rules that are on in some folder; all of them if there is to be told of each."""
        from loaderlint.rules import RULES

        if telling:
            return list(RULES)
        folders = {path.parent: path for path in (*self._store.paths(), *self.named)}
        asked = [self._configuration.settings(path) for path in folders.values()]
        return [r for r in RULES if any(one.enabled(r.name, r.code, r.enabled_by_default) for one in asked)]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the cycle collector: while a model grows nothing in it is garbage, and looking for it again and again
    takes a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
