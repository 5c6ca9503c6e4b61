"""Code lenses at each loader: how many workers it has, how much runs in them, and what is copied into each. In a
program, there is a second one, which audits the loader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Part, Snapshot
from loaderlint.lsp.markdown import titles
from loaderlint.lsp.text_positions import Span

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

#: The command that a client runs when the lens is clicked; if the client does not know it, the lens is only text.
SHOW = "loaderlint.showWorkerMap"
#: A client that knows this command runs `loaderlint audit` on a file. Nothing else in the server starts an audit.
AUDIT = "loaderlint.audit"

_MAIN_GUARD = re.compile(r"^if __name__\b", re.MULTILINE)


async def code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """The lenses at each loader of a document or cell; None if nothing is known about this version of it."""
    report = await ls.analysis.settled_report(params.text_document.uri)
    if report is None:
        return None
    snapshot = report.snapshot
    found = await ls.engine.try_asking(lambda workspace: workspace.answer(titles, snapshot.path))
    lenses = []
    for span, title in found or ():
        part = snapshot.part_at(span.line)
        if part.uri == params.text_document.uri:
            place = part.range(span, ls.client.encoding)
            lenses += [types.CodeLens(place, command) for command in _commands(title, span, part, snapshot, ls.client)]
    return lenses


def _commands(title: str, span: Span, part: Part, snapshot: Snapshot, client: Client) -> Iterator[types.Command]:
    yield types.Command(title=title, command=SHOW if client.knows(SHOW) else "", arguments=[part.uri])
    if client.knows(AUDIT) and _is_run(span, snapshot):
        yield types.Command(title="Audit this loader", command=AUDIT, arguments=[part.uri])


def _is_run(span: Span, snapshot: Snapshot) -> bool:
    """Whether the file that makes a loader is a program: it has a main guard, or makes the loader when it is imported.
    A notebook is not a program."""
    if snapshot.cells is not None:
        return False
    return not snapshot.lines[span.line][:1].isspace() or _MAIN_GUARD.search(snapshot.text) is not None


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))(code_lens)
