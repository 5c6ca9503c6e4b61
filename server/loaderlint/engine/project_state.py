"""One project: its store, the findings of its last linking, and what is computed from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.engine.check_progress import Steps
from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.finding_positions import Places, last_line
from loaderlint.engine.linking import Linked, Linking
from loaderlint.engine.repairs import Repairs
from loaderlint.engine.visibility import Showing
from loaderlint.findings.audits import Line, lines_of
from loaderlint.findings.diagnostics import Diagnostic, Problem, ProjectInfo, internal_problem
from loaderlint.findings.finding import Finding, Fix
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.runtime.phase_times import phase
from loaderlint.sources.store import Store
from loaderlint.syntax import source

if TYPE_CHECKING:
    from loaderlint.explanations.explanation import Explanation, Told
    from loaderlint.explanations.worker_map import MappedLoader
    from loaderlint.project.modules.project_files import Read
    from loaderlint.project.reach.model import Model
    from loaderlint.rules.base import Rule
    from loaderlint.sources.open_file import KeptPieces, OpenFile
    from loaderlint.syntax.span import Span


#: At most this many files of a large project are open at once while they are written to the cache.
_AT_A_TIME = 64
_TOO_MANY_FIXES = (
    "some findings are shown without a fix, and not fixed: all fixes of this file together take too much time;"
    " fix some of them, and run the command again"
)


class Project:
    """The project at `root`. See `Workspace` for the other arguments."""

    def __init__(
        self,
        root: Path,
        overrides: Mapping[str, object],
        interpreter: str | None = None,
        *,
        tells: bool = False,
        kept: KeptPieces | None = None,
        jobs: int = 1,
        reports_unread: bool = False,
        loose: bool = False,
        rules: Sequence[Rule] | None = None,
    ) -> None:
        self.root = root
        self.store = Store(root, kept, loose=loose)
        self.configuration = Configuration(root, overrides, interpreter)
        self.places = Places(self.store)
        self.repairs = Repairs(self.store)
        self.showing = Showing(self.store, self.configuration, self.places, reports_unread=reports_unread)
        self._linking = Linking(self.store, self.configuration, tells, jobs, rules)
        self._folders: frozenset[Path] = frozenset()
        """The folders of the last check."""
        self._failures: list[Failure] = []

    @property
    def links(self) -> int:
        """The number of linkings of the project so far."""
        return self._linking.links

    @property
    def known(self) -> bool:
        """Whether the project has been linked at all."""
        return self._linking.known

    def on_linked(self, call: Callable[[Model], None]) -> None:
        """Call `call` with each model after the rules ran. The model is released afterwards: keep no part of it."""
        self._linking.on_linked = call

    def info(self) -> ProjectInfo:
        """Facts about the project for a bug report. The settings are those of a file in its root."""
        path = self.root / "x.py"
        settings = self.configuration.settings(path).told()
        runs_on = self.configuration.environment(path).described()
        return ProjectInfo(self.root, len(self.store.paths()), self.links, settings, runs_on)

    def configure(self, overrides: Mapping[str, object], interpreter: str | None = None) -> None:
        """Replace the settings, and drop all findings."""
        self.configuration.overrides, self.configuration.interpreter = overrides, interpreter
        self.renew()

    def renew(self) -> None:
        """Read the files that define settings or versions again, because they changed, and drop all findings."""
        self.configuration.renew()
        self._linking.last = None
        self._linking.forget()

    def problems(self) -> list[Problem]:
        """Unreadable files, and problems in settings."""
        named = self._linking.named
        found = [Problem(path, message, path in named) for path, message in sorted(self.store.unreadable.items())]
        found += [Problem(one.path, one.message, one.path in self._folders) for one in self.store.unlisted]
        found += [Problem(one.path, one.message, False) for one in self.store.notices]
        found += [Problem(path, message, False) for path, message in sorted(self.store.left_out.items())]
        found += [Problem(path, _TOO_MANY_FIXES, False) for path in self.repairs.exhausted()]
        found += self._linking.limits()
        self.configuration.settings(self.root / "x.py")
        return [*found, *self.configuration.wrong, *self.showing.problems(), *self._internal_problems()]

    def _internal_problems(self) -> Iterator[Problem]:
        """The internal errors, one for each file and rule."""
        failures = [*self._linking.failures(), *self.store.failures(), *self._failures, *self.repairs.failures()]
        seen = {(one.path, one.rule, one.error): one for one in failures}
        return map(internal_problem, seen.values())

    def check(
        self,
        asked: Sequence[Path],
        stop: Callable[[], bool] = lambda: False,
        steps: Steps | None = None,
        *,
        typing: bool = False,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of these files and of the files below these folders. `typing`: see `Workspace.check`.

        Raises Cancelled when `stop` returns True."""
        self._failures.clear()
        found: dict[Path, tuple[Diagnostic, ...]] = {}
        with contained(self._failures.append, self.root):
            found = self._checked(asked, stop, steps or Steps(None), typing)
        return found

    def _checked(
        self, asked: Sequence[Path], stop: Callable[[], bool], steps: Steps, typing: bool
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        if self.configuration.changed() or self._linking.changed():
            self.renew()
        folders = [path for path in asked if os.path.isdir(path)]
        named = [path for path in asked if path not in folders]
        self._folders, self._linking.named = frozenset(folders), frozenset(named)
        with phase("finding files"):
            if folders:
                self.store.walk_all()
            self.store.name(named)
            self.store.find(stop)
            reported = self._reported(folders, named)
        self.showing.begin()
        with phase("linking and asking the rules"):
            by_file = self._linking.current(stop, steps, typing=typing).findings if reported else {}
        findings = {path: by_file.get(path, []) for path in reported}
        with phase("placing findings"):
            shown = self._shown(findings)
        self._linking.let_go(reported)
        return shown

    def _shown(self, findings: Mapping[Path, Sequence[Finding]]) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings that are shown, by file."""
        with contained(_told_file_by_file, None):
            self.places.find(place for found in findings.values() for one in found for place in one.places())
        shown: dict[Path, tuple[Diagnostic, ...]] = {}
        for path, found in findings.items():
            shown[path] = ()
            with contained(self._failures.append, path):
                shown[path] = self.showing.shown(path, found)
        return shown

    def opened(self) -> Iterator[tuple[bytes, OpenFile]]:
        """The files that were opened, including those of libraries, each with its bytes, for the cache."""
        yield from self.store.opened()
        for libraries in self._linking.libraries():
            yield from libraries.opened()

    def shown_again(self, findings: Mapping[Path, Sequence[Finding]]) -> dict[Path, tuple[Diagnostic, ...]]:
        """The earlier findings that are shown now, if nothing but their places may have changed."""
        self._failures.clear()
        self.showing.begin()
        return self._shown(findings)

    def rest(self) -> Iterator[None]:
        """Release, in small steps, memory whose content can be computed again: no request is expected for a while."""
        self._linking.rest()
        yield
        yield from self.store.rest()

    def answers(self, keep: Callable[[Sequence[tuple[bytes, bytes]]], object]) -> bytes | None:
        """The questions of the last linking about the files, and its findings, as bytes for the cache; None if it is
        out of date. `keep` stores the contents of files as (key, bytes)."""
        from loaderlint.cache.linking_answers import dumped

        linked = self._linking.last
        if linked is None or linked.generation != self.store.generation:
            return None
        searching = self.store.searching()
        searches = {asked: words for unit in linked.units.values() for asked, words in unit.snapshot.searches().items()}
        searches["importing", searching.layout] = searching.importing()
        searching.rest()
        return dumped(searches, self._reads(linked), linked.findings, keep)

    def _reads(self, linked: Linked) -> Iterator[tuple[Path, Read | None, bytes | None]]:
        """What the last linking read of each file, part by part, with the file's bytes. Few are in memory at a time."""
        for unit in linked.units.values():
            reads = unit.snapshot.reads()
            while some := list(islice(reads, _AT_A_TIME)):
                yield from ((path, read, self.store.linked_data(path)) for path, read in some)
                self._linking.let_go([path for path, _ in some])

    def _reported(self, folders: Sequence[Path], named: Sequence[Path]) -> list[Path]:
        """The files of a request, sorted: named ones, and those below folders that are not excluded."""
        if self.root in folders:
            below = list(self.store.paths())
        else:
            inside = tuple(os.path.join(folder, "") for folder in folders)
            below = [path for path in self.store.paths() if str(path).startswith(inside)] if inside else []
        kept = {path for path in below if not self.configuration.settings(path).excluded(path)}
        return sorted(kept.union(named))

    def refuted(self) -> Iterator[Diagnostic]:
        """The findings of the last linking that audits refute."""
        for path, findings in self._found():
            yield from self.showing.refuted(path, findings)

    def speaks_of(self, name: str, lines: Set[Line]) -> bool:
        """Whether the last linking has a finding of a rule at one of these lines, even a hidden one. Not for rules that
        the settings switch off."""
        from loaderlint.rules import rule

        about = rule(name)
        settings = self.configuration.settings(self.root / "x.py")
        if about is None or not settings.enabled(about.name, about.code, about.enabled_by_default):
            return True
        found = ((path, [one for one in findings if one.rule == name]) for path, findings in self._found())
        told = (one for path, own in found for one in self.showing.everything(path, own))
        return any(not lines.isdisjoint(lines_of(one)) for one in told)

    def _found(self) -> Iterator[tuple[Path, Sequence[Finding]]]:
        if self._linking.last is not None:
            yield from self._linking.last.findings.items()

    def files(self, asked: Sequence[Path]) -> list[Path]:
        """The files that a check of these files and folders reports on, sorted."""
        folders = [path for path in asked if os.path.isdir(path)]
        named = [path for path in asked if path not in folders]
        if folders:
            self.store.walk_all()
        self.store.name(named)
        self.store.find()
        return self._reported(folders, named)

    # --- explaining ---------------------------------------------------------------------------------------------------

    def loaders(self, asked: Sequence[Path]) -> tuple[MappedLoader, ...]:
        """The loaders in these files and in files below these folders. A presumed loader belongs to the whole project,
        so it is included only for the root."""
        folders = [path for path in asked if os.path.isdir(path)]
        if folders:
            self.store.walk_all()
        known = self._told([path for path in asked if path not in folders])
        reported = set(self._reported(folders, [path for path in asked if path not in folders]))
        loaders = tuple(
            one for one in known.map.loaders if (one.place.path in reported if one.place else self.root in folders)
        )
        self.places.find(place for one in loaders for place in one.places())
        return loaders

    def _told(self, named: Sequence[Path]) -> Told:
        """The explanations of the project. `named` files are included, excluded or not, with those that the last check
        named: a question about one open file must not link the project without the others."""
        self._name(named)
        known = self._linking.current(lambda: False, Steps(None), telling=True).told
        assert known is not None, "linked so that it tells"
        return known

    def _name(self, named: Sequence[Path]) -> None:
        self._linking.named |= frozenset(named)
        self.store.name(self._linking.named)
        self.store.find()

    def unreadable(self, path: Path) -> str:
        """Why a file cannot be read (see `Workspace.unreadable`)."""
        self._name([path])
        return "" if self.store.open(path) else self.store.unreadable.get(path, "cannot be read")

    def explain(self, path: Path, line: int, column: int | None) -> Explanation:
        """The explanation of a line (see `Workspace.explain`)."""
        from loaderlint.explanations import explanation
        from loaderlint.explanations.explanation import Hidden
        from loaderlint.rules import RULES, rule

        known = self._told([path])
        opened = self.store.open(path)
        assert opened is not None and self._linking.last is not None
        pieces = explanation.pieces_at(opened, line)

        def on_line(span: Span | None) -> bool:
            if span is None or not span.line <= line <= last_line(span):
                return False
            return column is None or (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)

        findings = self._linking.last.findings.get(path, [])
        candidates = [one for one in known.silences.get(path, ()) if one.place.piece in pieces]
        loaders = [one for one in known.map.loaders if one.place and one.place.path == path]
        self.places.find(
            (
                *(place for one in findings for place in one.places()),
                *(one.place for one in candidates),
                *(one.place for one in loaders if one.place),
            )
        )
        here = [one for one in findings if one.place.piece in pieces]
        printed = self.showing.printed(path, findings)
        reported = self.showing.split(path, printed)[0]
        left = set(map(id, reported))
        kept = [Hidden(one, "it is in the baseline") for one in printed if id(one) not in left]
        shown = tuple(one for one in reported if on_line(one.span))
        hidden = [one for one in (*kept, *self.showing.hidden(path, opened, here)) if on_line(one.diagnostic.span)]
        spoken = {one.name for one in shown} | {one.diagnostic.name for one in hidden}
        silences = [one for one in candidates if on_line(self.places.span(one.place))]
        silent = explanation.silent(
            silences, spoken.__contains__, lambda name: about.code if (about := rule(name)) else ""
        )
        made = [one for one in loaders if one.place and on_line(self.places.span(one.place))]
        text = "".join(source.lines_of(opened.text)[line : line + 1])
        return explanation.Explanation(
            path,
            line,
            column,
            explanation.subjects(opened, line, column, known),
            tuple(made),
            (
                *self.configuration.environment(path).described(),
                *explanation.as_installed(text, known.installed.get(path, {})),
            ),
            shown,
            tuple(hidden),
            tuple(silent),
            len(RULES) - len(spoken) - len(silent),
            known.map,
            tuple(
                one
                for one in self._with_evidence_in(path, pieces)
                if any(note.path == path and on_line(note.span) for note in one.evidence)
                and not (one.path == path and on_line(one.span))
            ),
        )

    def _with_evidence_in(self, path: Path, pieces: Set[int]) -> Iterator[Diagnostic]:
        """The findings that are reported in files where some have evidence in these pieces of a file."""
        for where, findings in self._found():
            if self.configuration.settings(where).excluded(where):
                continue
            places = (evidence.place for one in findings for evidence in one.evidence)
            if any(place.path == path and place.piece in pieces for place in places):
                self.places.find(place for one in findings for place in one.places())
                yield from self.showing.split(where, self.showing.printed(where, findings))[0]

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """The refactorings for a line (see `Workspace.refactorings`)."""
        found = [(place, fix) for place, fix in self._told([path]).refactorings.items() if place.path == path]
        self.places.find(place for place, _ in found)
        here = ((self.places.span(place), fix) for place, fix in found)
        return tuple(fix for span, fix in here if span is not None and span.line <= line <= last_line(span))


def _told_file_by_file(failure: Failure) -> None:
    """Ignore an error while the places of all files are looked up together: it recurs, and is reported, with its
    file."""
