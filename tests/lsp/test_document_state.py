"""What a document shows, and when it is outdated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from lsprotocol import types

from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.document_state import DocumentState
from loaderlint.lsp.documents import Documents, Notebook, Snapshot
from loaderlint.lsp.moved_diagnostics import History
from loaderlint.lsp.protocol_diagnostics import Report, report_of
from loaderlint.lsp.text_positions import Span
from tests.lsp.fake_engine import FakeBackend, FakeWorkspace

PATH = Path("/project/a.py").absolute()
URI = PATH.as_uri()
CLIENT = Client()
NOBODY: Mapping[Path, History] = {}


def places(path: Path, span: Span) -> types.Location:
    start, end = types.Position(span.line, span.column), types.Position(span.end_line, span.end_column)
    return types.Location(path.as_uri(), types.Range(start, end))


def looked_at(snapshot: Snapshot, only: Collection[str] = ("BUG", "GUESS")) -> Report:
    """The report of the tiny engine on a version."""
    workspace = FakeWorkspace(FakeBackend(), (), {})
    workspace.set_text(snapshot.path, snapshot.text)
    found = [one for one in workspace.check([snapshot.path])[snapshot.path] if one.word in only]
    return report_of(snapshot, found, (), places, CLIENT)  # type: ignore[arg-type]


class Open:
    """An open document and its state."""

    def __init__(self, text: str) -> None:
        self.documents = Documents()
        self.state = DocumentState(self.documents.open(types.TextDocumentItem(URI, "python", 1, text)))

    def take(self) -> Report:
        report = looked_at(self.state.note())
        self.state.take(report)
        return report

    def edit(self, text: str) -> None:
        whole = types.TextDocumentContentChangeWholeDocument(text)
        assert self.documents.change(URI, self.state.document.version + 1, [whole]) is self.state.document

    def follow(self) -> list[tuple[str, int]]:
        return lines(self.state.follow(NOBODY, CLIENT))

    def reopen(self, text: str) -> None:
        self.state.reopen(self.documents.open(types.TextDocumentItem(URI, "python", 1, text)))


def lines(report: Report | None) -> list[tuple[str, int]]:
    assert report is not None
    return [(one.message.partition(" ")[0], one.range.start.line) for one in report.shown]


# --- what may be shown ------------------------------------------------------------------------------------------------


def test_what_was_found_is_given_for_its_very_text_only() -> None:
    one = Open("BUG\n")
    assert one.state.found is one.state.shown is None
    report = one.take()
    assert one.state.found is one.state.shown is report
    one.edit("\nBUG\n")
    assert one.state.found is one.state.shown is one.state.meanwhile is None


def test_the_same_version_of_another_opening_is_another_text() -> None:
    one = Open("BUG\n")
    report = one.take()
    one.follow()
    one.reopen("x\n")
    assert one.state.document.version == report.snapshot.version
    assert one.state.found is one.state.shown is None and one.state.follow(NOBODY, CLIENT) is None
    one.state.take_early(report)
    assert one.state.found is None


def test_what_stands_of_the_last_report_is_shown_and_never_found() -> None:
    one = Open("BUG\nGUESS\n")
    one.take()
    one.edit("\nBUG\nGUES\n")
    assert one.state.meanwhile is None, "not before somebody says so"
    assert one.follow() == [("BUG", 1)]
    assert one.state.shown is one.state.meanwhile is not None and one.state.found is None
    one.edit("\n\nBUG\nGUES\n")
    assert one.state.shown is None
    assert one.follow() == [("BUG", 2)]
    one.state.stop_following()
    assert one.state.shown is None


def test_while_the_engine_is_at_work_a_report_of_this_text_is_shown_once_it_is_said() -> None:
    one = Open("BUG\n")
    report = one.take()
    assert one.state.meanwhile is None, "a change on disk may have changed that: who asks waits a moment"
    assert one.state.follow(NOBODY, CLIENT) is report is one.state.meanwhile


def test_a_report_of_a_version_that_is_gone_is_followed_from_there() -> None:
    one = Open("BUG\nx\n")
    one.state.note()
    one.edit("\nBUG\nx\n")
    report = looked_at(one.state.note())
    for text in ("\n\nBUG\nx\n", "\n\n\nBUG\nx\n"):
        one.edit(text)
        one.state.note()
    one.state.take(report)
    assert one.state.found is None and one.follow() == [("BUG", 3)]


def test_what_comes_early_is_replaced_and_never_replaces() -> None:
    one = Open("BUG\nGUESS\n")
    early = looked_at(one.state.note(), only=["BUG"])
    assert one.state.take_early(early) and one.state.is_early
    assert one.state.found is one.state.meanwhile is one.state.shown is early
    one.state.end_early()
    assert one.state.shown is None and not one.state.is_early
    report = one.take()
    assert not one.state.take_early(early) and one.state.shown is report


def test_what_comes_early_for_a_text_that_is_gone_is_not_taken() -> None:
    one = Open("BUG\n")
    early = looked_at(one.state.note())
    one.edit("x\n")
    assert not one.state.take_early(early) and not one.state.is_early


def test_findings_of_rules_that_failed_stay() -> None:
    one = Open("BUG\nGUESS\n")
    one.take()
    one.edit("\nBUG\nGUESS\n")
    without = looked_at(one.state.note(), only=["GUESS"])
    whole = one.state.completed(without, frozenset({"fake-bug"}), NOBODY, CLIENT)
    assert lines(whole) == [("GUESS", 2), ("BUG", 1)]
    assert whole is not None and [one.fixable for one in whole.findings] == [True, False], "it cannot be repaired"
    assert one.state.completed(without, frozenset(), NOBODY, CLIENT) is without
    assert lines(one.state.completed(without, frozenset({"fake-stu"}), NOBODY, CLIENT)) == [("GUESS", 2)]
    assert ("BUG", 1) in lines(one.state.completed(without, frozenset({""}), NOBODY, CLIENT)), "it may be any rule"


def test_where_rules_failed_in_a_text_that_is_gone_the_last_report_stays() -> None:
    one = Open("BUG\n")
    one.take()
    failed = looked_at(one.state.note(), only=())
    one.edit("\nBUG\n")
    assert one.state.completed(failed, frozenset({""}), NOBODY, CLIENT) is None
    assert one.follow() == [("BUG", 1)]


def test_who_still_waits_for_a_closed_document_gets_nothing() -> None:
    one = Open("BUG\n")
    one.state.messages(one.take())
    one.follow()
    assert [(params.uri, list(params.diagnostics)) for params in one.state.close()] == [(URI, [])]
    assert one.state.found is one.state.shown is one.state.follow(NOBODY, CLIENT) is None


# --- what the client has ----------------------------------------------------------------------------------------------


def test_a_client_that_does_not_pull_is_sent_what_is_new() -> None:
    one = Open("BUG\n")
    report = one.take()
    (sent,) = one.state.messages(report)
    assert (sent.uri, sent.version, len(sent.diagnostics)) == (URI, 1, 1)
    assert one.state.messages(report) == []
    one.edit("\nBUG\n")
    (sent,) = one.state.messages(one.take())
    assert sent.version == 2


def notebook(*texts: str) -> tuple[Documents, DocumentState]:
    documents = Documents()
    items = [types.TextDocumentItem(f"cell:{n}", "python", 1, text) for n, text in enumerate(texts)]
    cells = [types.NotebookCell(types.NotebookCellKind.Code, item.uri) for item in items]
    uri = PATH.with_suffix(".ipynb").as_uri()
    opened = documents.open_notebook(types.NotebookDocument(uri, "jupyter-notebook", 1, cells), items)
    return documents, DocumentState(opened)


def drop_last_cell(documents: Documents, book: Notebook) -> None:
    array = types.NotebookCellArrayChange(start=len(book.order) - 1, delete_count=1, cells=[])
    gone = types.TextDocumentIdentifier(book.order[-1].document)
    structure = types.NotebookDocumentCellChangeStructure(array, did_close=[gone])
    change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure))
    identifier = types.VersionedNotebookDocumentIdentifier(version=2, uri=book.uri)
    assert documents.change_notebook(types.DidChangeNotebookDocumentParams(identifier, change)) is book


def test_cells_that_are_gone_lose_what_they_were_sent() -> None:
    documents, state = notebook("BUG", "BUG")
    state.messages(looked_at(state.note()))
    assert isinstance(state.document, Notebook)
    drop_last_cell(documents, state.document)
    sent = {params.uri: len(params.diagnostics) for params in state.messages(looked_at(state.note()))}
    assert sent == {"cell:1": 0}, "the other one shows what it shall"


def test_a_pull_is_outdated_by_other_diagnostics_of_the_same_version() -> None:
    one = Open("BUG\nGUESS\n")
    early = looked_at(one.state.note(), only=["BUG"])
    one.state.take_early(early)
    told = one.state.answered(URI, early)
    assert not one.state.is_answer_outdated()
    one.state.end_early()
    report = one.take()
    assert one.state.is_answer_outdated()
    assert one.state.answered(URI, report) != told and not one.state.is_answer_outdated()


@pytest.mark.parametrize("reopened", [False, True])
def test_what_is_edited_or_opened_again_is_pulled_without_being_asked(reopened: bool) -> None:
    one = Open("BUG\n")
    one.state.answered(URI, one.take())
    (one.reopen if reopened else one.edit)("x\n")
    one.take()
    assert not one.state.is_answer_outdated()


def test_any_finding_outdates_the_answer_that_nothing_is_known() -> None:
    one = Open("x\n")
    one.state.answered(URI, None)
    assert not one.state.is_answer_outdated(), "there is nothing to say yet"
    one.take()
    assert not one.state.is_answer_outdated()
    one.edit("BUG\n")
    one.take()
    assert one.state.is_answer_outdated()
    one.state.forget_answers(URI)
    assert not one.state.is_answer_outdated(), "it is being asked about"


def test_an_answer_about_a_cell_that_is_gone_is_never_outdated() -> None:
    documents, state = notebook("BUG", "BUG")
    report = looked_at(state.note())
    state.take(report)
    for uri in state.document.uris:
        state.answered(uri, report)
    assert isinstance(state.document, Notebook)
    drop_last_cell(documents, state.document)
    state.take(looked_at(state.note()))
    assert not state.is_answer_outdated()
