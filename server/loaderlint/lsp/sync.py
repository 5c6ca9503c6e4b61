"""The editor's documents come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """A document was opened."""
    ls.analysis.opened(ls.documents.open(params.text_document))


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """A document was edited."""
    identifier = params.text_document
    document = ls.documents.change(identifier.uri, identifier.version, params.content_changes)
    if document is not None:
        ls.analysis.changed(document)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """A document was closed."""
    document = ls.documents.close(params.text_document.uri)
    if document is not None:
        ls.analysis.closed(document)


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(did_close)
