"""The project's files as the linker reads them: names without parsing, facts on demand.

A file is read as pieces. The names of functions and classes are taken from their text, so that a function nobody asks
for is never parsed; assignments and imports are parsed when a name of the module is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from loaderlint.facts import ir
from loaderlint.facts.ir import PieceFacts
from loaderlint.syntax.cutter import Piece

_DEF = re.compile(r"^[ \t\f]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_STARTS_WITH_DEF = re.compile(r"[ \t\f]*(?:@|def\b|class\b|async[ \t]+def\b)")

_Answer = TypeVar("_Answer")

#: A part of a project that cannot call the others, nor be called by them: the absolute paths of the folders and files
#: of the root that belong to it. Empty: the whole project.
Part = tuple[str, ...]
WHOLE: Part = ()


class Binding(NamedTuple):
    """One place where a module or class binds a name. `step` indexes the steps of def `def_` of the piece; -1 for a
    function or class statement (known from its text, not parsed yet). `conditional`: it may not happen."""

    piece: int
    def_: int
    step: int
    conditional: bool
    type_checking: bool


class Star(NamedTuple):
    """A star import at module level."""

    piece: int
    module: str
    level: int


class Bound(NamedTuple):
    """What one module-level or class-level statement binds: a name with its step, or a star import (then `star` is the
    module and `level` its dots)."""

    name: str
    def_: int
    step: int
    conditional: bool
    type_checking: bool
    star: str = ""
    level: int = 0


@dataclass(slots=True)
class Read:
    """What was read of one file while the project was linked. Whoever reads a file through `ProjectFile` gets the same
    answers again as long as nothing noted here changes; see `loaderlint.store.same_answers`."""

    #: The whole text.
    text: bool = False
    #: Pieces whose facts, whose whole text, and whose bound names were read; and those of the first whose anchors were
    #: asked for, so that something may rest on where things stand in the piece (see `ProjectFile.note_places`).
    facts: set[int] = field(default_factory=set)
    placed: set[int] = field(default_factory=set)
    texts: set[int] = field(default_factory=set)
    bound: set[int] = field(default_factory=set)
    #: Words that the pieces were searched for, and pure functions of the text of single pieces.
    words: set[str] = field(default_factory=set)
    questions: dict[int, set[tuple[Callable[..., object], tuple[Hashable, ...]]]] = field(default_factory=dict)


class SeenPiece:
    """A piece as the linker sees it: no place in the file, because that changes with every line typed above it."""

    __slots__ = ("_index", "_read", "_text", "keyword", "kind", "parent")

    def __init__(self, piece: Piece, index: int, read: Read) -> None:
        self.kind, self.keyword, self.parent = piece.kind, piece.keyword, piece.parent
        self._text = piece.text
        self._index = index
        self._read = read

    @property
    def text(self) -> str:
        """The whole text: from now on every edit in the piece counts. `ProjectFile.asks` is cheaper."""
        self._read.texts.add(self._index)
        return self._text

    def ask(self, question: Callable[..., _Answer], *about: Hashable) -> _Answer:
        """`question(text, *about)`, a pure function; only an edit that changes the answer counts."""
        self._read.questions.setdefault(self._index, set()).add((question, about))
        return question(self._text, *about)

    def holds(self, word: str) -> bool:
        """Whether the text holds `word`."""
        self._read.words.add(word)
        return word in self._text


def is_def(text: str) -> bool:
    """Whether a piece is a function or a class: nothing else is done in it outside of functions."""
    return _STARTS_WITH_DEF.match(text) is not None


def defined_name(text: str) -> str:
    """The name that a piece defines as a function or class, '' for other statements."""
    match = _DEF.search(text)
    return match[2] if match else ""


def bound_names(facts: PieceFacts | None) -> tuple[Bound, ...]:
    """What a statement outside functions binds, in order."""
    found: list[Bound] = []
    for number, one in enumerate(facts.ir.defs if facts else ()):
        for index, step in enumerate(one.steps):
            if type(step) is ir.StarImport and number == 0:
                found.append(Bound("", 0, index, False, False, step.module, step.level))
            elif isinstance(step, ir.Bind) and (number == 0 or step.scope == "global") and step.value != ir.NONE:
                checking = facts is not None and _in_type_checking(facts, number, step.context)
                found.append(Bound(step.name, number, index, step.context != 0 or number != 0, checking))
    return tuple(found)


class ProjectFile:
    """One Python file: its pieces, and their facts on demand. Notes in `read` what was asked.

    `facts_of(index)` gives the facts of a piece, the last good ones while it is half typed, None if there are none."""

    __slots__ = ("_children", "_facts", "_members", "_names", "_stars", "_text", "path", "pieces", "read")

    def __init__(
        self, path: Path, text: str, pieces: Sequence[Piece], facts: Callable[[int], PieceFacts | None]
    ) -> None:
        self.path = path
        self.read = Read()
        self.pieces = tuple(SeenPiece(piece, index, self.read) for index, piece in enumerate(pieces))
        self._text = text
        self._facts = facts
        self._names: dict[str, list[Binding]] | None = None
        self._stars: list[Star] = []
        self._children: dict[int, list[int]] | None = None
        self._members: dict[int, dict[str, list[Binding]]] = {}

    @property
    def text(self) -> str:
        """The whole text: from now on every edit in the file counts. Questions to single pieces are cheaper."""
        self.read.text = True
        return self._text

    def facts_of(self, index: int) -> PieceFacts | None:
        """The facts of a piece, the last good ones while it is half typed, None if there are none."""
        self.read.facts.add(index)
        return self._facts(index)

    def note_places(self) -> None:
        """Note which anchors were asked for by now: when all questions have been asked."""
        for index in self.read.facts:
            facts = self._facts(index)
            if facts is not None and facts.known_anchors is not None:
                self.read.placed.add(index)

    @property
    def children(self) -> dict[int, list[int]]:
        """Piece indices by the piece they stand in (-1: the module)."""
        if self._children is None:
            self._children = {}
            for index, piece in enumerate(self.pieces):
                self._children.setdefault(piece.parent, []).append(index)
        return self._children

    @property
    def names(self) -> dict[str, list[Binding]]:
        """The names that module-level code binds, each with its bindings in source order."""
        if self._names is None:
            self._names = {}
            self._collect(-1, self._names, self._stars, False, False)
        return self._names

    @property
    def stars(self) -> list[Star]:
        """The star imports at module level, in source order."""
        self.names  # noqa: B018  (fills both)
        return self._stars

    def members(self, piece: int) -> dict[str, list[Binding]]:
        """The names that the body of the class at `piece` binds."""
        found = self._members.get(piece)
        if found is None:
            found = self._members[piece] = {}
            self._collect(piece, found, [], False, False)
        return found

    def mentioning(self, word: str) -> Iterator[int]:
        """Indices of the pieces whose text holds `word`."""
        self.read.words.add(word)
        if word in self._text:
            for index, piece in enumerate(self.pieces):
                if piece.holds(word):
                    yield index

    def _collect(
        self, parent: int, names: dict[str, list[Binding]], stars: list[Star], conditional: bool, checking: bool
    ) -> None:
        for index in self.children.get(parent, ()):
            piece = self.pieces[index]
            if piece.kind == "clause":
                self._collect_steps(index, names, stars, conditional, checking)
                sure = not conditional and self._always_runs(index)
                self._collect(index, names, stars, not sure, checking or self.is_type_checking(index))
            elif piece.kind == "class" or piece.ask(is_def):
                name = piece.ask(defined_name)
                if name:
                    names.setdefault(name, []).append(Binding(index, 0, -1, conditional, checking))
            else:
                self._collect_steps(index, names, stars, conditional, checking)

    def _collect_steps(
        self, index: int, names: dict[str, list[Binding]], stars: list[Star], conditional: bool, checking: bool
    ) -> None:
        self.read.bound.add(index)
        for one in bound_names(self._facts(index)):
            if one.star or not one.name:
                stars.append(Star(index, one.star, one.level))
                continue
            binding = Binding(index, one.def_, one.step, conditional or one.conditional, checking or one.type_checking)
            names.setdefault(one.name, []).append(binding)

    def _always_runs(self, index: int) -> bool:
        """Whether the children of a clause run whenever the clause is reached: `with`, `try`, `finally`, main guard."""
        keyword = self.pieces[index].keyword
        return keyword in ("with", "async with", "try", "finally") or self.is_main_guard(index)

    def is_main_guard(self, index: int) -> bool:
        """Whether the clause piece is `if __name__ == "__main__":`."""
        piece = self.pieces[index]
        return piece.kind == "clause" and piece.keyword == "if" and piece.holds("__name__")

    def is_type_checking(self, index: int) -> bool:
        """Whether the clause piece is `if TYPE_CHECKING:`."""
        piece = self.pieces[index]
        return piece.kind == "clause" and piece.keyword == "if" and piece.holds("TYPE_CHECKING")


def _in_type_checking(facts: PieceFacts, def_index: int, context: int) -> bool:
    """Whether a context of a piece stands under `if TYPE_CHECKING`."""
    contexts = facts.ir.defs[def_index].contexts
    while context > 0:
        one = contexts[context]
        if one.kind == "if" and not one.negated and one.expr != ir.NONE:
            test = facts.ir.exprs[one.expr]
            if isinstance(test, ir.Global | ir.Attr) and test.name == "TYPE_CHECKING":
                return True
        context = one.parent
    return False


class Files(Protocol):
    """The Python files of a part of one project (see `loaderlint.project.parts`), as an immutable snapshot. `file`,
    `exists` and `has_folder` answer for all of the project."""

    @property
    def root(self) -> Path:
        """The folder that holds the project."""
        ...

    def paths(self) -> tuple[Path, ...]:
        """Every Python file of the part, sorted."""
        ...

    def exists(self, path: Path) -> bool:
        """Whether `path` is a Python file of the project."""
        ...

    def has_folder(self, path: Path) -> bool:
        """Whether `path` is a folder that holds Python files of the project, at any depth."""
        ...

    def file(self, path: Path) -> ProjectFile | None:
        """The file, None if it cannot be read."""
        ...

    def containing(self, word: str) -> tuple[Path, ...]:
        """The files that hold `word`, sorted."""
        ...

    def calling(self, name: str) -> tuple[Path, ...]:
        """The files that may call something called `name`, sorted."""
        ...

    def deriving(self, word: str) -> tuple[Path, ...]:
        """The files with a class among whose bases `word` is written (and perhaps others), sorted."""
        ...
