"""From files to findings and from findings to edits: what the command line and the language server use.

The engine owns the order of things: it reads the project around the files that are reported, links a snapshot, asks
every rule its question about every subject, and turns places into spans. It knows no protocol and prints nothing.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint import settings as settings_module
from loaderlint.findings import Certainty, Finding, Fix, Intent, Place, Severity, Silence
from loaderlint.settings import LoaderWrapper, Settings
from loaderlint.store import Cancelled as Cancelled
from loaderlint.store import OpenFile, Snapshot, Store, project_root
from loaderlint.suppress import Suppression, covering, suppressions

if TYPE_CHECKING:
    from loaderlint.baseline import Baseline, Kept
    from loaderlint.explanation import Explanation, Hidden, Told
    from loaderlint.facts.ir import PieceFacts
    from loaderlint.fixes.edits import FileEdit, NoFix, Repair
    from loaderlint.project.environment import Environment
    from loaderlint.project.model import Model, WorkerFunction
    from loaderlint.project.versions.declared import Versions
    from loaderlint.rules.base import Rule
    from loaderlint.syntax.cutter import Piece
    from loaderlint.syntax.positions import Span
    from loaderlint.worker_map import MappedLoader, WorkerMap

#: A project that holds none of these has no loader of any kind (PyTorch's and its wrappers', datasets, Keras sequences)
#: and maps no data in a pool of processes.
_WORDS = ("oader", "Dataset", "Sequence", "num_proc", "Pool(", "PoolExecutor(", "ParallelMapper(")
_SOURCES = (".py", ".pyi", ".ipynb")
_PLATFORMS = {"linux": "linux", "darwin": "macos", "win32": "windows", "cygwin": "windows"}


class Note(NamedTuple):
    """A step of the reason, at its place."""

    path: Path
    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding as it is shown. `path` is absolute, `span` 0-based in characters; `fingerprint` does not change when
    lines move; `fixable`: the rule offers a fix here (`Workspace.repairs` tells which)."""

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    path: Path
    span: Span
    fingerprint: str
    evidence: tuple[Note, ...]
    fixable: bool
    finding: Finding


class Problem(NamedTuple):
    """Something that could not be done. `path` is None where no file is meant. `fatal`: the tool could not do its work
    (exit code 2)."""

    path: Path | None
    message: str
    fatal: bool


