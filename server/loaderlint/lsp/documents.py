"""The open documents: the editor's texts, updated edit by edit."""

from __future__ import annotations

import logging
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lsprotocol import types
from msgspec import Struct, field

from loaderlint.lsp.text_positions import Encoding, Place, Span, split_lines, to_position, to_range
from loaderlint.lsp.uris import known_path_of, path_of
from loaderlint.syntax.notebook import joined

logger = logging.getLogger(__name__)

#: The language ids that `didOpen` may give a Python file.
_PYTHON = "python"

#: The number of an opening of a file, and its version (which starts at 1 again). Equal for equal texts.
At = tuple[int, int]


class Part(Struct, frozen=True):
    """A text that the client edits separately: a document, or a code cell of a notebook. `start` is the 0-based line of
    the whole at which it begins; `lines` include their line endings."""

    uri: str
    version: int
    start: int
    lines: tuple[str, ...]

    def range(self, span: Span, encoding: Encoding) -> types.Range:
        """A span of the whole in the client's coordinates of this part; places outside are moved to its end."""
        place = Place(span.line - self.start, span.column, span.end_line - self.start, span.end_column)
        return to_range(self.lines, place, encoding)


class Snapshot(Struct, frozen=True):
    """A document or notebook at one version, which another thread may use while the editor continues. `lines` include
    their line endings; those of a notebook are the lines of all its code cells.

    `serial` is the number of the opening."""

    uri: str
    path: Path
    serial: int
    version: int
    lines: tuple[str, ...]
    cells: tuple[Part, ...] | None = None

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.lines)

    @property
    def at(self) -> At:
        """The opening and the version of the text."""
        return self.serial, self.version

    @property
    def parts(self) -> tuple[Part, ...]:
        """The texts that the client divides it into, in order."""
        return (Part(self.uri, self.version, 0, self.lines),) if self.cells is None else self.cells

    def part_at(self, line: int) -> Part:
        """The part that contains a line (0-based); for a notebook without code, the notebook."""
        parts = self.parts or (Part(self.uri, self.version, 0, self.lines),)
        return parts[max(bisect_right(parts, line, key=lambda part: part.start) - 1, 0)]

    def part(self, uri: str) -> Part | None:
        """The code cell with the client's name `uri`; None if no Python cell has this name. A document consists of a
        single part, however the client spells its name."""
        if self.cells is None:
            return self.parts[0]
        return next((cell for cell in self.cells if cell.uri == uri), None)

    def place(self, uri: str, position: types.Position, encoding: Encoding) -> tuple[int, int] | None:
        """The (line, column) in characters of the client's position in the document or cell `uri`; None in a cell of
        another language."""
        part = self.part(uri)
        if part is None:
            return None
        line, column = to_position(part.lines, position, encoding)
        return part.start + line, column

    def span(self, uri: str, range_: types.Range, encoding: Encoding) -> Place | None:
        """The span in characters of the client's range in the document or cell `uri`; it may end on the line after the
        cell. None in a cell of another language."""
        part = self.part(uri)
        if part is None:
            return None
        start, end = sorted(to_position(part.lines, at, encoding) for at in (range_.start, range_.end))
        return Place(part.start + start[0], start[1], part.start + end[0], end[1])


