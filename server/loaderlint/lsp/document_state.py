"""The state of an open document: what it shows, and whether that is about the current text.

The document itself holds the text and the version (`lsp.documents`); everything that was reported about it belongs to
one version (`lsp.protocol_diagnostics`). Only this module decides whether a report is outdated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types
from msgspec import Struct

from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Document, Notebook, Snapshot
from loaderlint.lsp.moved_diagnostics import History, standing
from loaderlint.lsp.protocol_diagnostics import Report, cleared, result_id


class _Pulled(Struct, frozen=True):
    """The diagnostics that a pull returned, for one version of one opening of a text (the document, or a cell). Both
    are None if no version had been checked: then any finding makes the answer outdated."""

    serial: int | None
    version: int | None
    result_id: str

    def is_about(self, serial: int, version: int | None) -> bool:
        return self.serial in (None, serial) and (None in (self.version, version) or self.version == version)


class DocumentState:
    """The state of an open document. Used on the event loop only.

    For each document there is the last report of the engine (`take`); before the first one, an early report while other
    projects were still being linked (`take_early`); and after an edit, the part of the last report that is still valid
    (`follow`). Each of them is only used for exactly the text that it is about."""

    def __init__(self, document: Document | Notebook) -> None:
        self.document = document
        """Its text and version; those of a new opening after it was opened again."""
        self._last: Report | None = None
        self._early: Report | None = None
        self._standing: Report | None = None
        self.history: History | None = None
        """The versions that were recorded since the one that was last analysed."""
        self._published: dict[str, types.PublishDiagnosticsParams] = {}
        self._pulled: dict[str, _Pulled] = {}

    def reopen(self, document: Document | Notebook) -> None:
        """Reset the state, because the document was opened again: only the client's diagnostics are kept."""
        self.document = document
        self._forget()

    def close(self) -> list[types.PublishDiagnosticsParams]:
        """Drop everything about a closed document, and end the tasks that wait for it. Returns what must be pushed to a
        client that does not pull, so that it shows nothing."""
        self._forget()
        return [cleared(uri) for uri in self._published]

    def _forget(self) -> None:
        self._last = self._early = self._standing = self.history = None

    # --- what may be shown --------------------------------------------------------------------------------------------

    @property
    def found(self) -> Report | None:
        """The findings in exactly the current text; None if it has not been checked (yet). Only these are ever
        fixed."""
        return self._present(self._last) or self._present(self._early)

    @property
    def meanwhile(self) -> Report | None:
        """The report to show for the current text while the engine is busy; None if the caller has to wait."""
        return self._present(self._standing) or self._present(self._early)

    @property
    def shown(self) -> Report | None:
        """The report to show for the current text now; None if nothing is known about it."""
        return self.meanwhile or self.found

    def _present(self, report: Report | None) -> Report | None:
        return report if report is not None and self.document.at == report.snapshot.at else None

    # --- what the engine says -----------------------------------------------------------------------------------------

    def note(self) -> Snapshot:
        """Record and return the current version, so that places can be followed from it into later ones. Raises
        ValueError for a document that is not a file."""
        snapshot = self.document.snapshot()
        if self.history is None:
            self.history = History(snapshot)
        self.history.note(snapshot)
        return snapshot

    @property
    def is_early(self) -> bool:
        """Whether only an early report is known."""
        return self._early is not None

    def take_early(self, report: Report) -> bool:
        """Take a report before its job ends; returns whether it is new."""
        if self._last is not None or self._present(report) is None:
            return False
        self._early = report
        return True

    def end_early(self) -> None:
        """Drop the early report, because the job that made it has ended."""
        self._early = None

    def completed(
        self, report: Report, failed: frozenset[str], histories: Mapping[Path, History], client: Client
    ) -> Report | None:
        """A new report, plus earlier findings that are still valid of rules that failed this time ('' stands for any
        rule). None if the document was edited meanwhile: then the last report stays until the next one."""
        if not failed or self._last is None:
            return report
        if self._present(report) is None:
            return None
        kept = self._standing_now(self._last, histories, client)
        of_failed = [n for n, one in enumerate(kept.findings) if not failed.isdisjoint(("", one.name))]
        return report.with_unsure(of_failed, kept)

    def take(self, report: Report) -> None:
        """Accept the findings of the engine in a version of this opening, the current one or an earlier one."""
        self._last = report
        if self.history is None:
            self.history = History(report.snapshot)
        self.history.begin(report.snapshot)

    def follow(self, histories: Mapping[Path, History], client: Client) -> Report | None:
        """Show the last report: unchanged if it is about the current text, otherwise the part that is still valid
        there. None if there is none. `histories`: those of the other documents, because the report may point to places
        in them."""
        if self._last is None:
            return None
        if self._present(self._last) is not None:
            self._standing = self._last
        elif self._present(self._standing) is None:
            self.note()
            self._standing = self._standing_now(self._last, histories, client)
        return self._standing

    def _standing_now(self, report: Report, histories: Mapping[Path, History], client: Client) -> Report:
        assert self.history is not None, "a report was taken, and its version noted"
        return standing(report, {**histories, self.history.now.path: self.history}, client)

    def stop_following(self) -> None:
        """Forget the part of the last report that was still valid: it is no longer shown, or has to be computed
        again."""
        self._standing = None

    # --- what the client has ------------------------------------------------------------------------------------------

    def messages(self, report: Report) -> list[types.PublishDiagnosticsParams]:
        """The messages that make a client that does not pull show the report: one for each text (or cell of a notebook)
        whose diagnostics changed. Diagnostics of removed cells are cleared."""
        before, now = self._published, {params.uri: params for params in report.messages()}
        self._published = now
        gone = [cleared(uri) for uri in before if uri not in now]
        return gone + [params for uri, params in now.items() if before.get(uri) != params]

    def answered(self, uri: str, report: Report | None) -> str:
        """Record that a client that pulls gets the diagnostics of a report for the text `uri`, or none. Returns the id
        of that answer."""
        if report is None:
            answer = _Pulled(None, None, result_id(()))
        else:
            part = report.snapshot.part(uri)
            version = part.version if part else None
            answer = _Pulled(report.snapshot.serial, version, result_id(report.shown_in(uri)))
        self._pulled[uri] = answer
        return answer.result_id

    def forget_answers(self, uri: str | None = None) -> None:
        """Forget the answer for the text `uri`, which the client has just pulled again, or all answers, because it is
        asked to pull everything again."""
        if uri is None:
            self._pulled.clear()
        else:
            self._pulled.pop(uri, None)

    def is_answer_outdated(self) -> bool:
        """Whether the diagnostics of a text differ from those that a pull returned for the same version."""
        return any(self._is_outdated(uri, answer) for uri, answer in self._pulled.items())

    def _is_outdated(self, uri: str, answer: _Pulled) -> bool:
        report = self.shown
        if report is None or (report.snapshot.cells is not None and uri not in self.document.uris):
            return False
        part = report.snapshot.part(uri)
        if not answer.is_about(report.snapshot.serial, part.version if part else None):
            return False  # the client itself pulls what it has edited
        return result_id(report.shown_in(uri)) != answer.result_id
