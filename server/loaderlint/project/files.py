"""The project's files as the linker reads them: names without parsing, facts on demand.

A file is read as pieces. The names of functions and classes are taken from their text, so that a function nobody asks
for is never parsed; assignments and imports are parsed when a name of the module is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from loaderlint.facts import ir
from loaderlint.facts.ir import PieceFacts
from loaderlint.syntax.cutter import Piece

_DEF = re.compile(r"^[ \t\f]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_STARTS_WITH_DEF = re.compile(r"[ \t\f]*(?:@|def\b|class\b|async[ \t]+def\b)")


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


@dataclass(slots=True, eq=False)
class ProjectFile:
    """One Python file: its pieces, and their facts on demand.

    `facts_of(index)` gives the facts of a piece, the last good ones while it is half typed, None if there are none."""

    path: Path
    text: str
    pieces: tuple[Piece, ...]
    facts_of: Callable[[int], PieceFacts | None]
    _names: dict[str, list[Binding]] | None = None
    _stars: list[Star] = field(default_factory=list)
    _children: dict[int, list[int]] | None = None
    _members: dict[int, dict[str, list[Binding]]] = field(default_factory=dict)

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
        if word in self.text:
            for index, piece in enumerate(self.pieces):
                if word in piece.text:
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
            elif piece.kind == "class" or _STARTS_WITH_DEF.match(piece.text):
                match = _DEF.search(piece.text)
                if match:
                    names.setdefault(match[2], []).append(Binding(index, 0, -1, conditional, checking))
            else:
                self._collect_steps(index, names, stars, conditional, checking)

    def _collect_steps(
        self, index: int, names: dict[str, list[Binding]], stars: list[Star], conditional: bool, checking: bool
    ) -> None:
        facts = self.facts_of(index)
        if facts is None:
            return
        for def_index, one in enumerate(facts.ir.defs):
            for number, step in enumerate(one.steps):
                if type(step) is ir.StarImport and def_index == 0:
                    stars.append(Star(index, step.module, step.level))
                elif type(step) is ir.Bind and (def_index == 0 or step.scope == "global"):
                    if step.value == ir.NONE:
                        continue
                    maybe = conditional or step.context != 0 or def_index != 0
                    within = checking or _in_type_checking(facts, def_index, step.context)
                    names.setdefault(step.name, []).append(Binding(index, def_index, number, maybe, within))

    def _always_runs(self, index: int) -> bool:
        """Whether the children of a clause run whenever the clause is reached: `with`, `try`, `finally`, main guard."""
        keyword = self.pieces[index].keyword
        return keyword in ("with", "async with", "try", "finally") or self.is_main_guard(index)

    def is_main_guard(self, index: int) -> bool:
        """Whether the clause piece is `if __name__ == "__main__":`."""
        piece = self.pieces[index]
        return piece.kind == "clause" and piece.keyword == "if" and "__name__" in piece.text

    def is_type_checking(self, index: int) -> bool:
        """Whether the clause piece is `if TYPE_CHECKING:`."""
        piece = self.pieces[index]
        return piece.kind == "clause" and piece.keyword == "if" and "TYPE_CHECKING" in piece.text


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
    """The Python files of one project, as an immutable snapshot."""

    @property
    def root(self) -> Path:
        """The folder that holds the project."""
        ...

    def paths(self) -> tuple[Path, ...]:
        """Every Python file of the project, sorted."""
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
        """The files whose text holds `word`, sorted."""
        ...
