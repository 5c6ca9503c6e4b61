"""The engine as the language server sees it, and how it is loaded.

The server depends on these protocols only, so that its own tests can run on a tiny engine; `Loaderlint` is the real
one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from loaderlint.engine import Diagnostic, Problem, ProjectInfo
    from loaderlint.explanation import Explanation
    from loaderlint.findings import Fix, Place
    from loaderlint.fixes.edits import FileEdit, Repair
    from loaderlint.syntax.positions import Span
    from loaderlint.worker_map import WorkerMap


class Workspace(Protocol):
    """The part of `loaderlint.engine.Workspace` that the server uses. Called on the worker's thread only."""

    problems: list[Problem]

    def set_text(self, path: Path, text: str | None) -> None: ...
    def configure(self, overrides: Mapping[str, object]) -> None: ...
    def forget(self, paths: Iterable[Path]) -> None: ...
    @property
    def links(self) -> int: ...
    def text(self, path: Path) -> str: ...
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
        progress: Callable[[int, int], None] | None = ...,
    ) -> dict[Path, tuple[Diagnostic, ...]]: ...


class Backend(Protocol):
    """What is loaded on the worker's thread, after `initialize` has been answered."""

    #: Raised by `Workspace.check` when its `stop` says so.
    cancelled: type[Exception]
    #: The page of every rule (Markdown), by rule name.
    pages: Mapping[str, str]

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        """A new workspace; `overrides` are settings by their names in pyproject.toml."""
        ...


class Loaderlint:
    """loaderlint's own engine and rules. Making one imports libcst (0.2 s)."""

    def __init__(self) -> None:
        from loaderlint import engine
        from loaderlint.rules import RULES

        self.cancelled: type[Exception] = engine.Cancelled
        self.pages: Mapping[str, str] = {rule.name: rule.page for rule in RULES}
        self._engine = engine

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        """A new workspace over `folders` (absolute)."""
        return self._engine.Workspace(folders, overrides, tells=True)
