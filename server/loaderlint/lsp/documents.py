"""The open documents: the editor's text, kept in step edit by edit."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types

from loaderlint.lsp.text import Encoding, split_lines, to_position
from loaderlint.lsp.uris import path_of, real_path_of

logger = logging.getLogger(__name__)

#: What `didOpen` may call a Python file.
_PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document at one version: what a thread may keep while the editor goes on. `lines` hold their line ends.

    `serial` tells one opening of the file from the next: editors count versions from 1 again."""

    uri: str
    path: Path
    serial: int
    version: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.lines)


@dataclass(slots=True)
class Document:
    """A document as the editor has it. `path`, with links followed, is None unless it is a file on disk; `lines` hold
    their line ends; `serial` is the number of its opening."""

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
    def analysed(self) -> bool:
        """Whether the engine is asked about it: Python, and a file (no unsaved, versioned or generated view of one)."""
        return self.path is not None and (self.language == _PYTHON or self.path.suffix == ".py")

    def snapshot(self) -> Snapshot:
        """This version. Raises ValueError for a document without a path."""
        if self.path is None:
            raise ValueError(f"{self.uri} is no file")
        return Snapshot(self.uri, self.path, self.serial, self.version, tuple(self.lines))

    def is_at(self, snapshot: Snapshot) -> bool:
        """Whether the document is still what `snapshot` says."""
        return (self.serial, self.version) == (snapshot.serial, snapshot.version)

    def apply(self, change: types.TextDocumentContentChangeEvent, encoding: Encoding) -> None:
        """Make one edit of the client, whose positions count in `encoding`."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self.lines = split_lines(change.text)
            return
        start = to_position(self.lines, change.range.start, encoding)
        end = to_position(self.lines, change.range.end, encoding)
        if end < start:
            start, end = end, start
        self._replace(start, end, change.text)

    def _replace(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Replace what stands between two (line, column) places. Only the lines that are touched are split again."""
        first, column = start
        last, end_column = end
        changed = self.lines[first][:column] + text + self.lines[last][end_column:]
        if first and changed.startswith("\n") and self.lines[first - 1].endswith("\r"):
            # A line feed came to stand behind a carriage return: together they are one line end.
            first -= 1
            changed = self.lines[first] + changed
        replacement = split_lines(changed)
        if last + 1 < len(self.lines):
            # The rest of the last line ends as it did, so what follows it is a line of its own already.
            replacement.pop()
        self.lines[first : last + 1] = replacement


class Documents:
    """All open documents. Lives on the event loop."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._documents: dict[str, Document] = {}
        self._opened = 0

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._documents.values()))

    def get(self, uri: str) -> Document | None:
        """The open document, None if it is not open. The same file may be spelled in different ways."""
        return self._documents.get(_key(uri))

    def open(self, item: types.TextDocumentItem) -> Document:
        """Take a document in; one that was open already is replaced."""
        path = real_path_of(item.uri)
        self._opened += 1
        document = Document(item.uri, path, item.language_id, self._opened, item.version, split_lines(item.text))
        self._documents[_key(item.uri)] = document
        return document

    def change(
        self, uri: str, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> Document | None:
        """Make the edits of one notification. None, with a line in the log, if the document was never opened."""
        document = self.get(uri)
        if document is None:
            logger.warning("change of %s ignored: it is not open", uri)
            return None
        for change in changes:
            document.apply(change, self.encoding)
        document.version = version
        return document

    def close(self, uri: str) -> Document | None:
        """Let a document go. None if it was not open."""
        return self._documents.pop(_key(uri), None)


def _key(uri: str) -> str:
    path = path_of(uri)
    return os.path.normcase(path) if path is not None else uri