class Workspace:
    """The projects of some folders. `overrides`: settings by their names in pyproject.toml, which win over files, and
    `interpreter`, the Python that an editor has selected (its environment is read and never run).

    Threads: one call at a time, and every call may be made from another thread. `stop` and `progress` are called on the
    thread that called `check`; what `stop` reads may be set by any thread (a `threading.Event`). After Cancelled the
    workspace is as if `check` had not been called, but for what it has read already. Answers (diagnostics, repairs,
    edits) are immutable and may be handed to other threads."""

    def __init__(
        self, folders: Sequence[Path], overrides: Mapping[str, object] | None = None, *, tells: bool = False
    ) -> None:
        self._tells = tells
        self._folders = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        self._overrides, self._interpreter = _without_interpreter(overrides or {})
        self._projects: dict[Path, Project] = {}
        self._roots: dict[Path, Path] = {}
        self.problems: list[Problem] = []

    # --- what changes -------------------------------------------------------------------------------------------------

    def set_text(self, path: Path, text: str | None) -> None:
        """Lay an editor's text over a file; None takes it away."""
        path = path.resolve()
        self.project(path).store.set_text(path, text)

    def forget(self, paths: Iterable[Path]) -> None:
        """These files changed on disk, came or went; a settings or requirements file renews every setting."""
        renewed = False
        for path in (path.resolve() for path in paths):
            if path.suffix in _SOURCES:
                self.project(path).store.forget(path)
            renewed = renewed or path.suffix not in _SOURCES or path.name == "setup.py"
        if renewed:
            settings_module.clear()
            self._roots.clear()
            for project in self._projects.values():
                project.renew()

    def configure(self, overrides: Mapping[str, object]) -> None:
        """Replace the overrides (an editor's settings changed)."""
        self._overrides, self._interpreter = _without_interpreter(overrides)
        settings_module.clear()
        for project in self._projects.values():
            project.overrides, project.interpreter = self._overrides, self._interpreter
            project.renew()

    # --- questions ----------------------------------------------------------------------------------------------------

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of files (or of all files below folders), in the order of their places; every reported file has
        an entry. Without `paths`: the workspace's folders. `progress(done, total)`: `done` grows with each file that
        is read,
        `total` counts each file twice (read, then looked into as far as needed).

        Raises Cancelled when `stop` answers True in between."""
        wanted = [path.resolve() for path in (paths if paths is not None else self._folders)]
        found: dict[Path, tuple[Diagnostic, ...]] = {}
        by_project: dict[Path, list[Path]] = {}
        for path in wanted:
            by_project.setdefault(self._root(path), []).append(path)
        steps = _Steps(progress)
        for root, asked in by_project.items():
            found.update(self._at(root).check(asked, stop, steps))
        problems = [problem for project in self._projects.values() for problem in project.problems()]
        self.problems = list(dict.fromkeys(problems))
        return dict(sorted(found.items()))

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        """The fixes of a finding, ready to apply, the preferred one first."""
        return self.project(diagnostic.path).repairs(diagnostic.finding)

    def fix_all(
        self, paths: Sequence[Path], *, unsafe: bool = False, rules: Collection[str] | None = None
    ) -> tuple[FileEdit, ...]:
        """The edits of as many fixes of these files' findings as fit together in one round, the gravest first; callers
        apply them and ask again until nothing comes. `rules`: only these (names); else all, but hints, which nobody is
        shown unless asked."""
        edits: list[FileEdit] = []
        loudness = list(Severity)
        for root, group in _grouped(self.check(paths), self._root).items():
            group.sort(key=lambda d: (loudness.index(d.severity), d.code))
            wanted = [d for d in group if (d.name in rules if rules is not None else d.severity is not Severity.HINT)]
            edits.extend(self._at(root).merged([d.finding for d in wanted], unsafe))
        return tuple(edits)

    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation:
        """What is known of a line of a file, excluded or not: what runs there and why, what the rules say of it, and
        why the others that looked at it are silent. `line` (and `column`) count from 0 in `text`.

        The model is not kept: what every line needs of it is gathered while the project is linked, and only when it is
        asked for. So the first question after a change links the project anew, and further ones cost next to nothing.
        """
        path = path.resolve()
        return self.project(path).explain(path, line, column)

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """What can be done on a line (from 0) of a file without any fault there. Kept as for `explain`."""
        path = path.resolve()
        return self.project(path).refactorings(path, line)

    def repair(self, path: Path, fix: Fix) -> Repair | None:
        """A refactoring of the file at `path`, ready to apply; None if it cannot be carried out."""
        return self.project(path).repair(fix)

    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap:
        """The loaders in files (or in all files below folders), what their workers run, and what is copied into each.
        Without `paths`: of the workspace's folders. Kept as for `explain`."""
        from loaderlint.worker_map import WorkerMap

        wanted = [path.resolve() for path in (paths if paths is not None else self._folders)]
        by_project: dict[Path, list[Path]] = {}
        for path in wanted:
            by_project.setdefault(self._root(path), []).append(path)
        found = [loader for root, asked in by_project.items() for loader in self._at(root).loaders(asked)]
        return WorkerMap(tuple(found))

    def locate(self, place: Place) -> Span | None:
        """Where a place stands now; None if what stood there is gone."""
        return self.project(place.path).span(place)

    def environment(self, path: Path) -> tuple[str, ...]:
        """What the code of a file is taken to run on, a fact a line, each with its source: 'torch 2.4.1, from
        uv.lock'."""
        return self.project(path).environment(path.resolve()).described()

    def text(self, path: Path) -> str:
        """The present text of a file, '' if it cannot be read."""
        opened = self.project(path).store.open(path.resolve())
        return opened.text if opened else ""

    def unreadable(self, path: Path) -> str:
        """Why the text of a file that is named, ignored or not, cannot be read; '' if it can."""
        path = path.resolve()
        store = self.project(path).store
        store.find()
        store.name([path])
        return "" if store.open(path) else store.unreadable.get(path, "cannot be read")

    def cells(self, path: Path) -> tuple[int, ...]:
        """The 0-based lines of `text` at which the code cells of a notebook begin; () for any other file."""
        return self.project(path).store.cells(path.resolve())

    @property
    def links(self) -> int:
        """How often projects were linked so far: when it has not grown, only positions can have changed."""
        return sum(project.links for project in self._projects.values())

    def kept(self) -> dict[Path, Kept]:
        """What the baselines did in the last check, by their files."""
        kept: dict[Path, Kept] = {}
        for one in (one for project in self._projects.values() for one in project.kept):
            before = kept.get(one.baseline.path)
            kept[one.baseline.path] = before.with_(one) if before else one
        return kept

    def parses(self, path: Path) -> bool:
        """Whether all of a file is Python: what is found in it is all that there is."""
        opened = self.project(path).store.open(path.resolve())
        return opened is not None and opened.parses

    def settings(self, path: Path) -> Settings:
        """The settings that hold for a file."""
        return settings_module.load(path, self._overrides)[0]

    # --- projects -----------------------------------------------------------------------------------------------------

    def _root(self, path: Path) -> Path:
        """The root of a file's project: by its project file or repository, else the workspace's folder, else its
        own."""
        folder = path if path.is_dir() else path.parent
        if folder not in self._roots:
            around = [one for one in self._folders if folder.is_relative_to(one)]
            outermost = min(around, key=lambda one: len(one.parts)) if around else folder
            self._roots[folder] = project_root(folder) or (outermost if outermost.is_dir() else folder)
        return self._roots[folder]

    def _at(self, root: Path) -> Project:
        if root not in self._projects:
            self._projects[root] = Project(root, self._overrides, self._interpreter, tells=self._tells)
        return self._projects[root]

    def project(self, path: Path) -> Project:
        """The project that a file belongs to."""
        return self._at(self._root(path.resolve()))


