"""`loaderlint/status`: whether everything that is known about a document has been checked.

A client that sets `status` in its initialization options gets notifications `{uri, version, settled}`. As a request
with `{uri}` it is answered at once, with `{uri, wait: true}` when the analysis is complete. Tests need no other way to
wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from loaderlint.lsp.documents import Document, Notebook

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

STATUS = "loaderlint/status"


async def status(ls: Server, params: Any) -> dict[str, object]:
    """Whether everything that is known about a document has been checked, answered at once or (with `wait`) when it has
    been; `version` is None if the document is not open.

    Raises JsonRpcInvalidParams if `params` has no `uri`."""
    uri = getattr(params, "uri", None)
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("'uri' is missing")
    if getattr(params, "wait", False):
        await ls.analysis.settled()
    document = ls.documents.get(uri)
    version = None if document is None else document.version
    return {"uri": uri, "version": version, "settled": ls.analysis.is_settled}


def announce(ls: Server, document: Document | Notebook, settled: bool) -> None:
    """Notify the client, if it wants that, whether everything that is known about a document has been checked."""
    if ls.client.status:
        ls.protocol.notify(STATUS, {"uri": document.uri, "version": document.version, "settled": settled})


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(STATUS)(status)
