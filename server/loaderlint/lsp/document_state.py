"""What one open document shows, and whether that is still about its text.

The document itself holds the text and the version (`lsp.documents`); everything that was said about it is a report on
one version (`lsp.protocol_diagnostics`). Whether a report is outdated is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Document, Notebook, Snapshot
from loaderlint.lsp.protocol_diagnostics import Report, cleared, result_id
from loaderlint.lsp.stale_diagnostics import History, standing


@dataclass(frozen=True, slots=True)
class _Pulled:
    """The diagnostics that a pull was told, for one version of one opening of a text (the document, or a cell). Both
    are None where no version was checked: any finding makes such an answer outdated."""

    serial: int | None
    version: int | None
    result_id: str

    def is_about(self, serial: int, version: int | None) -> bool:
        return self.serial in (None, serial) and (None in (self.version, version) or self.version == version)


class DocumentState:
    """What an open document shows. Lives on the event loop.

    Of each document there is the last report of the engine (`take`); before the first one, what it found while other
    projects were still to be linked (`take_early`); and after an edit, what still stands of the last report (`follow`).
    None of them is given out for any text but the very one that it is about."""

    def __init__(self, document: Document | Notebook) -> None:
        self.document = document
        """Its text and version. Of another opening, once it was opened again."""
        self._last: Report | None = None
        self._early: Report | None = None
        self._standing: Report | None = None
        self.history: History | None = None
        """The versions that were noted since the one that was last analysed."""
        self._published: dict[str, types.PublishDiagnosticsParams] = {}
        self._pulled: dict[str, _Pulled] = {}

    def reopen(self, document: Document | Notebook) -> None:
        """The document was opened again: only what the client has is known of it."""
        self.document = document
        self._forget()

    def close(self) -> list[types.PublishDiagnosticsParams]:
        """The document was closed: nothing is known of it any more, and tasks that wait for it end. What a client that
        does not pull has to be sent so that it shows nothing."""
        self._forget()
        return [cleared(uri) for uri in self._published]

    def _forget(self) -> None:
        self._last = self._early = self._standing = self.history = None

    # --- what may be shown --------------------------------------------------------------------------------------------

    @property
    def found(self) -> Report | None:
        """What was found in exactly the present text; None if it has not been checked (yet). Nothing
        else is ever repaired."""
        return self._present(self._last) or self._present(self._early)

    @property
    def meanwhile(self) -> Report | None:
        """What is shown of the present text while the engine is at work; None if the caller has to wait for that."""
        return self._present(self._standing) or self._present(self._early)

    @property
    def shown(self) -> Report | None:
        """What is shown of the present text now; None if nothing is known of it."""
        return self.meanwhile or self.found

    def _present(self, report: Report | None) -> Report | None:
        return report if report is not None and self.document.at == report.snapshot.at else None

    # --- what the engine says -----------------------------------------------------------------------------------------

    def note(self) -> Snapshot:
        """The present version. Places are followed from here into later ones. Raises ValueError for a document that is
        no file."""
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
        """Take a report before the job that made it ends; whether that is news."""
        if self._last is not None or self._present(report) is None:
            return False
        self._early = report
        return True

    def end_early(self) -> None:
        """The job that made the early report has ended."""
        self._early = None

    def completed(
        self, report: Report, failed: frozenset[str], histories: Mapping[Path, History], client: Client
    ) -> Report | None:
        """A new report with what still stands of the last findings of rules that failed now ('': any). None if the
        document was edited meanwhile: then the last report stays until the next one."""
        if not failed or self._last is None:
            return report
        if self._present(report) is None:
            return None
        kept = self._standing_now(self._last, histories, client)
        of_failed = [n for n, one in enumerate(kept.findings) if not failed.isdisjoint(("", one.name))]
        return report.with_unsure(of_failed, kept)

    def take(self, report: Report) -> None:
        """What the engine found in a version of this opening, the present one or one before it."""
        self._last = report
        if self.history is None:
            self.history = History(report.snapshot)
        self.history.begin(report.snapshot)

    def follow(self, histories: Mapping[Path, History], client: Client) -> Report | None:
        """Show the last report: as it is if it is about the present text, else what stands of it there. None if there
        is none. `histories`: of the other documents, to whose places it may point."""
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
        """What stood of the last report is no longer shown, or has to be found again."""
        self._standing = None

    # --- what the client has ------------------------------------------------------------------------------------------

    def messages(self, report: Report) -> list[types.PublishDiagnosticsParams]:
        """What a client that does not pull has to be sent so that it shows the report: the texts (of a notebook, the
        cells) whose diagnostics are others now. Cells that are gone lose theirs."""
        before, now = self._published, {params.uri: params for params in report.messages()}
        self._published = now
        gone = [cleared(uri) for uri in before if uri not in now]
        return gone + [params for uri, params in now.items() if before.get(uri) != params]

    def answered(self, uri: str, report: Report | None) -> str:
        """A client that pulls is answered what a report says of the text `uri`, or nothing, as there is none; the id of
        that answer."""
        if report is None:
            answer = _Pulled(None, None, result_id(()))
        else:
            part = report.snapshot.part(uri)
            version = part.version if part else None
            answer = _Pulled(report.snapshot.serial, version, result_id(report.shown_in(uri)))
        self._pulled[uri] = answer
        return answer.result_id

    def forget_answers(self, uri: str | None = None) -> None:
        """The client has just asked about the text `uri` again, or is asked to pull all again."""
        if uri is None:
            self._pulled.clear()
        else:
            self._pulled.pop(uri, None)

    def is_answer_outdated(self) -> bool:
        """Whether other diagnostics are shown now of a text than a pull was told for that very version."""
        return any(self._is_outdated(uri, answer) for uri, answer in self._pulled.items())

    def _is_outdated(self, uri: str, answer: _Pulled) -> bool:
        report = self.shown
        if report is None or (report.snapshot.cells is not None and uri not in self.document.uris):
            return False
        part = report.snapshot.part(uri)
        if not answer.is_about(report.snapshot.serial, part.version if part else None):
            return False  # the client asks by itself about what it has edited
        return result_id(report.shown_in(uri)) != answer.result_id
