"""Shared code of loaderlint's own requests (`loaderlint/...`): they accept parameters as defined by the protocol, and
answer with a text for users, which an editor shows unchanged. It is plain text, or Markdown if `format` is
`markdown`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from loaderlint.files.symlinks import known_as
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.uris import uri_of

NOT_ANSWERED = "loaderlint cannot answer: an internal error, which the log shows"


class Refusal(JsonRpcException):
    """The question cannot be answered; the message says what to do."""

    CODE = types.LSPErrorCodes.RequestFailed.value
    MESSAGE = "this question cannot be answered"


def document_uri(params: Any) -> str | None:
    """The URI of `textDocument` in the parameters; None if there is none."""
    uri = getattr(getattr(params, "textDocument", None), "uri", None)
    return uri if isinstance(uri, str) else None


def position(params: Any) -> types.Position:
    """The `position` in the parameters, in the client's units. Raises JsonRpcInvalidParams if there is none."""
    given = getattr(params, "position", None)
    line, character = getattr(given, "line", None), getattr(given, "character", 0)
    if not isinstance(line, int) or not isinstance(character, int) or line < 0 or character < 0:
        raise JsonRpcInvalidParams("'position' is missing")
    return types.Position(line=line, character=character)


def wants_markdown(params: Any) -> bool:
    """Whether the client wants the text as Markdown."""
    return getattr(params, "format", None) == "markdown"


def base_of(path: Path | None, folders: Sequence[Path]) -> Path | None:
    """The folder that paths in a text are relative to: the innermost workspace folder around `path`, else the file's
    own folder; without a path, the only workspace folder, None if there are several."""
    if path is None:
        return known_as(folders[0]) if len(folders) == 1 else None
    around = [folder for folder in map(known_as, folders) if path.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts)) if around else path.parent


def cells_of(snapshots: Iterable[Snapshot]) -> dict[Path, tuple[int, ...]]:
    """The lines at which the cells of the open notebooks begin."""
    return {one.path: tuple(part.start for part in one.cells) for one in snapshots if one.cells is not None}


def answer(lines: Iterable[str], base: Path | None) -> dict[str, object]:
    """The answer: `text`, and in `folder` the URI of the folder that its paths are relative to."""
    return {"text": "\n".join(lines) + "\n", "folder": uri_of(base) if base else None}
