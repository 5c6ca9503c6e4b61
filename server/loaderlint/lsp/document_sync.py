"""Keeps the documents in step with the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

#: Every notebook with its Python cells. Naming only the cells (`NotebookDocumentFilterWithCells`) breaks clients that
#: are written with cattrs 25.3 and newer.
NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(notebook="*", cells=[types.NotebookCellLanguage(language="python")])
    ]
)

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """A document was opened."""
    ls.unopened.pop(params.text_document.uri, None)
    ls.analysis.opened(ls.documents.open(params.text_document))


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """A document was edited: whole texts or ranges, for one version after the other."""
    identifier = params.text_document
    document = ls.documents.change(identifier.uri, identifier.version, params.content_changes)
    if document is not None:
        ls.analysis.changed(document)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """A document was closed."""
    document = ls.documents.close(params.text_document.uri)
    if document is not None:
        ls.analysis.closed(document)


def did_open_notebook(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    """A notebook was opened."""
    ls.analysis.opened(ls.documents.open_notebook(params.notebook_document, params.cell_text_documents))


def did_change_notebook(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    """Cells of a notebook were added, removed, moved or edited."""
    notebook = ls.documents.change_notebook(params)
    if notebook is not None:
        ls.analysis.changed(notebook)


def did_close_notebook(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    """A notebook was closed."""
    notebook = ls.documents.close(params.notebook_document.uri)
    if notebook is not None:
        ls.analysis.closed(notebook)


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(did_close)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(did_open_notebook)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(did_change_notebook)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(did_close_notebook)
