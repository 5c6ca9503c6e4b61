"""`loaderlint/workers`: the worker map as `loaderlint workers` prints it, of a document or of the whole workspace.

Takes `{textDocument}` (a file, a notebook or one of its cells) or nothing, and `format`; answers `{text, folder}`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderlint.lsp.custom_requests import (
    NOT_ANSWERED,
    Refusal,
    answer,
    base_of,
    cells_of,
    document_uri,
    wants_markdown,
)
from loaderlint.lsp.markdown import map_of_workers
from loaderlint.lsp.text_formats import as_markdown
from loaderlint.lsp.uris import known_path_of

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

WORKERS = "loaderlint/workers"


async def workers(ls: Server, params: Any) -> dict[str, object]:
    """The worker map of a file, or of the whole workspace. Raises Refusal if the document is not a file, or if there is
    neither a document nor a folder."""
    path = _path(ls, document_uri(params))
    if path is None and not ls.folders:
        raise Refusal("no folder is open; open one, or ask about a file")
    await ls.analysis.begun.wait()
    await ls.analysis.settled()
    cells, base = cells_of(ls.shown.snapshots()), base_of(path, ls.folders)
    lines = await ls.engine.try_asking(lambda workspace: workspace.answer(map_of_workers, path, cells, base))
    if lines is None:
        raise Refusal(NOT_ANSWERED)
    return answer(["# Worker map", "", *as_markdown(lines)] if wants_markdown(params) else lines, base)


def _path(ls: Server, uri: str | None) -> Path | None:
    """The file of the request; None for the whole workspace."""
    if uri is None:
        return None
    document = ls.documents.get(uri)
    path = document.path if document is not None else known_path_of(uri)
    if path is None or (document is not None and not document.analysed):
        raise Refusal("loaderlint analyses saved Python files and notebooks; this is neither")
    return path


def register(server: Server) -> None:
    """Offer the request."""
    server.feature(WORKERS)(workers)
