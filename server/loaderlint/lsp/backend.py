"""The engine as the language server sees it, and how it is loaded.

The server depends on these protocols only, so that its own tests can run on a tiny engine; `Loaderlint` is the real
one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from loaderlint.cache.facts_cache import PieceCache
    from loaderlint.explanations.explanation import Explanation
    from loaderlint.explanations.worker_map import WorkerMap
    from loaderlint.findings.diagnostics import Diagnostic, Problem, ProjectInfo
    from loaderlint.findings.finding import Fix, Place
    from loaderlint.fixes.file_edits import FileEdit, Repair
    from loaderlint.syntax.span import Span

    Found = Mapping[Path, tuple[Diagnostic, ...]]

_Answer = TypeVar("_Answer")


class Workspace(Protocol):
    """The part of `loaderlint.engine.Workspace` that the server uses. Called on one thread only, and by the server
    itself through `loaderlint.lsp.engine_client`."""

    @property
    def problems(self) -> list[Problem]: ...
    def set_text(self, path: Path, text: str | None) -> None: ...
    def configure(self, overrides: Mapping[str, object]) -> None: ...
    def forget(self, paths: Iterable[Path]) -> None: ...
    @property
    def links(self) -> int: ...
    def text(self, path: Path) -> str: ...
    def unreadable(self, path: Path) -> str: ...
    def cells(self, path: Path) -> tuple[int, ...]: ...
    def projects(self) -> tuple[ProjectInfo, ...]: ...
    def environment(self, path: Path) -> tuple[str, ...]: ...
    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap: ...
    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation: ...
    def locate(self, place: Place) -> Span | None: ...
    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]: ...
    def repair(self, path: Path, fix: Fix) -> Repair | None: ...
    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]: ...
    def fix_all(self, paths: Sequence[Path], *, rules: Collection[str] | None = None) -> tuple[FileEdit, ...]: ...
    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = ...,
        edited: Callable[[], bool] | None = ...,
        progress: Callable[[int, int], None] | None = ...,
        early: Callable[[Found], None] | None = ...,
    ) -> dict[Path, tuple[Diagnostic, ...]]: ...
    def alone(self, paths: Iterable[Path], texts: Mapping[Path, str]) -> dict[Path, tuple[Diagnostic, ...]]: ...
    def rest(self) -> Iterator[None]: ...


class Backend(Protocol):
    """What is loaded on the worker's thread, after `initialize` has been answered."""

    #: Raised by `Workspace.check` when its `stop` says so.
    cancelled: type[Exception]
    #: The page of every rule (Markdown), by rule name.
    pages: Mapping[str, str]

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        """A new workspace; `overrides` are settings by their names in pyproject.toml."""
        ...

    def close(self) -> None:
        """No more questions will be asked. Called on any thread."""
        ...


class Loaderlint:
    """loaderlint's own engine and rules. `cache`: the folder in which facts of files are kept between runs."""

    def __init__(self, cache: Path | None = None) -> None:
        from loaderlint import engine
        from loaderlint.rules import RULES

        self.cancelled: type[Exception] = engine.Cancelled
        self.pages: Mapping[str, str] = {rule.name: rule.page for rule in RULES}
        self._engine = engine
        self._pieces = _pieces(cache) if cache else None

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        """A new workspace over `folders` (absolute)."""
        return self._engine.Workspace(folders, overrides, tells=True, cache=self._pieces)

    def close(self) -> None:
        """Nothing to do."""


def _pieces(folder: Path) -> PieceCache:
    from loaderlint.cache.database import Database
    from loaderlint.cache.facts_cache import PieceCache

    return PieceCache(Database(folder))


def answer(workspace: Workspace, question: Callable[..., _Answer], *about: Any) -> _Answer:
    """`question(workspace, *about)`, asked where the engine is if that is another process. `question` is a function of
    a module that imports neither pygls nor lsprotocol, and both `about` and the answer can be pickled."""
    there: Callable[..., _Answer] | None = getattr(workspace, "answer", None)
    return question(workspace, *about) if there is None else there(question, *about)