class Document(Struct):
    """A document in the editor. `path`, with links followed, is None unless it is a file on disk; `lines` include their
    line endings; `serial` is the number of its opening."""

    uri: str
    path: Path | None
    language: str
    serial: int
    version: int
    lines: list[str] = field(default_factory=lambda: [""])

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.lines)

    @property
    def uris(self) -> tuple[str, ...]:
        """The client's names of the texts that it consists of."""
        return (self.uri,)

    @property
    def analysed(self) -> bool:
        """Whether the engine checks it: a Python file, but not an unsaved, versioned or generated view of one."""
        return self.path is not None and (self.language == _PYTHON or self.path.suffix == ".py")

    def snapshot(self) -> Snapshot:
        """The current version as a snapshot. Raises ValueError for a document without a path."""
        if self.path is None:
            raise ValueError(f"{self.uri} is not a file")
        return Snapshot(self.uri, self.path, self.serial, self.version, tuple(self.lines))

    @property
    def at(self) -> At:
        """The current text and opening; results for another one are outdated."""
        return self.serial, self.version

    def apply(self, change: types.TextDocumentContentChangeEvent, encoding: Encoding) -> None:
        """Apply one edit of the client, whose positions count in `encoding`."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self.lines = split_lines(change.text)
            return
        start = to_position(self.lines, change.range.start, encoding)
        end = to_position(self.lines, change.range.end, encoding)
        if end < start:
            start, end = end, start
        self._replace(start, end, change.text)

    def _replace(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Replace the text between two (line, column) places. Only the affected lines are split again."""
        first, column = start
        last, end_column = end
        changed = self.lines[first][:column] + text + self.lines[last][end_column:]
        if first and changed.startswith("\n") and self.lines[first - 1].endswith("\r"):
            # A line feed now follows a carriage return: together they are one line ending.
            first -= 1
            changed = self.lines[first] + changed
        replacement = split_lines(changed)
        if last + 1 < len(self.lines):
            # The rest of the last line ends as before, so the text after it already is a line of its own.
            replacement.pop()
        self.lines[first : last + 1] = replacement


class Notebook(Struct):
    """A notebook in the editor: `cells` are the texts of its cells by their URIs, `order` lists all cells in order, and
    says which are code. `version` counts the changes of its code; the editor's own also counts changed outputs, and a
    fix must not fail because of those."""

    uri: str
    path: Path | None
    serial: int
    version: int
    cells: dict[str, Document] = field(default_factory=dict)
    order: list[types.NotebookCell] = field(default_factory=list)

    @property
    def uris(self) -> tuple[str, ...]:
        """The client's names of the texts that it consists of, in whatever language."""
        return tuple(self.cells)

    @property
    def analysed(self) -> bool:
        """Whether the engine checks it: any notebook that is a file. One without Python has no findings."""
        return self.path is not None

    def code_versions(self) -> list[tuple[str, int]]:
        """The cells of Python in their order, each with the editor's version of it."""
        return [(cell.uri, cell.version) for cell in self._code()]

    def _code(self) -> Iterator[Document]:
        first = {cell.document: number for number, cell in reversed(list(enumerate(self.order)))}
        for number, cell in enumerate(self.order):
            text = self.cells.get(cell.document)
            if text is None or first[cell.document] != number:
                continue  # a client may name a cell that it never opened, or twice
            if cell.kind == types.NotebookCellKind.Code and text.language == _PYTHON:
                yield text

    def snapshot(self) -> Snapshot:
        """The current version as a snapshot. Raises ValueError for a notebook without a path."""
        if self.path is None:
            raise ValueError(f"{self.uri} is not a file")
        code = list(self._code())
        text, starts = joined([cell.text for cell in code])
        parts = (
            Part(cell.uri, cell.version, start, tuple(cell.lines)) for cell, start in zip(code, starts, strict=True)
        )
        return Snapshot(self.uri, self.path, self.serial, self.version, tuple(split_lines(text)), tuple(parts))

    @property
    def at(self) -> At:
        """The current text and opening; results for another one are outdated."""
        return self.serial, self.version

    def open(self, texts: Sequence[types.TextDocumentItem]) -> None:
        """Add the texts of new cells."""
        for item in texts:
            lines = split_lines(item.text)
            self.cells[item.uri] = Document(item.uri, None, item.language_id, self.serial, item.version, lines)

    def rearrange(self, start: int, count: int, cells: Sequence[types.NotebookCell]) -> None:
        """Replace the `count` cells from `start` (0-based) on with `cells`."""
        self.order[start : start + count] = cells

    def change(self, changes: types.NotebookDocumentCellChanges, encoding: Encoding) -> None:
        """Apply the client's changes of the cells."""
        if (structure := changes.structure) is not None:
            for closed in structure.did_close or ():
                self.cells.pop(closed.uri, None)
            self.open(structure.did_open or ())
            self.rearrange(structure.array.start, structure.array.delete_count, structure.array.cells or ())
        for cell in changes.data or ():
            self.order = [cell if one.document == cell.document else one for one in self.order]
        for edited in changes.text_content or ():
            text = self.cells.get(edited.document.uri)
            if text is None:
                logger.warning("change of the cell %s ignored: it is not open", edited.document.uri)
                continue
            for change in edited.changes:
                text.apply(change, encoding)
            text.version = edited.document.version


