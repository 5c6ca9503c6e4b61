"""Everything that involves more than one document: places in others, a file under several URIs, pulls before a document
is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from lsprotocol import types
from msgspec.structs import replace

from loaderlint.lsp import refreshes
from loaderlint.lsp.documents import Documents, Snapshot
from loaderlint.lsp.protocol_diagnostics import Report, report_of
from loaderlint.lsp.shown_documents import ShownDocuments
from loaderlint.lsp.text_positions import Span
from tests.lsp.fake_engine import FakeBackend, FakeWorkspace

A, B = (Path(f"/project/{name}.py").absolute() for name in "ab")


class Window:
    """Open documents, and what a client gets about them."""

    def __init__(self, pulls: bool = False) -> None:
        self.documents = Documents()
        self.sent: dict[str, list[types.Diagnostic]] = {}
        self.refreshes = 0
        self.shown = ShownDocuments(self.documents, self._publish, self._refresh)
        self.shown.client = replace(self.shown.client, pulls=pulls, related_information=True)

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self.sent[params.uri] = list(params.diagnostics)

    def _refresh(self) -> None:
        self.refreshes += 1

    def open(self, path: Path, text: str) -> None:
        self.shown.opened(self.documents.open(types.TextDocumentItem(path.as_uri(), "python", 1, text)))

    def edit(self, path: Path, text: str) -> None:
        whole = types.TextDocumentContentChangeWholeDocument(text)
        state = self.shown.state(path.as_uri())
        assert state is not None
        self.documents.change(path.as_uri(), state.document.version + 1, [whole])
        self.shown.edited(state.document)

    def close(self, path: Path) -> None:
        document = self.documents.close(path.as_uri())
        assert document is not None
        self.shown.closed(document)

    def reports(self, snapshots: Collection[Snapshot]) -> list[Report]:
        """The reports of the tiny engine on these texts."""
        workspace = FakeWorkspace(FakeBackend(), (), {})
        for snapshot in snapshots:
            workspace.set_text(snapshot.path, snapshot.text)
        found = workspace.check([snapshot.path for snapshot in snapshots])
        return [
            report_of(one, found[one.path], (), places, self.shown.client)  # type: ignore[arg-type]
            for one in snapshots
        ]

    def look(self, meanwhile: Callable[[], None] = lambda: None, only: Collection[Path] = (A, B)) -> None:
        """Check these files; `meanwhile` may do something during the check."""
        snapshots = [snapshot for snapshot in self.shown.noted() if snapshot.path in only]
        reports = self.reports(snapshots)
        meanwhile()
        self.shown.take(reports, frozenset())

    def related(self, path: Path) -> list[tuple[str, int]]:
        """The places of related information that the client gets."""
        related = [one for shown in self.sent[path.as_uri()] for one in shown.related_information or ()]
        return [(one.location.uri, one.location.range.start.line) for one in related]


def places(path: Path, span: Span) -> types.Location:
    start, end = types.Position(span.line, span.column), types.Position(span.end_line, span.end_column)
    return types.Location(path.as_uri(), types.Range(start, end))


def window_of(scenario: Callable[[Window], None], *, pulls: bool = False) -> Window:
    async def run() -> Window:
        window = Window(pulls)
        scenario(window)
        return window

    return asyncio.run(run())


def test_reasons_in_other_documents_move_with_their_text() -> None:
    def scenario(window: Window) -> None:
        window.open(A, "FAR(b.py)\n")
        window.open(B, "loader\n")
        window.look()
        assert window.related(A) == [(B.as_uri(), 0)]
        window.edit(B, "\nloader\n")
        window.shown.show(window.shown)
        window.edit(A, "\nFAR(b.py)\n")
        window.shown.show(window.shown)
        assert window.related(A) == [(B.as_uri(), 1)]

    window_of(scenario)


def test_what_was_edited_while_the_engine_looked_is_followed_in_all_documents() -> None:
    def scenario(window: Window) -> None:
        window.open(A, "FAR(b.py)\n")
        window.open(B, "loader\n")
        window.look()
        window.edit(B, "\nloader\n")

        def meanwhile() -> None:
            window.edit(A, "\nFAR(b.py)\n")
            window.shown.show(window.shown)

        window.look(meanwhile)
        assert window.related(A) == [(B.as_uri(), 0)], "the answer is about the text of b.py with the new line"

    window_of(scenario)


@pytest.mark.parametrize(("closed", "opened"), [(True, False), (True, True), (False, True)])
def test_a_report_of_a_document_that_was_closed_or_opened_again_is_dropped(closed: bool, opened: bool) -> None:
    def scenario(window: Window) -> None:
        window.open(A, "BUG\n")

        def meanwhile() -> None:
            if closed:
                window.close(A)
            if opened:
                window.open(A, "\nBUG\n")

        window.look(meanwhile)
        assert not window.sent.get(A.as_uri())
        state = window.shown.state(A.as_uri())
        assert (state is not None) is opened and (state is None or state.found is None)
        window.look()
        assert len(window.sent.get(A.as_uri(), ())) == opened

    window_of(scenario)


def test_what_is_closed_shows_nothing() -> None:
    def scenario(window: Window) -> None:
        window.open(A, "BUG\n")
        window.look()
        assert len(window.sent[A.as_uri()]) == 1
        window.close(A)
        assert window.sent[A.as_uri()] == []

    window_of(scenario)


def test_what_could_not_be_looked_at_keeps_what_stands_of_its_last_findings() -> None:
    def scenario(window: Window) -> None:
        for path in (A, B):
            window.open(path, "BUG\n")
        window.look()
        for path in (A, B):
            window.edit(path, "\nBUG\n")
        window.look(only=[B])
        window.shown.settle()
        lines = {uri: [one.range.start.line for one in shown] for uri, shown in window.sent.items()}
        assert lines == {A.as_uri(): [1], B.as_uri(): [1]}
        states = [window.shown.state(path.as_uri()) for path in (A, B)]
        assert [state is not None and state.found is not None for state in states] == [False, True]

    window_of(scenario)


def test_of_a_file_under_several_names_the_one_counts_that_was_edited_last(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    (real / "a.py").write_text("x\n")
    try:
        link.symlink_to(real, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")

    def texts(window: Window) -> list[str]:
        return [snapshot.text for snapshot in window.shown.snapshots()]

    def scenario(window: Window) -> None:
        window.open(real / "a.py", "one\n")
        window.open(link / "a.py", "two\n")
        assert texts(window) == ["two\n"]
        window.edit(real / "a.py", "three\n")
        assert texts(window) == ["three\n"] and len(window.shown.noted()) == 2
        other = next(one for one in window.shown.noted() if one.text == "two\n")
        assert [one.text for one in window.shown.snapshots(other)] == ["three\n"], "it is another text"
        window.edit(link / "a.py", "three\n")
        first = next(one for one in window.shown.noted() if one.uri == (real / "a.py").as_uri())
        assert window.shown.snapshots(first) == (first,), "it is the very same text"
        window.close(link / "a.py")
        assert [one.uri for one in window.shown.snapshots()] == [first.uri]

    window_of(scenario)


@pytest.mark.parametrize("asked_again", [False, True])
def test_a_pull_that_came_before_the_document_was_open_is_outdated_by_its_findings(
    asked_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshes, "APART", 0.0)

    def scenario(window: Window) -> None:
        assert window.shown.asked(A.as_uri()) is None
        window.open(A, "BUG\n")
        if asked_again:
            state = window.shown.asked(A.as_uri())
            assert state is not None
        window.look()
        assert window.refreshes == (0 if asked_again else 1)
        window.look()
        assert window.refreshes == (0 if asked_again else 1), "it pulls everything now"

    window_of(scenario, pulls=True)


def test_early_findings_are_shown_until_the_engine_has_looked() -> None:
    def scenario(window: Window) -> None:
        window.open(A, "BUG\nGUESS\n")
        (whole,) = window.reports(window.shown.noted())
        early = replace(whole, findings=whole.findings[:1], shown=whole.shown[:1], uris=whole.uris[:1])
        window.shown.take_early([early])
        assert len(window.sent[A.as_uri()]) == 1 and window.shown.has_early
        window.shown.end_early()
        window.shown.take([whole], frozenset())
        assert len(window.sent[A.as_uri()]) == 2 and not window.shown.has_early

    window_of(scenario)
