"""The projects of some folders: what the command line and the language server call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint import settings as settings_module
from loaderlint.engine.diagnostics import Diagnostic, Problem, ProjectInfo
from loaderlint.engine.project import Project
from loaderlint.engine.steps import Steps
from loaderlint.findings import Fix, Place, Severity
from loaderlint.roots import root_of
from loaderlint.settings import Settings

if TYPE_CHECKING:
    from loaderlint.baseline import Kept
    from loaderlint.cache.pieces import PieceCache
    from loaderlint.explanation import Explanation
    from loaderlint.fixes.edits import FileEdit, Repair
    from loaderlint.store import OpenFile
    from loaderlint.syntax.span import Span
    from loaderlint.worker_map import WorkerMap

_SOURCES = (".py", ".pyi", ".ipynb")
#: The facts of so many files are kept in one go.
_AT_A_TIME = 4


class Workspace:
    """The projects of some folders. `overrides`: settings by their names in pyproject.toml, which win over files, and
    `interpreter`, the Python that an editor has selected (its environment is read and never run). `tells`: every
    linking also gathers what `explain`, `worker_map` and `refactorings` need (a few per cent of its work), so that they
    need none of their own. `cache`: where the facts of pieces are kept between runs (see `keep`). `jobs`: in how many
    processes a check may link parts of a project that holds several, where nothing is told and no text is an editor's.

    Threads: one call at a time, and every call may be made from another thread. `stop` and `progress` are called on the
    thread that called `check`; what `stop` reads may be set by any thread (a `threading.Event`). After Cancelled the
    workspace is as if `check` had not been called, but for what it has read already. Answers (diagnostics, repairs,
    edits) are immutable and may be handed to other threads."""

    def __init__(
        self,
        folders: Sequence[Path],
        overrides: Mapping[str, object] | None = None,
        *,
        tells: bool = False,
        cache: PieceCache | None = None,
        jobs: int = 1,
    ) -> None:
        self._tells = tells
        self._jobs = jobs
        self._cache = cache
        self._folders = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        self._overrides, self._interpreter = _without_interpreter(overrides or {})
        self._projects: dict[Path, Project] = {}
        self._answered: list[tuple[Project, list[Path]]] = []
        self._roots: dict[Path, Path] = {}
        self.problems: list[Problem] = []
        self._kept_once: set[Path] = set()

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
            project.configure(self._overrides, self._interpreter)

    # --- questions ----------------------------------------------------------------------------------------------------

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] | None = None,
        early: Callable[[Mapping[Path, tuple[Diagnostic, ...]]], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of files (or of all files below folders), in the order of their places; every reported file has
        an entry. Without `paths`: the workspace's folders. `progress(done, total)`: `done` grows with each file that
        is read, `total` counts each file twice (read, then looked into as far as needed). `early` is called before a
        project is linked for the first time, with what is certain of the named files without that.

        Raises Cancelled when `stop` answers True in between."""
        found: dict[Path, tuple[Diagnostic, ...]] = {}
        steps = Steps(progress)
        self._answered = self._by_project(paths)
        new = [path for project, own in self._answered if not project.known for path in own if path.is_file()]
        if early is not None and new:
            early(self.alone(new, {}))
        for project, asked in self._answered:
            found.update(project.check(asked, stop, steps))
        problems = [problem for project in self._projects.values() for problem in project.problems()]
        self.problems = list(dict.fromkeys(problems))
        return dict(sorted(found.items()))

    def alone(self, paths: Iterable[Path], texts: Mapping[Path, str]) -> dict[Path, tuple[Diagnostic, ...]]:
        """What is certain of each file whatever the others of its project say; nothing else is read. `texts` are newer
        than those that the workspace was told."""
        found = {}
        for path in paths:
            project = self.project(path)
            text = texts.get(path)
            found[path] = project.alone(path, project.store.overlay(path) if text is None else text)
        return found

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        """The fixes of a finding, ready to apply, the preferred one first."""
        return tuple(self.project(diagnostic.path).repairs.of(diagnostic.finding))

    def preferred_repair(self, diagnostic: Diagnostic) -> Repair | None:
        """The first of them, without the cost of the others; None if there is none."""
        return self.project(diagnostic.path).repairs.preferred(diagnostic.finding)

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
            edits.extend(self._at(root).repairs.merged([d.finding for d in wanted], unsafe))
        return tuple(edits)

    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation:
        """What is known of a line of a file, excluded or not: what runs there and why, what the rules say of it, and
        why the others that looked at it are silent. `line` (and `column`) count from 0 in `text`.

        The model is not kept: what every line needs of it is gathered while the project is linked. Unless the workspace
        always `tells`, the first question after a change links the project anew; further ones cost next to nothing.
        """
        path = path.resolve()
        return self.project(path).explain(path, line, column)

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """What can be done on a line (from 0) of a file without any fault there. Kept as for `explain`."""
        path = path.resolve()
        return self.project(path).refactorings(path, line)

    def repair(self, path: Path, fix: Fix) -> Repair | None:
        """A refactoring of the file at `path`, ready to apply; None if it cannot be carried out."""
        return self.project(path).repairs.repair(fix)

    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap:
        """The loaders in files (or in all files below folders), what their workers run, and what is copied into each.
        Without `paths`: of the workspace's folders. Kept as for `explain`."""
        from loaderlint.worker_map import WorkerMap

        return WorkerMap(
            tuple(loader for project, asked in self._by_project(paths) for loader in project.loaders(asked))
        )

    def locate(self, place: Place) -> Span | None:
        """Where a place stands now; None if what stood there is gone."""
        return self.project(place.path).places.span(place)

    def environment(self, path: Path) -> tuple[str, ...]:
        """What the code of a file is taken to run on, a fact a line, each with its source: 'torch 2.4.1, from
        uv.lock'."""
        return self.project(path).configuration.environment(path.resolve()).described()

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
        for one in (one for project in self._projects.values() for one in project.showing.kept):
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

    def projects(self) -> tuple[ProjectInfo, ...]:
        """The projects that were looked at so far."""
        return tuple(self._projects[root].info() for root in sorted(self._projects))

    def keep(self) -> None:
        """Keep in the cache what is known of the files on disk by now."""
        if self._cache is not None:
            self._cache.put(one for project in self._projects.values() for one in project.store.opened())

    def rest(self) -> Iterator[None]:
        """Nobody asks anything now: keep in the cache what is known of projects that have been linked since they were
        made, and keep in less memory what can be had again. In small steps; whoever calls may stop after each."""
        for project in [one for one in self._projects.values() if one.known]:
            if self._cache is not None and project.root not in self._kept_once:
                self._kept_once.add(project.root)
                yield from self._keeping(self._cache, list(project.store.opened()))
            yield from project.rest()

    def _keeping(self, cache: PieceCache, files: Sequence[tuple[bytes, OpenFile]]) -> Iterator[None]:
        for first in range(0, len(files), _AT_A_TIME):
            cache.put(files[first : first + _AT_A_TIME])
            yield

    def answered(self) -> list[tuple[Project, list[Path]]]:
        """The projects that the last check was about, each with the paths that were asked for."""
        return self._answered

    # --- projects -----------------------------------------------------------------------------------------------------

    def _root(self, path: Path) -> Path:
        """The root of a file's project: by its project file or repository, else the workspace's folder, else its
        own."""
        folder = path if path.is_dir() else path.parent
        if folder not in self._roots:
            self._roots[folder] = root_of(folder, self._folders)
        return self._roots[folder]

    def _by_project(self, paths: Sequence[Path] | None) -> list[tuple[Project, list[Path]]]:
        """The projects that paths (by default the workspace's folders) belong to, each with its own, absolute."""
        asked: dict[Path, list[Path]] = {}
        for path in self._folders if paths is None else [path.resolve() for path in paths]:
            asked.setdefault(self._root(path), []).append(path)
        return [(self._at(root), own) for root, own in asked.items()]

    def _at(self, root: Path) -> Project:
        if root not in self._projects:
            self._projects[root] = Project(
                root, self._overrides, self._interpreter, tells=self._tells, kept=self._cache, jobs=self._jobs
            )
        return self._projects[root]

    def project(self, path: Path) -> Project:
        """The project that a file belongs to."""
        return self._at(self._root(path.resolve()))


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
