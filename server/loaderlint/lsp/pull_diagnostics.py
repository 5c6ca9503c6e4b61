"""Diagnostics for clients that pull them: of a document, and of the whole workspace.

Each client gets its diagnostics in one way: nothing is pushed to a client that pulls (`Client.pulls`). A request for
the workspace is answered only when there is something new, because clients pull again as soon as they have an answer.
Files that are not open are reported only if the user wants that (`Server.shows_workspace`).

The cells of a notebook are documents only while it is open. The findings of a notebook that is not open are reported
under the URI of its file, at the beginning; their messages name the cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec import Struct

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Notebook, Snapshot
from loaderlint.lsp.engine_jobs import Texts
from loaderlint.lsp.failure_log import costs_findings
from loaderlint.lsp.protocol import Superseded
from loaderlint.lsp.protocol_diagnostics import SOURCE, all_shown, result_id
from loaderlint.lsp.uris import known_path_of, uri_of
from loaderlint.syntax.notebook import SUFFIX, in_cell

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

OPTIONS = types.DiagnosticOptions(identifier=SOURCE, inter_file_dependencies=True, workspace_diagnostics=True)

#: Called by `Workspace.check` with the number of files that are done, and the total.
Progress = Callable[[int, int], None]


class AskAgain(Superseded):
    """The document was edited while it was being checked; the client should pull again."""

    CODE = types.LSPErrorCodes.ServerCancelled.value

    def __init__(self) -> None:
        super().__init__(data={"retriggerRequest": True})


async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The diagnostics of the document as it is now. Raises AskAgain if it is edited meanwhile."""
    uri = params.text_document.uri
    state = ls.shown.asked(uri)
    if state is None:
        ls.let_go.add(uri)
        ls.analysis.news.send()
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    if not state.document.analysed:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    at = state.document.at
    report = await ls.analysis.looked_at(state)
    if ls.shown.state(uri) is not state or state.document.at != at:
        raise AskAgain()
    answer = state.answered(uri, report)
    if report is None:  # it has never been checked successfully
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    items = report.shown_in(uri)
    if answer == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=answer)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=answer)


# --- the workspace ----------------------------------------------------------------------------------------------------


class FileReport(Struct, frozen=True):
    """The findings in one file. `version`: that of the document or notebook, None if it is not open."""

    uri: str
    version: int | None
    shown: tuple[types.Diagnostic, ...]

    def told(self) -> types.WorkspaceFullDocumentDiagnosticReport:
        """The report as a protocol object."""
        return types.WorkspaceFullDocumentDiagnosticReport(
            uri=self.uri, items=list(self.shown), version=self.version, result_id=result_id(self.shown)
        )


