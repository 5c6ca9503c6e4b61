"""What a fix becomes, and how the files it is for are read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec import Struct

from loaderlint.syntax.span import Span, TextEdit

if TYPE_CHECKING:
    from loaderlint.facts.piece_facts import PieceFacts
    from loaderlint.syntax.cutter import Piece

__all__ = ["Change", "FileAccess", "FileEdit", "NoFix", "Refused", "Repair", "Span", "TextEdit"]


class FileEdit(Struct, frozen=True):
    """The edits of one file: sorted, not overlapping, no two at one place. Spans are those of the unchanged file."""

    path: Path
    edits: tuple[TextEdit, ...]


class Repair(Struct, frozen=True):
    """A fix ready to be applied."""

    title: str
    safety: Literal["safe", "unsafe"]
    files: tuple[FileEdit, ...]


class NoFix(Struct, frozen=True):
    """Why there are no edits, for people."""

    reason: str


class FileAccess(Protocol):
    """How the files are read. All answer for the same version of a file."""

    def pieces(self, path: Path) -> tuple[Piece, ...]:
        """The pieces of the file."""

    def text(self, path: Path) -> str:
        """The whole text with the file's own line ends, without a byte order mark."""

    def oddities(self, path: Path) -> tuple[str, ...]:
        """What in the text keeps the file from being edited ('mixed line ends', ...); empty if nothing does."""

    def refusals(self, path: Path) -> tuple[str, ...]:
        """Other reasons why the file must not be edited now."""

    def file(self, path: Path) -> Path:
        """The file that edits of `path` are written to: another one if `path` is a symbolic link."""

    def line_length(self, path: Path) -> int | None:
        """How long the project's formatter lets lines of the file be; None if it has none."""

    def beside(self, path: Path) -> Iterable[Iterable[bytes]]:
        """The other files of the project, a few of them: those of the same folder, and the rest."""

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of one piece; None if it does not parse."""


class Refused(Exception):
    """An intent cannot be carried out; the message says why. Never leaves this package."""


class Change(NamedTuple):
    """Replace the characters `start` to `end` (offsets in the file) by `text`; an insertion if they are equal.

    `rank` orders what is inserted at one offset, lowest first. Lines of code (rank >= `LINES`) may meet there; of
    the ranks below two at one offset are a conflict, unless they are the same change."""

    start: int
    end: int
    text: str
    rank: int = 0
