"""One code lens a loader: how many workers it has, how much runs in them, and what is copied into each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp.markdown import titles

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

#: What a client that knows this command does when the lens is clicked; for others it is a line of text.
SHOW = "loaderlint.showWorkerMap"


async def code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """One lens at each loader of a document or cell; None if nothing is known about this version of it."""
    report = await ls.analysis.settled_report(params.text_document.uri)
    if report is None:
        return None
    snapshot = report.snapshot
    found = await ls.engine.try_asking(lambda workspace: workspace.answer(titles, snapshot.path))
    lenses = []
    for span, title in found or ():
        part = snapshot.part_at(span.line)
        if part.uri == params.text_document.uri:
            command = types.Command(title=title, command=SHOW if ls.client.knows(SHOW) else "", arguments=[part.uri])
            lenses.append(types.CodeLens(range=part.range(span, ls.client.encoding), command=command))
    return lenses


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))(code_lens)
