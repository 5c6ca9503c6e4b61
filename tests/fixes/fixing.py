"""Files in memory, and places named by the code that stands there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import libcst as cst

from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.findings.finding import Intent, Place
from loaderlint.fixes.apply import edits_for
from loaderlint.fixes.file_edits import FileEdit, NoFix
from loaderlint.fixes.piece_tree import grow
from loaderlint.syntax.cutter import Piece, cut
from loaderlint.syntax.positions import apply_edits
from loaderlint.syntax.source import decode

PATH = Path("/project/train.py")


class Files:
    """A `FileAccess` over texts in memory."""

    def __init__(self, texts: Mapping[Path, str | bytes], length: int | None = None) -> None:
        self._length = length
        data = {path: text.encode() if isinstance(text, str) else text for path, text in texts.items()}
        self._sources = {path: decode(one) for path, one in data.items()}
        self._pieces = {path: cut(source.text) for path, source in self._sources.items()}

    def pieces(self, path: Path) -> tuple[Piece, ...]:
        return self._pieces[path]

    def text(self, path: Path) -> str:
        return self._sources[path].text

    def oddities(self, path: Path) -> tuple[str, ...]:
        return self._sources[path].oddities

    def refusals(self, path: Path) -> tuple[str, ...]:
        return ()

    def file(self, path: Path) -> Path:
        return path

    def line_length(self, path: Path) -> int | None:
        return self._length

    def beside(self, path: Path) -> Iterator[Iterator[bytes]]:
        for is_near in (True, False):
            others = (one for one in self._sources if one != path and (one.parent == path.parent) is is_near)
            yield (self._sources[one].text.encode() for one in others)

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        return None


def place(text: str, code: str, kind: type[cst.CSTNode] = cst.BaseExpression, number: int = 0) -> Place:
    """The place of the `number`-th node of class `kind` whose text, or for blocks whose beginning, is `code`."""
    for index, piece in enumerate(cut(text)):
        tree = grow(piece)
        if tree is None or not tree.exact:
            continue
        for anchor, node in enumerate(tree.by_anchor):
            assert node is not None
            found = text[tree.start(node) : tree.end(node)]
            is_block = isinstance(node, cst.BaseCompoundStatement) and found.startswith(code)
            if (found == code or is_block) and isinstance(node, kind):
                if number == 0:
                    return Place(PATH, index, anchor)
                number -= 1
    raise LookupError(code)


def apply(text: str, edits: tuple[FileEdit, ...]) -> str:
    """The text of the one file after the edits."""
    (edit,) = edits
    return apply_edits(text, edit.edits)


def fixed(text: str, intents: Sequence[Intent], length: int | None = None) -> str:
    """The text after one fix, in a project whose formatter allows lines of that length. Fails if there are no edits."""
    edits = edits_for(intents, Files({PATH: text}, length))
    assert not isinstance(edits, NoFix), edits.reason
    return apply(text, edits)


def refused(text: str | bytes, intents: Sequence[Intent]) -> str:
    """Why there are no edits. Fails if there are some."""
    edits = edits_for(intents, Files({PATH: text}))
    assert isinstance(edits, NoFix), edits
    return edits.reason