class Documents:
    """All open documents and notebooks. Used on the event loop only."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._documents: dict[str, Document | Notebook] = {}
        self._cells: dict[str, Notebook] = {}
        self._opened = 0

    def __iter__(self) -> Iterator[Document | Notebook]:
        return iter(tuple(self._documents.values()))

    def get(self, uri: str) -> Document | Notebook | None:
        """The open document or notebook; for the URI of a cell, its notebook. None if it is not open. A URI may be
        spelled in different ways."""
        return self._cells.get(uri) or self._documents.get(_key(uri))

    def open(self, item: types.TextDocumentItem) -> Document:
        """Add a document; one that is already open is replaced."""
        path = known_path_of(item.uri)
        self._opened += 1
        document = Document(item.uri, path, item.language_id, self._opened, item.version, split_lines(item.text))
        self._documents[_key(item.uri)] = document
        return document

    def change(
        self, uri: str, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> Document | None:
        """Apply the edits of one notification. None, with a line in the log, if the document was never opened."""
        document = self._documents.get(_key(uri))
        if not isinstance(document, Document):
            logger.warning("change of %s ignored: it is not open", uri)
            return None
        for change in changes:
            document.apply(change, self.encoding)
        document.version = version
        return document

    def open_notebook(self, item: types.NotebookDocument, texts: Sequence[types.TextDocumentItem]) -> Notebook:
        """Add a notebook; one that is already open is replaced."""
        self.close(item.uri)
        self._opened += 1
        notebook = Notebook(item.uri, known_path_of(item.uri), self._opened, item.version)
        notebook.open(texts)
        notebook.rearrange(0, 0, item.cells)
        self._documents[_key(item.uri)] = notebook
        self._cells |= dict.fromkeys(notebook.cells, notebook)
        return notebook

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> Notebook | None:
        """Apply the changes of one notification: cells that are added, removed or moved, or change their kind or text.
        None if they do not touch the code (running a cell changes the notebook, too), or, with a line in the log, if
        the notebook was never opened."""
        notebook = self._documents.get(_key(params.notebook_document.uri))
        if not isinstance(notebook, Notebook):
            logger.warning("change of %s ignored: it is not open", params.notebook_document.uri)
            return None
        changes = params.change.cells
        if changes is None:
            return None
        before, code = set(notebook.cells), notebook.code_versions()
        notebook.change(changes, self.encoding)
        self._let_go(notebook, before - set(notebook.cells))
        self._cells |= dict.fromkeys(notebook.cells, notebook)
        now = notebook.code_versions()
        if now == code and _written(changes).isdisjoint(uri for uri, _ in now):
            return None
        notebook.version += 1
        return notebook

    def close(self, uri: str) -> Document | Notebook | None:
        """Remove a document or notebook. None if it was not open."""
        document = self._documents.pop(_key(uri), None)
        if isinstance(document, Notebook):
            self._let_go(document, document.cells)
        return document

    def _let_go(self, notebook: Notebook, cells: Iterable[str]) -> None:
        for uri in cells:
            if self._cells.get(uri) is notebook:  # another notebook may have taken the name
                del self._cells[uri]


def _written(changes: types.NotebookDocumentCellChanges) -> set[str]:
    """The names of the cells whose text was sent, even if their version did not change."""
    opened = (changes.structure.did_open or ()) if changes.structure else ()
    return {item.uri for item in opened} | {edited.document.uri for edited in changes.text_content or ()}


def _key(uri: str) -> str:
    path = path_of(uri)
    return os.path.normcase(path) if path is not None else uri
