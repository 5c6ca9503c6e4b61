"""Brings what all open documents show to the client: new diagnostics are pushed, or the client is asked to pull again.

Each document has its own state (`lsp.document_state`). This module does everything that needs more than one of them: a
finding of one document may point to places in another, and a file may be open under several URIs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lsprotocol import types

from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.document_state import DocumentState
from loaderlint.lsp.documents import Document, Documents, Notebook, Snapshot
from loaderlint.lsp.moved_diagnostics import History
from loaderlint.lsp.protocol_diagnostics import Report
from loaderlint.lsp.refreshes import Refreshes
from loaderlint.lsp.signals import Signal


class ShownDocuments:
    """The states of all open documents. Used on the event loop only. `news` wakes the tasks that wait for something to
    show."""

    def __init__(
        self,
        documents: Documents,
        publish: Callable[[types.PublishDiagnosticsParams], None],
        refresh: Callable[[], None],
    ) -> None:
        self.client = Client()
        self.news = Signal()
        self.refreshes = Refreshes(self._is_answer_outdated, self._refresh_all)
        self._documents = documents
        self._publish = publish
        self._refresh = refresh
        self._states: dict[str, DocumentState] = {}
        #: For each file the URI under which it was last opened or edited.
        self._latest: dict[Path, str] = {}
        #: The texts that a pull asked about before they were open.
        self._unopened: set[str] = set()

    def __iter__(self) -> Iterator[DocumentState]:
        return iter([self._states[document.uri] for document in self._documents])

    def state(self, uri: str) -> DocumentState | None:
        """The state of the open document, or of the notebook of a cell; None if it is not open."""
        document = self._documents.get(uri)
        return None if document is None else self._states[document.uri]

    # --- what the editor does -----------------------------------------------------------------------------------------

    def opened(self, document: Document | Notebook) -> None:
        """The document was opened, perhaps again."""
        if (state := self._states.get(document.uri)) is not None:
            state.reopen(document)
        else:
            self._states[document.uri] = DocumentState(document)
        self.edited(document)

    def edited(self, document: Document | Notebook) -> None:
        """From now on, this document represents its file: it was opened or edited last."""
        if document.path is not None and document.analysed:
            self._latest[document.path] = document.uri

    def closed(self, document: Document | Notebook) -> None:
        """Show nothing for a document that is no longer open."""
        state = self._states.pop(document.uri, None)
        for params in state.close() if state is not None else ():
            self._publish(params)
        if document.path is not None:
            self._latest.pop(document.path, None)

    def asked(self, uri: str) -> DocumentState | None:
        """The state for a pull of a text, which needs no refresh until it is answered. None if the text is not open:
        then the answer is empty."""
        state = self.state(uri)
        if state is None:
            self._unopened.add(uri)
        else:
            self._unopened.discard(uri)
            state.forget_answers(uri)
        return state

    # --- texts for the engine -----------------------------------------------------------------------------------------

    def snapshots(self, preferred: Snapshot | None = None) -> tuple[Snapshot, ...]:
        """The current open documents that are analysed, one for each file. If a file is open under several URIs
        (through a linked folder), this is the one that was edited last, which the engine gets; or `preferred`, if that
        has the same text."""
        found = self.of_files(state.document.snapshot() for state in self if state.document.analysed)
        if preferred is not None and preferred.path in found and found[preferred.path].lines == preferred.lines:
            found[preferred.path] = preferred
        return tuple(found.values())

    def noted(self) -> tuple[Snapshot, ...]:
        """All current open documents that are analysed. Places are followed from these versions."""
        return tuple(state.note() for state in self if state.document.analysed)

    def of_files(self, snapshots: Iterable[Snapshot]) -> dict[Path, Snapshot]:
        """The document that represents each file."""
        found: dict[Path, Snapshot] = {}
        for snapshot in snapshots:
            if snapshot.path not in found or self._latest.get(snapshot.path) == snapshot.uri:
                found[snapshot.path] = snapshot
        return found

    # --- what the engine says -----------------------------------------------------------------------------------------

    @property
    def has_early(self) -> bool:
        """Whether an early report is shown."""
        return any(state.is_early for state in self)

    def take_early(self, reports: Iterable[Report]) -> None:
        """Show reports before their job ends."""
        for report in reports:
            state = self._opening(report.snapshot)
            if state is not None and state.take_early(report) and not self.client.pulls:
                self._push(state, report)
        self.refreshes.consider()  # a second early answer may contain more than the first
        self.news.send()

    def end_early(self) -> None:
        """Drop early reports, because the job that made them has ended."""
        for state in self:
            state.end_early()

    def take(self, reports: Sequence[Report], failed: frozenset[str]) -> None:
        """Show what was found. `failed`: the rules that could not run because of an internal error, '' stands for any
        rule."""
        histories = self._histories()
        taken: list[tuple[DocumentState, Report]] = []
        for report in reports:
            state = self._opening(report.snapshot)
            if state is None:
                continue
            whole = state.completed(report, failed, histories, self.client)
            if whole is not None:
                taken.append((state, whole))
        for state, report in taken:
            state.take(report)
        for state in self:
            state.stop_following()
        self.show(state for state, _ in taken)
        self.refreshes.consider()

    def show(self, states: Iterable[DocumentState]) -> None:
        """Show what is known about documents in their current versions: their findings, or the earlier findings that
        are still valid in them."""
        histories = self._histories()
        for state in states:
            report = state.follow(histories, self.client)
            if report is None:
                continue
            if self.client.pulls:
                self.news.send()
            else:
                self._push(state, report)

    def settle(self) -> None:
        """Complete the analysis. A document that could not be analysed keeps its last findings that are still valid."""
        for state in self:
            state.stop_following()
        self.show(state for state in self if state.found is None)
        self.news.send()

    def stop(self) -> None:
        """Send nothing more."""
        self._forget_answers()
        self.refreshes.stop()
        self.news.send()

    def _opening(self, snapshot: Snapshot) -> DocumentState | None:
        """The state of the opening of a document that a snapshot belongs to; None if that was closed meanwhile."""
        state = self.state(snapshot.uri)
        return state if state is not None and state.document.serial == snapshot.serial else None

    def _histories(self) -> dict[Path, History]:
        histories = (state.history for state in self)
        return {history.now.path: history for history in histories if history is not None}

    def _push(self, state: DocumentState, report: Report) -> None:
        for params in state.messages(report):
            self._publish(params)

    # --- answers to pulls ---------------------------------------------------------------------------------------------

    def _is_answer_outdated(self) -> bool:
        for uri in tuple(self._unopened):
            if (state := self.state(uri)) is not None:  # opened since, and not pulled again
                self._unopened.discard(uri)
                state.answered(uri, None)
        return any(state.is_answer_outdated() for state in self)

    def _refresh_all(self) -> None:
        self._forget_answers()
        self._refresh()

    def _forget_answers(self) -> None:
        self._unopened.clear()
        for state in self:
            state.forget_answers()
