"""Repairs of the engine as workspace edits. Made on the worker's thread from snapshots of the open documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsprotocol import types

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.client import Client
from loaderlint.lsp.documents import Documents, Snapshot
from loaderlint.lsp.text import Encoding, Span, split_lines, to_range
from loaderlint.lsp.uris import uri_of


class TextEdit(Protocol):
    """Replace what stands at `span` by `text`."""

    @property
    def span(self) -> Span: ...
    @property
    def text(self) -> str: ...


class FileEdit(Protocol):
    """Edits of one file: sorted, not overlapping, all about the text as it is now."""

    @property
    def path(self) -> Path: ...
    @property
    def edits(self) -> Sequence[TextEdit]: ...


class Outdated(Exception):
    """A file is no longer what the repair was made for."""


@dataclass(frozen=True, slots=True)
class Change:
    """A workspace edit and the open documents that it holds for, each at exactly this version."""

    edit: types.WorkspaceEdit
    touches: tuple[Snapshot, ...]

    def holds(self, documents: Documents) -> bool:
        """Whether all these documents are still open at their versions."""
        return all(
            (document := documents.get(snapshot.uri)) is not None and document.is_at(snapshot)
            for snapshot in self.touches
        )


def change(
    files: Sequence[FileEdit], workspace: Workspace, snapshots: Sequence[Snapshot], client: Client, confirm: str | None
) -> Change | None:
    """The edits of `files` in the client's words, None if there are none.

    `confirm`: what an edit to a file that is not open says when the client can ask for confirmation, None to never ask.
    Raises `Outdated` if a file that is not open has changed on disk."""
    files = [file for file in files if file.edits]
    if not files:
        return None
    is_open = {snapshot.path: snapshot for snapshot in snapshots}
    changed: list[tuple[str, int | None, list[types.TextEdit]]] = []
    for file in files:
        snapshot = is_open.get(file.path)
        lines = snapshot.lines if snapshot else _on_disk(workspace, file.path)
        uri, version = (snapshot.uri, snapshot.version) if snapshot else (uri_of(file.path), None)
        changed.append((uri, version, _text_edits(file, lines, client.encoding)))
    touches = tuple(is_open[file.path] for file in files if file.path in is_open)
    if not client.document_changes:
        return Change(types.WorkspaceEdit(changes={uri: edits for uri, _, edits in changed}), touches)
    return Change(_versioned(changed, confirm if client.change_annotations else None), touches)


def one_file(snapshot: Snapshot, edit: types.TextEdit, client: Client) -> types.WorkspaceEdit:
    """One edit to one open document."""
    if not client.document_changes:
        return types.WorkspaceEdit(changes={snapshot.uri: [edit]})
    return _versioned([(snapshot.uri, snapshot.version, [edit])], None)


def _versioned(
    changed: Sequence[tuple[str, int | None, list[types.TextEdit]]], confirm: str | None
) -> types.WorkspaceEdit:
    document_changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    annotations: Mapping[str, types.ChangeAnnotation] | None = None
    for uri, version, edits in changed:
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
        marked: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = list(edits)
        if confirm and version is None:
            # The user does not see this file: the editor shows a preview first.
            annotations = {"unseen": types.ChangeAnnotation(label=confirm, needs_confirmation=True)}
            marked = [
                types.AnnotatedTextEdit(annotation_id="unseen", range=edit.range, new_text=edit.new_text)
                for edit in edits
            ]
        document_changes.append(types.TextDocumentEdit(text_document=identifier, edits=marked))
    return types.WorkspaceEdit(document_changes=document_changes, change_annotations=annotations)


def _text_edits(file: FileEdit, lines: Sequence[str], encoding: Encoding) -> list[types.TextEdit]:
    return [types.TextEdit(range=to_range(lines, edit.span, encoding), new_text=edit.text) for edit in file.edits]


def _on_disk(workspace: Workspace, path: Path) -> Sequence[str]:
    """The lines of a file that is not open. Nobody may have told that it changed, and nothing in the edit would stop an
    editor from applying it to another text; so it is read again and has to be the same."""
    before = workspace.text(path)
    workspace.forget([path])
    if workspace.text(path) != before:
        raise Outdated(f"{path} has changed on disk")
    return split_lines(before)
