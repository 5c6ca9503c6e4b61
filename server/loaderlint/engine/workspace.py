"""The projects of some folders. The command line and the language server use this module."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from loaderlint.cache import audit_results
from loaderlint.engine.check_progress import Steps
from loaderlint.engine.project_state import Project
from loaderlint.files.project_roots import project_root, root_of
from loaderlint.files.symlinks import known_as, written_for
from loaderlint.findings.diagnostics import Diagnostic, Problem, ProjectInfo
from loaderlint.findings.finding import Finding, Fix, Place, Severity
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.settings import settings as settings_module
from loaderlint.settings.settings import Settings

if TYPE_CHECKING:
    from loaderlint.cache.facts_cache import PieceCache
    from loaderlint.explanations.explanation import Explanation
    from loaderlint.explanations.worker_map import WorkerMap
    from loaderlint.findings.baseline import Kept
    from loaderlint.fixes.file_edits import FileEdit, Repair
    from loaderlint.rules.base import Rule
    from loaderlint.sources.open_file import OpenFile
    from loaderlint.syntax.span import Span

_About = ParamSpec("_About")
_Answer = TypeVar("_Answer")

_SOURCES = (".py", ".pyi", ".ipynb")
#: The facts of at most this many files are written to the cache at once.
_AT_A_TIME = 4
#: The folders of most projects have fewer entries.
_FEW_ENTRIES = 10_000


class Workspace:
    """The projects of some folders. `overrides`: settings by their names in pyproject.toml, which override files, and
    `interpreter`, the Python that an editor has selected (its environment is read and never run). `tells`: every
    linking also collects the data for `explain`, `worker_map` and `refactorings` (a few per cent of its work), so that
    these need no linking of their own. `cache`: stores the facts of pieces between runs (see `keep`). `jobs`: the
    number of processes in which a check may link the parts of a project, if `tells` is False and no text is an
    editor's. `reports_unread`: whether parts of files that cannot be parsed are findings (editors show syntax errors
    themselves). `rules`: those that run, all of them if None; the worker map needs none.

    `around`: further folders that are roots for the files in them if no project file names another root. There, only
    the files that the requested ones lead to are read (see `sources.import_neighbours`), not the whole folder.

    Threads: one call at a time, from any thread. `stop` and `progress` are called on the thread that called `check`, or
    on another one while that one waits (see `loaderlint.runtime.call_stack`); `stop` may read what any thread sets (a
    `threading.Event`). After Cancelled the workspace is as if `check` had not been called, except for files that it has
    already read. Results (diagnostics, repairs, edits) are immutable and may be passed to other threads."""

    def __init__(
        self,
        folders: Sequence[Path],
        overrides: Mapping[str, object] | None = None,
        *,
        tells: bool = False,
        cache: PieceCache | None = None,
        jobs: int = 1,
        reports_unread: bool = False,
        around: Sequence[Path] = (),
        rules: Sequence[Rule] | None = None,
    ) -> None:
        self._tells = tells
        self._reports_unread = reports_unread
        self._jobs = jobs
        self._rules = rules
        self._cache = cache
        self._folders = tuple(dict.fromkeys(map(known_as, folders)))
        self.around = tuple(dict.fromkeys(map(known_as, around)))
        self._overrides, self._interpreter = _without_interpreter(overrides or {})
        self._projects: dict[Path, Project] = {}
        self._answered: list[tuple[Project, list[Path]]] = []
        self._roots: dict[Path, Path] = {}
        self._kept_once: set[Path] = set()
        self._may_change: Callable[[Path], bool] = lambda path: True

    # --- what changes -------------------------------------------------------------------------------------------------

    def set_text(self, path: Path, text: str | None) -> None:
        """Use an editor's text instead of a file's content; None goes back to the file."""
        path = known_as(path)
        self.project(path).store.set_text(path, text)

    def forget(self, paths: Iterable[Path]) -> None:
        """Forget files that were changed, created or deleted on disk. A settings or requirements file renews all
        settings."""
        renewed = False
        for path in map(known_as, paths):
            if audit_results.is_file(path):
                continue  # the next check reads it
            if path.suffix in _SOURCES:
                self._forget(path)
            renewed = renewed or path.suffix not in _SOURCES or path.name == "setup.py"
        if renewed:
            settings_module.clear()
            self._roots.clear()
            for project in self._projects.values():
                project.renew()

    def _forget(self, path: Path) -> None:
        """Forget a file, and every link to it in any project."""
        self.project(path)
        for project in self._projects.values():
            holds = path.is_relative_to(project.root) or project.store.may_hold(path)
            path_itself = (path,) if holds else ()
            for name in (*path_itself, *project.store.names(path)[1:]):
                project.store.forget(name)

    def configure(self, overrides: Mapping[str, object]) -> None:
        """Replace the overrides (an editor's settings changed)."""
        self._overrides, self._interpreter = _without_interpreter(overrides)
        settings_module.clear()
        for project in self._projects.values():
            project.configure(self._overrides, self._interpreter)

    # --- questions ----------------------------------------------------------------------------------------------------

    @property
    def problems(self) -> list[Problem]:
        """The problems of the last check and of the requests since."""
        found = [problem for project in self._projects.values() for problem in project.problems()]
        return list(dict.fromkeys(found))

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        typing: bool = False,
        progress: Callable[[int, int], None] | None = None,
        early: Callable[[Mapping[Path, tuple[Diagnostic, ...]]], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of files (or of all files below folders), in the order of their places; every reported file has
        an entry. Without `paths`: the workspace's folders. `progress(done, total)`: `done` grows with each file that is
        read, `total` counts each file twice (read, then linked). `early` is called with the findings of the named files
        of each project while another project must still be linked for the first time.

        `typing`: the user may be typing, so a project that was linked before is not linked again now. Raises Postponed
        if it would have to be; the caller retries after a pause.

        Raises Cancelled when `stop` returns True."""
        found: dict[Path, tuple[Diagnostic, ...]] = {}
        steps = Steps(progress)
        self._answered = self._by_project(paths)
        waiting = [project for project, _ in self._answered]
        for project, asked in self._smallest_first(stop):
            self._share_texts(project, stop)
            shown = project.check(asked, stop, steps, typing=typing)
            found.update(shown)
            waiting.remove(project)
            if early is not None and not all(other.known for other in waiting):
                early({path: shown[path] for path in asked if path in shown})
        return dict(sorted(found.items()))

    def _smallest_first(self, stop: Callable[[], bool]) -> Iterator[tuple[Project, list[Path]]]:
        """The projects of this check, each with its requested paths. Those with few folder entries come first, so that
        a large folder delays no other project."""
        waiting, entries = self._answered, _FEW_ENTRIES
        while len(waiting) > 1:
            large = []
            for project, asked in waiting:
                is_small = True
                with contained(_comes_again, project.root):
                    is_small = project.store.find_some(entries, stop)
                if is_small:
                    yield project, asked
                else:
                    large.append((project, asked))
            waiting, entries = large, entries * 10
        yield from waiting

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        """The fixes of a finding, ready to apply, the preferred one first."""
        return tuple(self._finder(diagnostic).repairs.of(diagnostic.finding))

    def preferred_repair(self, diagnostic: Diagnostic) -> Repair | None:
        """The first fix of a finding, without computing the others; None if there is none."""
        return self._finder(diagnostic).repairs.preferred(diagnostic.finding)

    def _finder(self, diagnostic: Diagnostic) -> Project:
        """The project of a finding. Its path is the file's own name, so links are not resolved for thousands of
        findings."""
        return self._at(self._root_of(diagnostic.path.parent))

    def fix_all(
        self, paths: Sequence[Path], *, unsafe: bool = False, hints: bool = False, rules: Collection[str] | None = None
    ) -> tuple[FileEdit, ...]:
        """The edits of as many fixes of these files' findings as are compatible in one round, the most severe first.
        Callers apply them and repeat until there are none. `rules`: only these (names); else all, hints only with
        `hints`, because they are not shown by default."""
        return self.merged(self.to_fix(paths, hints=hints, rules=rules), unsafe=unsafe)

    def to_fix(
        self, paths: Sequence[Path], *, hints: bool = False, rules: Collection[str] | None = None
    ) -> list[tuple[Project, list[Finding]]]:
        """The findings that `fix_all` with the same arguments would fix, project by project, the most severe first."""
        loudness = list(Severity)
        found = []
        for root, group in _grouped(self.check(paths), self._root).items():
            group.sort(key=lambda d: (loudness.index(d.severity), d.code))
            if rules is not None:
                wanted = [d for d in group if d.name in rules]
            else:
                wanted = [d for d in group if hints or d.severity is not Severity.HINT]
            found.append((self._at(root), [d.finding for d in wanted]))
        return found

    def merged(self, to_fix: Sequence[tuple[Project, list[Finding]]], *, unsafe: bool) -> tuple[FileEdit, ...]:
        """The edits of as many fixes of these findings as are compatible, as `fix_all` returns them."""
        edits: list[FileEdit] = []
        for project, findings in to_fix:
            taken = {self.file(edit.path) for edit in edits}  # a file in two projects gets edits of one of them
            edits.extend(project.repairs.merged(findings, unsafe, taken))
        return tuple(edits)

    def confine(self, may_change: Callable[[Path], bool]) -> None:
        """From now on, refuse fixes that change a file for which this returns False. It is called with files, never
        with links to them."""
        self._may_change = may_change
        for project in self._projects.values():
            project.repairs.may_change = may_change

    def lock(self, reasons: Mapping[Path, str]) -> None:
        """From now on, refuse fixes that change one of these files, under any name, for the given reason."""
        for path, reason in reasons.items():
            self.project(path).repairs.lock(known_as(path), reason)

    def refused(self, to_fix: Sequence[tuple[Project, list[Finding]]], *, unsafe: bool) -> dict[Path, str]:
        """The files that `merged` with the same arguments would change but must not, each with the reason: those that
        are locked, and links out of the project."""
        found: dict[Path, str] = {}
        for project, findings in to_fix:
            found |= project.repairs.refused(findings, unsafe)
        return dict(sorted(found.items()))

    def names(self, path: Path) -> tuple[Path, ...]:
        """All names under which projects read the file at `path`: the path itself, and symbolic links to it."""
        path = known_as(path)
        stores = [project.store for project in (self.project(path), *self._projects.values())]
        return tuple(dict.fromkeys(name for store in stores for name in store.names(path)))

    def file(self, path: Path) -> Path | None:
        """The file that edits of `path` are written to; None if fixes may not change it."""
        path = known_as(path)
        return written_for(path, self._root(path))

    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation:
        """What is known about a line of a file, excluded or not: what runs there and why, the findings, and why other
        rules are silent. `line` and `column` (in characters) are 0-based positions in `text`.

        The model is not kept: linking collects the data for every line. Unless the workspace always `tells`, the first
        call after a change links the project again; further calls are cheap.
        """
        path = known_as(path)
        return self.project(path).explain(path, line, column)

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """The refactorings for a line (0-based) of a file that need no finding there. Cached as for `explain`."""
        path = known_as(path)
        return self.project(path).refactorings(path, line)

    def repair(self, path: Path, fix: Fix) -> Repair | None:
        """A refactoring of the file at `path`, ready to apply; None if it cannot be carried out."""
        return self.project(path).repairs.repair(fix)

    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap:
        """The loaders in files (or in all files below folders), what their workers run, and what is copied into each.
        Without `paths`: of the workspace's folders. Cached as for `explain`."""
        from loaderlint.explanations.worker_map import WorkerMap

        return WorkerMap(
            tuple(loader for project, asked in self._by_project(paths) for loader in project.loaders(asked))
        )

    def files(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """The files that a check of these files and folders reports on, sorted. Nothing is linked."""
        found = (path for project, asked in self._by_project(list(paths)) for path in project.files(asked))
        return tuple(sorted(dict.fromkeys(found)))

    def locate(self, place: Place) -> Span | None:
        """The current span of a place; None if its code is gone."""
        return self.project(place.path).places.span(place)

    def environment(self, path: Path) -> tuple[str, ...]:
        """The assumed environment of a file, one fact a line, each with its source: 'torch 2.4.1, from uv.lock'."""
        return self.project(path).configuration.environment(known_as(path)).described()

    def text(self, path: Path) -> str:
        """The current text of a file, '' if it cannot be read."""
        opened = self.project(path).store.open(known_as(path))
        return opened.text if opened else ""

    def unreadable(self, path: Path) -> str:
        """Why the text of a file that is named, ignored or not, cannot be read; '' if it can."""
        path = known_as(path)
        return self.project(path).unreadable(path)

    def cells(self, path: Path) -> tuple[int, ...]:
        """The 0-based lines of `text` at which the code cells of a notebook begin; () for any other file."""
        return self.project(path).store.cells(known_as(path))

    @property
    def links(self) -> int:
        """The number of linkings so far. If it has not grown, only positions can have changed."""
        return sum(project.links for project in self._projects.values())

    def kept(self) -> dict[Path, Kept]:
        """The findings that baselines hid in the last check, by baseline file."""
        kept: dict[Path, Kept] = {}
        for one in (one for project in self._projects.values() for one in project.showing.kept):
            before = kept.get(one.baseline.path)
            kept[one.baseline.path] = before.with_(one) if before else one
        return kept

    def refuted(self) -> int:
        """The number of findings that the last check left out because audits refute them."""
        return sum(sum(project.showing.refuted_in.values()) for project in self._projects.values())

    def parses(self, path: Path) -> bool:
        """Whether all of a file can be parsed, so that its findings are complete."""
        opened = self.project(path).store.open(known_as(path))
        return opened is not None and opened.parses

    def settings(self, path: Path) -> Settings:
        """The settings that apply to a file."""
        return settings_module.load(path, self._overrides)[0]

    def projects(self) -> tuple[ProjectInfo, ...]:
        """The projects that were used so far."""
        return tuple(self._projects[root].info() for root in sorted(self._projects))

    def answer(
        self, question: Callable[Concatenate[Workspace, _About], _Answer], *about: _About.args, **named: _About.kwargs
    ) -> _Answer:
        """Return `question(workspace, ...)`. For a workspace in another process, the function is called there."""
        return question(self, *about, **named)

    def keep(self) -> None:
        """Write the facts of the files on disk that are known so far to the cache."""
        if self._cache is not None:
            self._cache.put(one for project in self._projects.values() for one in project.opened())

    def rest(self) -> Iterator[None]:
        """Write the results of new linkings to the cache, and release memory whose content can be computed again: no
        request is expected now. It works in small steps, and the caller may stop after each."""
        for project in [one for one in self._projects.values() if one.known]:
            if self._cache is not None and project.root not in self._kept_once:
                self._kept_once.add(project.root)
                yield from self._keeping(self._cache, list(project.opened()))
            yield from project.rest()

    def _keeping(self, cache: PieceCache, files: Sequence[tuple[bytes, OpenFile]]) -> Iterator[None]:
        for first in range(0, len(files), _AT_A_TIME):
            cache.put(files[first : first + _AT_A_TIME])
            yield

    def answered(self) -> list[tuple[Project, list[Path]]]:
        """The projects of the last check, each with its requested paths."""
        return self._answered

    # --- projects -----------------------------------------------------------------------------------------------------

    def _root(self, path: Path) -> Path:
        """The root of a file's project: by its project file or repository, else the workspace's folder, else its
        own."""
        return self._root_of(path if os.path.isdir(path) else path.parent)

    def _root_of(self, folder: Path) -> Path:
        if folder not in self._roots:
            self._roots[folder] = root_of(folder, (*self._folders, *self.around))
        return self._roots[folder]

    def _share_texts(self, project: Project, stop: Callable[[], bool]) -> None:
        """Use the editor's texts of nested projects in this one too: it reads those files as well, and its fixes must
        apply to the same texts."""
        others = [other for other in self._projects.values() if other is not project]
        for other in others:
            edited = [path for path in other.store.edited() if path.is_relative_to(project.root)]
            known = project.store.find(stop) if edited else ()
            for path in edited:
                text = other.store.overlay(path)
                if self._root(path) == other.root and path in known and text != project.store.overlay(path):
                    project.store.set_text(path, text)
        for path in tuple(project.store.edited()) if others else ():
            own = self._at(self._root(path))
            if own is not project and own.store.overlay(path) is None:
                project.store.set_text(path, None)

    def _by_project(self, paths: Sequence[Path] | None) -> list[tuple[Project, list[Path]]]:
        """The projects of paths (by default of the workspace's folders), each with its own absolute paths."""
        asked: dict[Path, list[Path]] = {}
        for path in self._folders if paths is None else map(known_as, paths):
            asked.setdefault(self._root(path), []).append(path)
        return [(self._at(root), own) for root, own in asked.items()]

    def _at(self, root: Path) -> Project:
        if root not in self._projects:
            self._projects[root] = Project(
                root,
                self._overrides,
                self._interpreter,
                tells=self._tells,
                kept=self._cache,
                jobs=self._jobs,
                reports_unread=self._reports_unread,
                rules=self._rules,
                loose=root not in self._folders and project_root(root) is None,
            )
            self._projects[root].repairs.may_change = self._may_change
        return self._projects[root]

    def project(self, path: Path) -> Project:
        """The project that a file belongs to."""
        return self._at(self._root(known_as(path)))


def _comes_again(failure: Failure) -> None:
    """Ignore an error while the projects are sorted: it recurs, and is reported, when the project is checked."""


def _without_interpreter(overrides: Mapping[str, object]) -> tuple[dict[str, object], str | None]:
    settings = dict(overrides)
    interpreter = settings.pop("interpreter", None)
    return settings, interpreter if isinstance(interpreter, str) and interpreter else None


def _grouped(
    found: Mapping[Path, Sequence[Diagnostic]], root_of: Callable[[Path], Path]
) -> dict[Path, list[Diagnostic]]:
    groups: dict[Path, list[Diagnostic]] = {}
    for path, diagnostics in found.items():
        groups.setdefault(root_of(path), []).extend(diagnostics)
    return groups
