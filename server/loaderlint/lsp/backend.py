"""The engine as the language server sees it, and how it is loaded.

Protocols define everything that the server may ask. The real engine (`loaderlint.engine.Workspace`) and the tiny one of
the server's tests implement them; a workspace in another process is derived from them (`loaderlint.lsp.engine_client`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from loaderlint.cache.facts_cache import PieceCache
    from loaderlint.explanations.explanation import Explanation
    from loaderlint.explanations.worker_map import WorkerMap
    from loaderlint.findings.diagnostics import Diagnostic, Problem, ProjectInfo
    from loaderlint.findings.finding import Fix, Place
    from loaderlint.fixes.file_edits import FileEdit, Repair
    from loaderlint.syntax.span import Span

    Found = Mapping[Path, tuple[Diagnostic, ...]]

_About = ParamSpec("_About")
_Answer = TypeVar("_Answer")


class Questions(Protocol):
    """Plain questions about the code. Arguments and answers can be pickled, so an engine in another process needs only
    the name of a question.

    Paths are absolute. Lines and columns count from 0, columns in characters. All answers are about the current texts:
    those that were set, otherwise those on disk. An internal error of the engine is raised; from another process, as
    `engine_client.Failed`."""

    def text(self, path: Path) -> str:
        """The text of a file, '' if it cannot be read."""

    def unreadable(self, path: Path) -> str:
        """Why the text of a file cannot be read, '' if it can."""

    def cells(self, path: Path) -> tuple[int, ...]:
        """The lines of its text at which the code cells of a notebook begin, () for any other file."""

    def projects(self) -> tuple[ProjectInfo, ...]:
        """The projects that have been checked so far, for a bug report."""

    def environment(self, path: Path) -> tuple[str, ...]:
        """The environment that the code of a file is assumed to have, one fact per line: 'torch 2.4.1, from
        uv.lock'."""

    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap:
        """The loaders in files, and below folders, with what their workers run. Without `paths`: of all folders of the
        workspace."""

    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation:
        """The explanation of a line of a file that can be read."""

    def locate(self, place: Place) -> Span | None:
        """The position of a place; None if its code is gone."""

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """The refactorings that are offered on a line of a file, even without a finding there."""

    def repair(self, path: Path, fix: Fix) -> Repair | None:
        """The edits of a refactoring of a file, None if it cannot be carried out."""

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        """The fixes of a finding of the last check with their edits, the preferred one first."""

    def fix_all(self, paths: Sequence[Path], *, rules: Collection[str] | None = None) -> tuple[FileEdit, ...]:
        """The edits of as many safe fixes of these files' findings as fit together in one round. `rules`: only those of
        the named rules."""


class Checks(Protocol):
    """The calls that inform a workspace and check it. Unlike `Questions`, each takes more than one message and its
    answer."""

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems of the last check and of the questions since."""

    @property
    def links(self) -> int:
        """The number of linkings so far. If it has not grown, only positions can have changed."""

    def set_text(self, path: Path, text: str | None) -> None:
        """Set the text of a file; None: use the text on disk again."""

    def configure(self, overrides: Mapping[str, object]) -> None:
        """Replace the settings, by their names in pyproject.toml, and `interpreter`."""

    def forget(self, paths: Iterable[Path]) -> None:
        """Forget files or folders that were created, changed or deleted on disk."""

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = ...,
        typing: bool = ...,
        progress: Callable[[int, int], None] | None = ...,
        early: Callable[[Found], None] | None = ...,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of files, each in the order of its places; every file has an entry. Without `paths`: of all
        files of the workspace.

        `progress(done, total)` counts files. `early` is called with the findings of each project while another one is
        still to be linked for the first time. Raises `Backend.cancelled` once `stop` returns True, and Postponed if a
        linked project has to be linked again while the user is `typing`."""

    def answer(
        self, question: Callable[Concatenate[Workspace, _About], _Answer], *about: _About.args, **named: _About.kwargs
    ) -> _Answer:
        """Call `question(workspace, ...)` where the engine is. `question` is a function of a module that imports
        neither pygls nor lsprotocol; its arguments and its result can be pickled."""


class Workspace(Checks, Questions, Protocol):
    """The projects of some folders, as the server uses them, on one thread."""


class LocalWorkspace(Workspace, Protocol):
    """A workspace in this process, with what the engine's own process needs in addition (`lsp.engine_process`)."""

    def rest(self) -> Iterator[None]:
        """Use the time without questions: write facts to the cache and release memory, in small steps."""


class Backend(Protocol):
    """The engine, which is loaded on the worker's thread after `initialize` has been answered."""

    #: Raised by `Workspace.check` when its caller no longer wants an answer.
    cancelled: type[Exception]
    #: The page of every rule (Markdown), by rule name.
    pages: Mapping[str, str]

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        """A new workspace; `overrides` are settings by their names in pyproject.toml."""

    def close(self) -> None:
        """Release the engine: no more questions will be asked. May be called on any thread."""


class LocalBackend(Backend, Protocol):
    """A backend in this process."""

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> LocalWorkspace:
        """See `Backend.workspace`."""


class Loaderlint:
    """loaderlint's own engine and rules. `cache`: the folder in which facts of files are kept between runs."""

    def __init__(self, cache: Path | None = None) -> None:
        from loaderlint import engine
        from loaderlint.rules import RULES

        self.cancelled: type[Exception] = engine.Cancelled
        self.pages: Mapping[str, str] = {rule.name: rule.page for rule in RULES}
        self._engine = engine
        self._pieces = _pieces(cache) if cache else None

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> LocalWorkspace:
        """A new workspace over `folders` (absolute)."""
        return self._engine.Workspace(folders, overrides, tells=True, cache=self._pieces)

    def close(self) -> None:
        """Nothing to do."""


def _pieces(folder: Path) -> PieceCache:
    from loaderlint.cache.database import Database
    from loaderlint.cache.facts_cache import PieceCache

    return PieceCache(Database(folder))
