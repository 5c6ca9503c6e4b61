"""Converts repairs of the engine to workspace edits, on the worker's thread, with snapshots of the open documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from lsprotocol import types
from msgspec import Struct

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Documents, Part, Snapshot
from loaderlint.lsp.text_positions import Encoding, Place, Span, content, split_lines, to_range
from loaderlint.lsp.uris import uri_of
from loaderlint.syntax.bare_tree import is_worse
from loaderlint.syntax.notebook import SUFFIX, shared_out


class TextEdit(Protocol):
    """Replace the text at `span` with `text`."""

    @property
    def span(self) -> Span: ...
    @property
    def text(self) -> str: ...


class FileEdit(Protocol):
    """Edits of one file: sorted, not overlapping, all for the current text."""

    @property
    def path(self) -> Path: ...
    @property
    def edits(self) -> Sequence[TextEdit]: ...


class Edit(NamedTuple):
    """A `TextEdit` as a record."""

    span: Place
    text: str


class Outdated(Exception):
    """A file has changed since the repair was computed."""


class NotMade(Exception):
    """The edits would do harm; the message says which."""


class Change(Struct, frozen=True):
    """A workspace edit of several files, and the open documents for which it is valid, each at exactly this version."""

    edit: types.WorkspaceEdit
    touches: tuple[Snapshot, ...]
    files: int

    def holds(self, documents: Documents) -> bool:
        """Whether all these documents are still open at their versions."""
        return all(
            (document := documents.get(snapshot.uri)) is not None and document.at == snapshot.at
            for snapshot in self.touches
        )


def change(
    files: Sequence[FileEdit], workspace: Workspace, snapshots: Sequence[Snapshot], client: Client, confirm: str | None
) -> Change | None:
    """The edits of `files` for the client, None if there are none.

    `confirm`: the label of edits of files that are not open, for which the client asks for confirmation if it can; None
    to never ask. Raises `Outdated` if a file that is not open has changed on disk, `NotMade` for edits that would do
    harm."""
    files = [file for file in files if file.edits]
    if not files:
        return None
    _refuse_twice(files)
    is_open = {snapshot.path: snapshot for snapshot in snapshots}
    changed: list[tuple[str, int | None, list[types.TextEdit]]] = []
    for file in files:
        snapshot = is_open.get(file.path)
        if snapshot is None and file.path.suffix == SUFFIX:
            raise Outdated(f"{file.path} is a notebook that is not open")
        if snapshot is None:
            lines = _on_disk(workspace, file.path)
            _refuse_harm(file, "".join(lines))
            changed.append((uri_of(file.path), None, _text_edits(file, lines, client.encoding)))
        elif snapshot.cells is None:
            _refuse_harm(file, snapshot.text)
            changed.append((snapshot.uri, snapshot.version, _text_edits(file, snapshot.lines, client.encoding)))
        else:
            changed.extend(_cell_edits(file, snapshot, snapshot.cells, client.encoding))
    touches = tuple(is_open[file.path] for file in files if file.path in is_open)
    if not client.document_changes:
        return Change(types.WorkspaceEdit(changes={uri: edits for uri, _, edits in changed}), touches, len(files))
    return Change(_versioned(changed, confirm if client.change_annotations else None), touches, len(files))


def _refuse_twice(files: Sequence[FileEdit]) -> None:
    """Raises NotMade if two of these are names of the same file, which would get the edits of both."""
    names: dict[str, Path] = {}
    for file in files:
        other = names.setdefault(os.path.realpath(file.path), file.path)
        if other != file.path:
            raise NotMade(f"{file.path.name} and {other.name} are the same file; fix one finding at a time")


def _refuse_harm(file: FileEdit, text: str) -> None:
    """Raises NotMade if the edits would make a valid Python file invalid."""
    if is_worse(text, applied(text, file.edits)):
        raise NotMade(f"it would leave {file.path.name} with code that is not Python; please report it")


def one_edit(snapshot: Snapshot, edit: TextEdit, client: Client) -> types.WorkspaceEdit:
    """A workspace edit with one edit within a line of one open document."""
    part = snapshot.part_at(edit.span.line)
    made = types.TextEdit(range=part.range(edit.span, client.encoding), new_text=edit.text)
    if not client.document_changes:
        return types.WorkspaceEdit(changes={part.uri: [made]})
    return _versioned([(part.uri, part.version, [made])], None)


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


def _cell_edits(
    file: FileEdit, notebook: Snapshot, cells: Sequence[Part], encoding: Encoding
) -> Iterator[tuple[str, int, list[types.TextEdit]]]:
    """The edits of a notebook's source, cell by cell: one edit for each cell that changes."""
    before = ["".join(cell.lines) for cell in cells]
    after = shared_out(before, notebook.text, applied(notebook.text, file.edits))
    for cell, old, new in zip(cells, before, after, strict=True):
        if new != old:
            edit = difference(old, new)
            range_ = to_range(cell.lines, edit.span, encoding)
            yield cell.uri, cell.version, [types.TextEdit(range=range_, new_text=edit.text)]


def _on_disk(workspace: Workspace, path: Path) -> Sequence[str]:
    """The lines of a file that is not open. It may have changed unnoticed, and an editor would apply the edit to the
    changed text. So the file is read again; raises Outdated if it has changed."""
    before = workspace.text(path)
    workspace.forget([path])
    if workspace.text(path) != before:
        raise Outdated(f"{path} has changed on disk")
    return split_lines(before)


# --- texts ------------------------------------------------------------------------------------------------------------


def applied(text: str, edits: Sequence[TextEdit]) -> str:
    """`text` after `edits`, which are sorted and do not overlap."""
    lines = split_lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    parts: list[str] = []
    done = 0
    for edit in edits:
        start, end = (starts[edit.span.line] + edit.span.column, starts[edit.span.end_line] + edit.span.end_column)
        parts += (text[done:start], edit.text)
        done = end
    return "".join((*parts, text[done:]))


def difference(before: str, after: str) -> Edit:
    """One edit of whole lines that turns `before` into `after`."""
    old, new = split_lines(before), split_lines(after)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end = len(old) - tail
    if end == len(old):
        place = Place(same, 0, end - 1, len(content(old[-1]))) if same < end else _end_of(old)
    else:
        place = Place(same, 0, end, 0)
    return Edit(place, "".join(new[same : len(new) - tail]))


def _end_of(lines: Sequence[str]) -> Place:
    column = len(content(lines[-1]))
    return Place(len(lines) - 1, column, len(lines) - 1, column)