class _Steps:
    """Counts what has been done in one check, over all projects."""

    def __init__(self, progress: Callable[[int, int], None] | None) -> None:
        self._progress = progress
        self.done = self.total = 0

    def expect(self, count: int) -> None:
        """There are `count` more steps to come."""
        self.total += count

    def __call__(self) -> None:
        """One more is done."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """So many are done by now."""
        self.done = min(done, self.total)
        if self._progress is not None and self.total:
            self._progress(self.done, self.total)


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


class _Linked(NamedTuple):
    """What was found in which generation of the store, and what it rests on."""

    generation: int
    snapshot: Snapshot
    findings: dict[Path, list[Finding]]
    told: Told | None


class Project:
    """One project: its store, and what was found when it was last linked."""

    def __init__(
        self, root: Path, overrides: Mapping[str, object], interpreter: str | None = None, *, tells: bool = False
    ) -> None:
        self.root = root
        self.tells = tells
        self.overrides = overrides
        self.interpreter = interpreter
        self._versions: Versions | None = None
        self.store = Store(root)
        self.links = 0
        """How often the project was linked (read by tests and benchmarks)."""
        self._named: set[Path] = set()
        self._linked: _Linked | None = None
        self._environments: dict[Path, Environment] = {}
        self._edits: dict[tuple[Intent, ...], tuple[FileEdit, ...] | NoFix] = {}
        self._edits_at = -1
        self._wrong: dict[Problem, None] = {}
        self._baselines: dict[Path, Baseline | Problem] = {}
        self.kept: list[Kept] = []
        """What baselines did in the last check, file by file."""
        self.on_linked: Callable[[Model], None] = lambda model: None
        """Called with each model when the rules have been asked; the model goes after it, so keep no part of it."""

    def renew(self) -> None:
        """Settings changed: nothing that was found holds."""
        self._environments.clear()
        self._versions = None
        self._wrong.clear()
        self._linked = None

    def problems(self) -> list[Problem]:
        """What could not be read, and what is wrong in settings."""
        found = [Problem(path, message, path in self._named) for path, message in sorted(self.store.unreadable.items())]
        self._settings(self.root / "x.py")
        return [*found, *self._wrong, *(one for one in self._baselines.values() if isinstance(one, Problem))]

    def check(
        self, asked: Sequence[Path], stop: Callable[[], bool] = lambda: False, steps: _Steps | None = None
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of these files and of the files below these folders.

        Raises Cancelled when `stop` answers True in between."""
        if self._versions is not None and self._versions.changed():
            self.renew()
        folders = [path for path in asked if path.is_dir()]
        named = [path for path in asked if path not in folders]
        self._named = set(named)
        self.store.find(stop)
        self.store.name(named)
        reported = self._reported(folders, named)
        self.kept, self._baselines = [], {}
        by_file = self._current(stop, steps or _Steps(None)).findings if reported else {}
        findings = {path: by_file.get(path, []) for path in reported}
        self._find_places(one for found in findings.values() for one in found)
        return {path: self._shown(path, found) for path, found in findings.items()}

    def _reported(self, folders: Sequence[Path], named: Sequence[Path]) -> list[Path]:
        """The files that are asked about, sorted: named ones, and those below folders that are not excluded."""
        if self.root in folders:
            below = list(self.store.paths())
        else:
            inside = tuple(f"{folder}{os.sep}" for folder in folders)
            below = [path for path in self.store.paths() if str(path).startswith(inside)] if inside else []
        kept = {path for path in below if not self._settings(path).excluded(path)}
        return sorted(kept.union(named))

    def _settings(self, path: Path) -> Settings:
        settings, wrong = settings_module.load(path, self.overrides)
        for one in wrong:
            self._wrong.setdefault(Problem(one.path, one.message, False))
        return settings

    def environment(self, path: Path) -> Environment:
        """What the project of the file at `path` runs on."""
        known = self._environments.get(path.parent)
        if known is None:
            if self._versions is None:
                from loaderlint.project.versions.declared import Versions

                self._versions = Versions(self.root, self.interpreter)
            known = self._environments[path.parent] = _environment(self._settings(path), path.parent, self._versions)
        return known

    def _current(self, stop: Callable[[], bool], steps: _Steps, *, telling: bool = False) -> _Linked:
        """All findings of the project, with what `explain` needs if `telling`. Linked anew only if something that the
        last linking read has changed, or if that is asked for the first time."""
        linked = self._linked
        if linked is not None and linked.generation != self.store.generation:
            if linked.snapshot.same_answers():
                linked = self._linked = linked._replace(generation=self.store.generation)
                self.store.settled()
            else:
                linked = None
        if linked is None or (telling and linked.told is None):
            self._linked = None  # the old model goes before a new one comes
            linked = self._linked = self._link(stop, steps, telling)
        return linked

    def _link(self, stop: Callable[[], bool], steps: _Steps, telling: bool) -> _Linked:
        paths = self.store.paths()
        steps.expect(2 * len(paths))
        end = steps.done + 2 * len(paths)
        for path in paths:
            if stop():
                raise Cancelled
            self.store.data(path)
            steps()
        snapshot = Snapshot(self.store, stop, steps)
        with _collector_paused():
            found, told = self._asked(snapshot, stop, telling)
        steps.reach(end)
        snapshot.release()
        self.store.settled()
        return _Linked(self.store.generation, snapshot, found, told)

    def _asked(
        self, snapshot: Snapshot, stop: Callable[[], bool], telling: bool
    ) -> tuple[dict[Path, list[Finding]], Told | None]:
        """What the rules find in a snapshot, by file; what there is to tell of it, if `telling`."""
        found: dict[Path, list[Finding]] = {}
        gathering = telling or self.tells
        if not any(snapshot.containing(word) for word in (*_WORDS, *self._declared_words())):
            return found, self._nothing_told() if gathering else None
        from loaderlint.project.model import Model

        self.links += 1
        model = Model(snapshot, self.environment, self._declared)
        silences: list[Silence] = []
        for one in ask_rules(model, self._rules(telling), stop, silences.append if gathering else _unheard):
            found.setdefault(one.place.path, []).append(one)
        self.on_linked(model)
        if not gathering:
            return found, None
        from loaderlint.explanation import told

        return found, told(model, silences)

    def _nothing_told(self) -> Told:
        from loaderlint.explanation import Told

        return Told()

    def _declared(self, path: Path) -> tuple[LoaderWrapper, ...]:
        """The loaders that the settings of a file declare."""
        return self._settings(path).loaders or ()

    def _declared_words(self) -> frozenset[str]:
        """The last names of all declared loaders."""
        folders = {path.parent: path for path in self.store.paths()}
        return frozenset(one.name.rpartition(".")[2] for path in folders.values() for one in self._declared(path))

    def _rules(self, telling: bool) -> list[Rule]:
        """The rules that are on in some folder; all of them if there is to be told of each."""
        from loaderlint.rules import RULES

        if telling:
            return list(RULES)
        folders = {path.parent: path for path in (*self.store.paths(), *self._named)}
        asked = [self._settings(path) for path in folders.values()]
        return [r for r in RULES if any(one.enabled(r.name, r.code, r.enabled_by_default) for one in asked)]

    # --- showing ------------------------------------------------------------------------------------------------------

    def _shown(self, path: Path, findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
        shown, kept = self._split(path, self._printed(path, findings))
        if kept is not None:
            self.kept.append(kept)
        return shown

    def _printed(self, path: Path, findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
        """The findings that neither settings nor comments hide, those that a baseline keeps among them."""
        settings = self._settings(path)
        seen: dict[str, int] = {}
        used: set[tuple[Suppression, str]] = set()
        text = self.store.open(path)
        shown: list[Diagnostic] = []
        for finding in findings:
            diagnostic = self._diagnostic(path, finding)
            if diagnostic is None or text is None or _switched_off(diagnostic, settings, path):
                continue
            silenced_by = _covering(text, diagnostic)
            used.update((comment, diagnostic.name) for comment in silenced_by)
            if not silenced_by:
                shown.append(diagnostic)
        if text is not None and suppressions(text.text):
            shown.extend(self._unused(path, text, settings, used))
        shown.sort(key=lambda d: (d.span, d.code, d.message))
        return tuple(_with_fingerprint(d, self.root, self._owner(d.finding.place), seen) for d in shown)

    def _split(self, path: Path, found: tuple[Diagnostic, ...]) -> tuple[tuple[Diagnostic, ...], Kept | None]:
        """The findings that the file's baseline does not keep, and what it keeps of the others."""
        settings = self._settings(path)
        if not settings.baseline:
            return found, None
        baseline = self._baseline((settings.directory or self.root) / settings.baseline)
        if isinstance(baseline, Problem):
            return found, None
        return baseline.split(path, found)

    def _baseline(self, path: Path) -> Baseline | Problem:
        """The baseline in a file, or what is wrong with it. Read once in each check: it is a small file."""
        from loaderlint.baseline import BadBaseline, read

        if path not in self._baselines:
            try:
                self._baselines[path] = read(path)
            except BadBaseline as error:
                self._baselines[path] = Problem(path, str(error), True)
        return self._baselines[path]

    def _diagnostic(self, path: Path, finding: Finding) -> Diagnostic | None:
        """A finding with its place in the file; None if what it speaks of is gone."""
        from loaderlint.rules import rule

        about, span = rule(finding.rule), self.span(finding.place)
        if about is None or span is None:
            return None
        notes = tuple(
            Note(e.place.path, at, e.message) for e in finding.evidence if (at := self.span(e.place)) is not None
        )
        return Diagnostic(
            about.code,
            about.name,
            self._settings(path).severity_of(about.name, about.code) or finding.severity,
            finding.certainty,
            finding.message,
            path,
            span,
            "",
            notes,
            bool(finding.fixes),
            finding,
        )

    def _unused(
        self, path: Path, text: OpenFile, settings: Settings, used: set[tuple[Suppression, str]]
    ) -> Iterator[Diagnostic]:
        """The suppressions of a file that silenced nothing; `used`: which silenced which rule, by its name."""
        from loaderlint.rules.unused_suppression import RULE, about
        from loaderlint.syntax.positions import Span

        if not settings.enabled(RULE.name, RULE.code) or settings.ignored_in(path, RULE.name, RULE.code):
            return
        if not text.parses:
            return  # half typed: what would be found is not known
        lines = text.text.split("\n")
        for comment in suppressions(text.text):
            unused = _unused_names(comment, settings, {name for one, name in used if one == comment})
            if unused is None or RULE.name in unused or RULE.code in unused:
                continue
            piece = max((index for index, one in enumerate(text.pieces) if one.line <= comment.line), default=0)
            line = lines[comment.line].rstrip("\r")
            finding = about(comment, unused, path, Place(path, piece, -1), line)
            span = Span(comment.line, comment.column, comment.line, comment.column + len(comment.text))
            severity = settings.severity_of(RULE.name, RULE.code) or finding.severity
            yield Diagnostic(
                RULE.code, RULE.name, severity, "proven", finding.message, path, span, "", (), True, finding
            )

    def _owner(self, place: Place) -> str:
        """The def or class that a place stands in, by its first line and those of the classes around it: part of what a
        fingerprint is made of."""
        opened = self.store.open(place.path)
        if opened is None or place.piece >= len(opened.pieces):
            return ""
        lines = [opened.shown_piece(place.piece)[0].text.split("\n", 1)[0].strip()]
        above = opened.pieces[place.piece].parent
        while above >= 0:
            if opened.pieces[above].kind == "class":
                lines.append(opened.pieces[above].text.split("\n", 1)[0].strip())
            above = opened.pieces[above].parent
        return "\0".join(reversed(lines))

    def _find_places(self, findings: Iterable[Finding]) -> None:
        """Look for all places that findings speak of, so that each piece is parsed once for all of them."""
        wanted: dict[Path, dict[int, set[int]]] = {}
        for finding in findings:
            for place in (finding.place, *(evidence.place for evidence in finding.evidence)):
                wanted.setdefault(place.path, {}).setdefault(place.piece, set()).add(place.anchor)
        for path, pieces in wanted.items():
            opened = self.store.open(path)
            for piece, anchors in pieces.items():
                if opened is not None and piece < len(opened.pieces):
                    opened.find_spans(opened.shown_piece(piece)[0], anchors)

    def span(self, place: Place) -> Span | None:
        """Where a place stands now. In a half-typed piece: where its last good line still stands; None if it does
        not."""
        opened = self.store.open(place.path)
        if opened is None or place.piece >= len(opened.pieces):
            return None
        piece, present = opened.shown_piece(place.piece)
        relative = opened.relative_span(piece, place.anchor)
        if relative is None:
            return None
        now = opened.pieces[place.piece]
        return _moved(relative, now.line) if present else _still_standing(piece, now, relative)

    # --- explaining ---------------------------------------------------------------------------------------------------

    def loaders(self, asked: Sequence[Path]) -> tuple[MappedLoader, ...]:
        """The loaders in these files and in files below these folders. One that nobody sees counts for the whole
        project: it is told of where the root is asked about."""
        folders = [path for path in asked if path.is_dir()]
        known = self._told([path for path in asked if path not in folders])
        reported = set(self._reported(folders, [path for path in asked if path not in folders]))
        loaders = known.map.loaders
        return tuple(one for one in loaders if (one.place.path in reported if one.place else self.root in folders))

    def _told(self, named: Sequence[Path]) -> Told:
        """What there is to tell of the project; `named` files count, excluded or not."""
        self._named = set(named)
        self.store.find()
        self.store.name(named)
        known = self._current(lambda: False, _Steps(None), telling=True).told
        assert known is not None, "linked so that it tells"
        return known

    def explain(self, path: Path, line: int, column: int | None) -> Explanation:
        """What is known of a line (see `Workspace.explain`)."""
        from loaderlint import explanation
        from loaderlint.explanation import Hidden
        from loaderlint.rules import RULES, rule

        known = self._told([path])
        opened = self.store.open(path)
        assert opened is not None and self._linked is not None
        pieces = explanation.pieces_at(opened, line)

        def on_line(span: Span | None) -> bool:
            if span is None or not span.line <= line <= _last_line(span):
                return False
            return column is None or (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)

        here = [one for one in self._linked.findings.get(path, []) if one.place.piece in pieces]
        printed = self._printed(path, self._linked.findings.get(path, []))
        reported = self._split(path, printed)[0]
        kept = [Hidden(one, "the baseline keeps it for later") for one in printed if one not in reported]
        shown = tuple(one for one in reported if on_line(one.span))
        hidden = [one for one in (*kept, *self._hidden(path, opened, here)) if on_line(one.diagnostic.span)]
        spoken = {one.name for one in shown} | {one.diagnostic.name for one in hidden}
        silences = [s for s in known.silences.get(path, ()) if s.place.piece in pieces and on_line(self.span(s.place))]
        silent = explanation.silent(
            silences, spoken.__contains__, lambda name: about.code if (about := rule(name)) else ""
        )
        made = [
            one for one in known.map.loaders if one.place and one.place.path == path and on_line(self.span(one.place))
        ]
        return explanation.Explanation(
            path,
            line,
            column,
            explanation.subjects(opened, line, column, known),
            tuple(made),
            self.environment(path).described(),
            shown,
            tuple(hidden),
            tuple(silent),
            len(RULES) - len(spoken) - len(silent),
            known.map,
        )

    def _hidden(self, path: Path, text: OpenFile, findings: Iterable[Finding]) -> Iterator[Hidden]:
        """The findings that are not shown, each with the reason."""
        from loaderlint.explanation import Hidden

        settings = self._settings(path)
        for finding in findings:
            diagnostic = self._diagnostic(path, finding)
            if diagnostic is None:
                continue
            comments = _covering(text, diagnostic)
            reason = _switched_off(diagnostic, settings, path)
            reason = reason or (f"silenced by the comment '{comments[0].text}'" if comments else "")
            if reason:
                yield Hidden(diagnostic, reason)

    # --- fixing -------------------------------------------------------------------------------------------------------

    def repairs(self, finding: Finding) -> tuple[Repair, ...]:
        """The fixes of a finding that can be carried out."""
        return tuple(ready for fix in finding.fixes if (ready := self.repair(fix)) is not None)

    def repair(self, fix: Fix) -> Repair | None:
        """A fix with its edits; None if it cannot be carried out."""
        from loaderlint.fixes.apply import edits_for
        from loaderlint.fixes.edits import NoFix, Repair

        if self._edits_at != self.store.generation:
            self._edits_at, self._edits = self.store.generation, {}
        edits = self._edits.get(fix.intents)
        if edits is None:  # many findings share one fix
            edits = self._edits[fix.intents] = edits_for(fix.intents, _Access(self.store))
        return None if isinstance(edits, NoFix) else Repair(fix.title, fix.safety, edits)

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """What can be done on a line (see `Workspace.refactorings`)."""
        found = self._told([path]).refactorings.items()
        here = ((self.span(place), fix) for place, fix in found if place.path == path)
        return tuple(fix for span, fix in here if span is not None and span.line <= line <= _last_line(span))

    def merged(self, findings: Sequence[Finding], unsafe: bool) -> tuple[FileEdit, ...]:
        """The edits of as many of the findings' preferred fixes as fit together."""
        from loaderlint.fixes.apply import merge

        groups = []
        for finding in findings:
            fix = next((f for f in finding.fixes if f.safety == "safe" or unsafe), None)
            if fix is not None and fix.intents not in groups:
                groups.append(fix.intents)
        return merge(groups, _Access(self.store)) if groups else ()


class _Access:
    """The files as the fixes read them (see `loaderlint.fixes.edits.FileAccess`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _file(self, path: Path) -> OpenFile | None:
        return self._store.open(path)

    def pieces(self, path: Path) -> tuple[Piece, ...]:
        """The pieces of the file."""
        opened = self._file(path)
        return opened.pieces if opened else ()

    def text(self, path: Path) -> str:
        """The whole text."""
        opened = self._file(path)
        return opened.text if opened else ""

    def oddities(self, path: Path) -> tuple[str, ...]:
        """Reasons why the file must not be edited."""
        opened = self._file(path)
        return opened.source.oddities if opened else ("cannot be read",)

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of a piece as it stands."""
        opened = self._file(path)
        return opened.own_facts(piece) if opened else None


def _unheard(silence: Silence) -> None:
    """Nobody asks why a rule is silent."""


def ask_rules(
    model: Model,
    rules: Sequence[Rule],
    stop: Callable[[], bool],
    heard: Callable[[Silence], None] = _unheard,
) -> list[Finding]:
    """Put every rule's question about every one of its subjects; one finding a rule and place, the loudest. `heard` is
    told where a rule looked and is silent.

    Raises Cancelled when `stop` answers True in between."""
    found: dict[tuple[str, Place, str], Finding] = {}
    for one in rules:
        if stop():
            raise Cancelled
        for subject in _subjects(one, model):
            for finding in one.find(subject, model):
                if isinstance(finding, Silence):
                    heard(finding)
                    continue
                key = (finding.rule, finding.place, finding.subject)
                known = found.get(key)
                if known is None or _louder(finding, known):
                    found[key] = finding
    return list(found.values())


def _louder(new: Finding, old: Finding) -> bool:
    order = list(Severity)
    return (order.index(new.severity), new.certainty == "possible") < (
        order.index(old.severity),
        old.certainty == "possible",
    )


def _switched_off(diagnostic: Diagnostic, settings: Settings, path: Path) -> str:
    """Why the settings hide a finding; '' if they do not."""
    from loaderlint.rules import rule

    about = rule(diagnostic.name)
    assert about is not None
    if not settings.enabled(about.name, about.code, about.enabled_by_default):
        if about.enabled_by_default:
            return "the rule is not among those that the settings select"
        return f"the rule is off by default; --extend-select {about.name} switches it on"
    return "per-file-ignores leaves it out here" if settings.ignored_in(path, about.name, about.code) else ""


def _covering(text: OpenFile, diagnostic: Diagnostic) -> tuple[Suppression, ...]:
    span = diagnostic.span
    return covering(text.text, diagnostic.name, diagnostic.code, span.line, _last_line(span))


def _subjects(rule: Rule, model: Model) -> Sequence[object]:
    if rule.over == "loader":
        return model.loaders
    if rule.over == "worker function":
        return model.worker_functions()
    if rule.over == "main function":
        return tuple(model.main_functions(rule.words))
    from loaderlint.rules.base import WorkerModule

    grouped: dict[Path, list[WorkerFunction]] = {}
    for function in model.worker_functions():
        grouped.setdefault(function.path, []).append(function)
    return [WorkerModule(path, tuple(functions)) for path, functions in grouped.items()]


def _without_interpreter(overrides: Mapping[str, object]) -> tuple[dict[str, object], str | None]:
    settings = dict(overrides)
    interpreter = settings.pop("interpreter", None)
    return settings, interpreter if isinstance(interpreter, str) and interpreter else None


def _environment(settings: Settings, folder: Path, versions: Versions) -> Environment:
    """What a folder's project runs on: settings first, then what its files say."""
    from loaderlint.project.environment import Environment, VersionSet, python_set, version_set

    torch = version_set(settings.target_torch, "the setting target-torch") if settings.target_torch else None
    python = python_set(settings.target_python, "the setting target-python") if settings.target_python else None
    platforms = tuple(settings.platforms or (_PLATFORMS.get(sys.platform, "linux"),))
    declared = versions.at(folder, platforms, python)
    return Environment(
        torch or declared.get("torch", VersionSet()),
        python or declared.get("python", VersionSet()),
        platforms,
        settings.start_method,
        declared,
        "the setting platforms" if settings.platforms else "this machine",
    )


def _unused_names(comment: Suppression, settings: Settings, used: set[str]) -> frozenset[str] | None:
    """The names in a suppression that silenced nothing (empty for a comment that names none and silenced nothing);
    None if it was of use, or if that cannot be told because a rule it may mean does not run."""
    from loaderlint.rules import RULES

    meant = [rule for rule in RULES if comment.covers(rule.name, rule.code)]
    if comment.names is None:  # what is off by default is not what such a comment is written for
        meant = [rule for rule in meant if rule.enabled_by_default]
    if not all(settings.enabled(rule.name, rule.code, rule.enabled_by_default) for rule in meant):
        return None
    if comment.names is None:
        return None if used else frozenset()
    own = {name for name in comment.names if "[" in comment.text or name.startswith("LDR")}
    unused = {
        name
        for name in own
        if not any(rule.name in used and (name == rule.name or rule.code.startswith(name)) for rule in meant)
    }
    return frozenset(unused) or None


def _last_line(span: Span) -> int:
    """The last line that a span covers, 0-based."""
    return span.end_line if span.end_column or span.end_line == span.line else span.end_line - 1


def _moved(span: Span, lines: int) -> Span:
    return span._replace(line=span.line + lines, end_line=span.end_line + lines)


def _still_standing(old: Piece, now: Piece, span: Span) -> Span | None:
    """Where the source line of `span` stands in the half-typed piece; None if it does not, or stands there twice."""
    was = old.text.split("\n")
    line = was[span.line] if span.line < len(was) else ""
    places = [number for number, text in enumerate(now.text.split("\n")) if text == line]
    if len(places) != 1:
        return None
    height = span.end_line - span.line
    return span._replace(line=now.line + places[0], end_line=now.line + places[0] + height)


def _with_fingerprint(diagnostic: Diagnostic, root: Path, owner: str, seen: dict[str, int]) -> Diagnostic:
    """The diagnostic with its fingerprint: rule, file, def and subject, numbered where they repeat."""
    from dataclasses import replace

    try:
        relative = diagnostic.path.relative_to(root).as_posix()
    except ValueError:
        relative = diagnostic.path.name
    base = "\0".join((diagnostic.code, relative, owner, diagnostic.finding.subject))
    seen[base] = seen.get(base, 0) + 1
    digest = hashlib.blake2b(f"{base}\0{seen[base]}".encode(), digest_size=8).hexdigest()
    return replace(diagnostic, fingerprint=digest)


def _grouped(
    found: Mapping[Path, Sequence[Diagnostic]], root_of: Callable[[Path], Path]
) -> dict[Path, list[Diagnostic]]:
    groups: dict[Path, list[Diagnostic]] = {}
    for path, diagnostics in found.items():
        groups.setdefault(root_of(path), []).extend(diagnostics)
    return groups
