"""`loaderlint/checkWorkspace`: check all files now and show their findings, even if the setting `diagnosticMode` is
`openFilesOnly`; `loaderlint/showOpenFilesOnly` undoes that.

From then on the findings of all files are updated as with `diagnosticMode: workspace`: they disappear when they are
fixed. If they were published only once, they would be wrong after the next edit. A client that pulls diagnostics gets
them with its next `workspace/diagnostic`; for all others they are pushed."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loaderlint.lsp import pull_diagnostics
from loaderlint.lsp.protocol_diagnostics import cleared, result_id

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

CHECK = "loaderlint/checkWorkspace"
OPEN_ONLY = "loaderlint/showOpenFilesOnly"


async def check_workspace(ls: Server, params: Any) -> dict[str, object]:
    """Check all files; `{findings, files, message}` says how many findings there are, and in how many files. As on the
    command line and in VS Code's list of problems, hints do not count. Progress is shown under `workDoneToken`, or
    under a token of the server if the client supports it. If cancelled, it changes nothing."""
    token = getattr(params, "workDoneToken", None) or await shown_token(ls)
    with pull_diagnostics.shown_progress(ls, token) as progress:
        reports = await pull_diagnostics.everything(ls, progress)
    ls.workspace_by_request = True
    ls.analysis.news.send()
    hint = types.DiagnosticSeverity.Hint
    found = [sum(one.severity != hint for one in report.shown) for report in reports.values()]
    findings, files = sum(found), sum(count > 0 for count in found)
    return {"findings": findings, "files": files, "message": _message(findings, files)}


def _message(findings: int, files: int) -> str:
    if not findings:
        return "loaderlint: no findings in the workspace"
    what, where = "finding" + "s" * (findings != 1), "file" + "s" * (files != 1)
    return f"loaderlint: {findings} {what} in {files} {where}; from now on the findings of all files are shown"


def show_open_files_only(ls: Server, _: Any) -> None:
    """Undo `loaderlint/checkWorkspace`: the setting `diagnosticMode` decides again."""
    ls.workspace_by_request = False
    ls.analysis.news.send()


async def shown_token(ls: Server) -> str | None:
    """Ask the client to show the progress of a check that came without a token; None if it cannot."""
    if not ls.client.shows_progress:
        return None
    token = str(uuid.uuid4())
    try:
        await ls.work_done_progress.create_async(token)
    except Exception as error:
        logger.warning("the client shows no progress: %s", error)
        return None
    return token


async def follow(ls: Server) -> None:
    """Push the diagnostics of files that are not open to a client that does not pull, as long as they are wanted.
    `ShownDocuments` sends those of open documents."""
    while True:
        try:
            reports = await pull_diagnostics.found(ls, pull_diagnostics.silent)
        except Exception:
            logger.exception("the workspace could not be checked")
        else:
            _send(ls, {uri: report for uri, report in reports.items() if report.version is None})
        await ls.analysis.news.wait()


def _send(ls: Server, unopened: dict[str, pull_diagnostics.FileReport]) -> None:
    for uri in ls.unopened.keys() - unopened.keys():
        if ls.documents.get(uri) is None or pull_diagnostics.is_open_notebook(ls, uri):
            ls.text_document_publish_diagnostics(cleared(uri))
    now = {uri: result_id(report.shown) for uri, report in unopened.items()}
    for uri, report in unopened.items():
        if ls.unopened.get(uri) != now[uri]:
            shown = types.PublishDiagnosticsParams(uri=uri, diagnostics=list(report.shown))
            ls.text_document_publish_diagnostics(shown)
    ls.unopened = now


def register(server: Server) -> None:
    """Offer the requests."""
    server.feature(CHECK)(check_workspace)
    server.feature(OPEN_ONLY)(show_open_files_only)
