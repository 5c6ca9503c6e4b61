"""`loaderlint/explain`: the explanation of a line in the editor's text, as `loaderlint explain FILE:LINE` prints it.

Takes the parameters of a hover (`textDocument`, `position`), and `format`; answers `{text, folder}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from loaderlint.lsp.custom_requests import (
    NOT_ANSWERED,
    Refusal,
    answer,
    base_of,
    cells_of,
    document_uri,
    position,
    wants_markdown,
)
from loaderlint.lsp.markdown import explanation
from loaderlint.lsp.protocol import ContentModified
from loaderlint.lsp.text_formats import as_markdown, code_block

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

EXPLAIN = "loaderlint/explain"


async def explain(ls: Server, params: Any) -> dict[str, object]:
    """The explanation of a line of an open document. Raises Refusal if it is not analysed or the line has no code,
    ContentModified if it is edited meanwhile."""
    at, uri = position(params), document_uri(params)
    document = ls.documents.get(uri) if uri is not None else None
    if uri is None or document is None or not document.analysed:
        raise Refusal("loaderlint can explain Python files and notebooks that are open and saved")
    asked_at = document.at
    report = await ls.analysis.settled_report(uri)
    if document.at != asked_at:
        raise ContentModified()
    if report is None:
        raise Refusal("loaderlint could not analyse this file; see its log")
    snapshot, snapshots = report.snapshot, ls.shown.snapshots()
    place = snapshot.place(uri, at, ls.client.encoding)
    if place is None:
        raise Refusal("there is no Python code on this line")
    base = base_of(snapshot.path, ls.folders)
    cells = cells_of(snapshots)
    path, line = snapshot.path, place[0]
    lines = await ls.engine.try_asking(lambda workspace: workspace.answer(explanation, path, line, cells, base))
    if lines is None:
        raise Refusal(NOT_ANSWERED)
    return answer(_markdown(lines) if wants_markdown(params) else lines, base)


def _markdown(lines: Sequence[str]) -> Iterator[str]:
    """An explanation as Markdown. Its first line is the place and its line of code; or it is one line that says why
    there is none."""
    first, *others = lines
    if not others:
        yield from as_markdown(lines)
        return
    place, _, source = first.partition(": ")
    yield f"# {place.rstrip(':')}"
    if source:
        yield from ("", *code_block(source))
    yield from as_markdown(others)


def register(server: Server) -> None:
    """Offer the request."""
    server.feature(EXPLAIN)(explain)