async def workspace_diagnostic(ls: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """The diagnostics of all files where they differ from the client's; waits until there are some."""
    known = {_spelled(ls, previous.uri): previous.value for previous in params.previous_result_ids}
    with shown_progress(ls, params.work_done_token) as progress:
        reports = await found(ls, progress)
    while not (news := list(_news(ls, reports, known | {_spelled(ls, uri): "" for uri in ls.let_go}))):
        await ls.analysis.news.wait()
        reports = await found(ls, silent)
    ls.let_go.clear()
    return types.WorkspaceDiagnosticReport(items=news)


async def found(ls: Server, progress: Progress) -> dict[str, FileReport]:
    """The files with findings, by URI; none unless the user wants to see files that are not open."""
    return await everything(ls, progress) if ls.shows_workspace else {}


async def everything(ls: Server, progress: Progress) -> dict[str, FileReport]:
    """The current files with findings, by URI. Starts again if something changes meanwhile."""
    while True:
        await ls.analysis.begun.wait()
        await ls.analysis.settled()
        question = partial(_everything, ls.shown.snapshots(), ls.client, progress, ls.last_reports)
        answer = await ls.engine.ask_aside(question)
        if answer is not None:
            ls.last_reports = answer
            return answer


def _everything(
    snapshots: Sequence[Snapshot],
    client: Client,
    progress: Progress,
    last: Mapping[str, FileReport],
    workspace: Workspace,
    stop: Callable[[], bool],
) -> dict[str, FileReport]:
    """The reports of all files with findings, by URI; if findings may be missing because of an internal error, the
    `last` reports of files without findings now stay. Runs on the worker's thread."""
    opened = {snapshot.path: snapshot for snapshot in snapshots}
    places = Texts(workspace, snapshots, client.encoding)
    reports: dict[str, FileReport] = {}
    for path, findings in workspace.check(stop=stop, progress=progress).items():
        if not findings:
            continue
        uri, version = (opened[path].uri, opened[path].version) if path in opened else (uri_of(path), None)
        found = tuple(all_shown(findings, places, client))
        if path.suffix == SUFFIX and version is None:
            starts = workspace.cells(path)
            for one, finding in zip(found, findings, strict=True):
                one.message = f"{in_cell(starts, finding.span.line)}{one.message}"
        reports[uri] = FileReport(uri, version, found)
    if any(map(costs_findings, workspace.problems)):
        return {**last, **reports}
    return reports


def _news(
    ls: Server, reports: Mapping[str, FileReport], known: Mapping[str, str]
) -> Iterator[types.WorkspaceDocumentDiagnosticReport]:
    """The reports that the client does not have yet, and empty ones for those to remove. The client pulls the cells of
    open notebooks separately."""
    to_tell = {uri: report for uri, report in reports.items() if not is_open_notebook(ls, uri)}
    for uri, report in to_tell.items():
        if known.get(uri) != result_id(report.shown):
            yield report.told()
    nothing = result_id(())
    for uri in known.keys() - to_tell.keys():
        if known[uri] != nothing and not _asked_about_alone(ls, uri):
            yield FileReport(uri, None, ()).told()


def _spelled(ls: Server, uri: str) -> str:
    """A client's URI in the spelling of our reports: that with which the client opened the document, or our own for any
    other file. VS Code on Windows writes `file:///c%3A/x.py` where we write `file:///C:/x.py`."""
    document = ls.documents.get(uri)
    if document is not None:
        return uri if isinstance(document, Notebook) else document.uri
    path = known_path_of(uri)
    return uri if path is None else uri_of(path)


def _asked_about_alone(ls: Server, uri: str) -> bool:
    """Whether the client's result id of a text comes from a pull of that document and not of the workspace: VS Code
    also sends the result ids of open texts, and would pull again every two seconds if the answer contradicted them."""
    document = ls.documents.get(uri)
    if document is None or is_open_notebook(ls, uri):
        return False
    return isinstance(document, Notebook) or not ls.shows_workspace


def is_open_notebook(ls: Server, uri: str) -> bool:
    """Whether a notebook (not one of its cells) is open under `uri`. Its findings are shown in its cells."""
    document = ls.documents.get(uri)
    return isinstance(document, Notebook) and document.uri == uri


def silent(done: int, total: int) -> None:
    """Progress that is not shown."""


@contextmanager
def shown_progress(ls: Server, token: types.ProgressToken | None) -> Iterator[Progress]:
    """Show the progress of the check of the workspace, if the client gave a token for it."""
    if token is None:
        yield silent
        return
    loop, percents = asyncio.get_running_loop(), [-1]

    def show(percent: int) -> None:
        ls.work_done_progress.report(token, types.WorkDoneProgressReport(percentage=percent))

    def progress(done: int, total: int) -> None:  # on the worker's thread, once per file
        percent = 100 * done // total
        if percent > percents[0]:
            percents[0] = percent
            loop.call_soon_threadsafe(show, percent)

    begin = types.WorkDoneProgressBegin(title="loaderlint: checking the workspace", cancellable=True, percentage=0)
    ls.work_done_progress.begin(token, begin)
    if (task := asyncio.current_task()) is not None:
        ls.work_done_progress.tokens[token].add_done_callback(lambda _: task.cancel())
    try:
        yield progress
    finally:
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
        ls.work_done_progress.tokens.pop(token, None)


def register(server: Server) -> None:
    """Offer the feature; only to a client that pulls."""
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, OPTIONS)(diagnostic)
    server.feature(types.WORKSPACE_DIAGNOSTIC)(workspace_diagnostic)
