"""One run of the engine over all open documents: its input, its findings, and its work on the engine's thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types
from msgspec import Struct, field

from loaderlint.lsp.backend import Backend, Workspace
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.failure_log import FailureLog, costs_a_fix, costs_findings
from loaderlint.lsp.protocol_diagnostics import Report, report_of
from loaderlint.lsp.text_positions import Encoding, Place, Span, split_lines, to_range
from loaderlint.lsp.uris import uri_of
from loaderlint.syntax.notebook import SUFFIX

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")


class Setup(Struct, frozen=True):
    """The arguments of a workspace: folders (absolute), and settings by their names in pyproject.toml."""

    folders: tuple[Path, ...] = ()
    overrides: Mapping[str, object] = field(default_factory=dict)


class Job(Struct):
    """Everything that one run on the worker's thread needs; only `stopped` may change later. `told`: for each open file
    the document whose text the engine gets. `typing`: there was no pause in the typing."""

    setup: Setup
    texts: Mapping[Path, str | None]
    gone: frozenset[Path]
    snapshots: tuple[Snapshot, ...]
    told: tuple[Snapshot, ...]
    client: Client
    typing: bool = False
    stopped: threading.Event = field(default_factory=threading.Event)

    def looks_at(self, snapshot: Snapshot) -> bool:
        """Whether the engine checks the text of this document: not if its file is also open under another URI with
        another text."""
        return any(one is snapshot or (one.path, one.lines) == (snapshot.path, snapshot.lines) for one in self.told)


class Answer(Struct, frozen=True):
    """The findings of a job, or a part of them. `problems`: messages of the engine for the user; `links`: see
    `Workspace.links`; `failed`: the rules that could not run because of an internal error, '' stands for any rule."""

    reports: tuple[Report, ...]
    problems: tuple[str, ...]
    links: int
    failed: frozenset[str] = frozenset()


class Engine:
    """The backend and its workspace. Everything here runs on the worker's thread."""

    def __init__(self, load: Callable[[], Backend]) -> None:
        self._load = load
        self._backend: Backend | None = None
        self._workspace: Workspace | None = None
        self._setup: Setup | None = None
        self._log = FailureLog(logger)

    def backend(self) -> Backend:
        """The backend, loaded on first use."""
        if self._backend is None:
            self._backend = self._load()
        return self._backend

    def workspace(self) -> Workspace:
        """The workspace of the last job. Raises RuntimeError before the first job."""
        if self._workspace is None:
            raise RuntimeError("there is no workspace yet")
        return self._workspace

    def perform(self, job: Job, early: Callable[[Answer], None]) -> Answer | None:
        """Pass the changes to the engine and run the check. None if the job was stopped. `early` is called with
        findings that can be shown before the end. Raises Postponed if code has to be linked again while the user is
        typing."""
        backend = self.backend()
        workspace = self._told(backend, job)
        if job.stopped.is_set():
            return None
        paths = [snapshot.path for snapshot in job.told]
        places = Texts(workspace, job.told, job.client.encoding)

        def looked(found: Mapping[Path, Sequence[Diagnostic]]) -> None:
            # The engine is busy and must not be asked: not even what the code runs on.
            shown = [one for one in job.snapshots if one.path in found and job.looks_at(one)]
            early(Answer(tuple(report_of(one, found[one.path], (), places, job.client) for one in shown), (), 0))

        try:
            found = workspace.check(paths, stop=job.stopped.is_set, typing=job.typing, early=looked) if paths else {}
        except backend.cancelled:
            return None
        reports = tuple(
            report_of(
                snapshot,
                findings := found.get(snapshot.path, ()) if job.looks_at(snapshot) else (),
                workspace.environment(snapshot.path) if findings else (),
                places,
                job.client,
            )
            for snapshot in job.snapshots
        )
        problems = tuple(_said(problem) for problem in workspace.problems)
        return Answer(reports, problems, workspace.links, self._failed_rules(workspace))

    def _failed_rules(self, workspace: Workspace) -> frozenset[str]:
        """The rules with internal errors because of which findings may be missing. Each error is logged once."""
        self._log.note_problems(workspace.problems, lambda problem: not costs_a_fix(problem))
        return frozenset(problem.rule for problem in workspace.problems if costs_findings(problem))

    def answer(self, question: Callable[[Workspace], _Result]) -> _Result:
        """The answer to a question about the workspace."""
        workspace = self.workspace()
        found = question(workspace)
        self._log.note_problems(workspace.problems, costs_a_fix)
        return found

    def unanswered(self, error: Exception) -> None:
        """Log why a question could not be answered, once for each error."""
        from loaderlint.runtime.internal_errors import failure_of

        if not getattr(error, "is_logged", False):
            self._log.note("a question cannot be answered", failure_of(error))

    def close(self) -> None:
        """Close the backend: no more jobs will come."""
        if self._backend is not None:
            self._backend.close()

    def _told(self, backend: Backend, job: Job) -> Workspace:
        texts = job.texts
        if self._workspace is None or self._setup is None or self._setup.folders != job.setup.folders:
            self._workspace = backend.workspace(job.setup.folders, job.setup.overrides)
            texts = {snapshot.path: snapshot.text for snapshot in job.told}
        elif self._setup != job.setup:
            self._workspace.configure(job.setup.overrides)
        self._setup = job.setup
        if job.gone:
            self._workspace.forget(job.gone)
        for path, text in texts.items():
            try:
                self._workspace.set_text(path, text)
            except Exception:
                logger.exception("the engine does not take the text of %s", path)
        return self._workspace


class Texts:
    """Converts positions in any file for the client: in the editor's text if it is open, otherwise in the engine's.
    Used on the worker's thread."""

    def __init__(self, workspace: Workspace, snapshots: Iterable[Snapshot], encoding: Encoding) -> None:
        self._workspace = workspace
        self._open = {snapshot.path: snapshot for snapshot in snapshots}
        self._encoding = encoding
        self._lines: dict[Path, Sequence[str]] = {}

    def __call__(self, path: Path, span: Span) -> types.Location:
        """The client's name for the file or cell, and the place in it. The client does not know the cells of a notebook
        that is not open, so every place in it becomes its beginning."""
        opened = self._open.get(path)
        if opened is not None:
            part = opened.part_at(span.line)
            return types.Location(uri=part.uri, range=part.range(span, self._encoding))
        if path.suffix == SUFFIX:
            return types.Location(uri=uri_of(path), range=to_range([""], Place(0, 0, 0, 0), self._encoding))
        return types.Location(uri=uri_of(path), range=to_range(self._lines_of(path), span, self._encoding))

    def _lines_of(self, path: Path) -> Sequence[str]:
        if path not in self._lines:
            try:
                self._lines[path] = split_lines(self._workspace.text(path))
            except Exception:
                # The file was removed after the analysis: positions in it no longer matter.
                logger.info("no text of %s", path, exc_info=True)
                self._lines[path] = [""]
        return self._lines[path]


def _said(problem: object) -> str:
    path, message = getattr(problem, "path", None), getattr(problem, "message", problem)
    return f"{path}: {message}" if path else str(message)
