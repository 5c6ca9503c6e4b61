"""The project's files as the linker reads them: names without parsing, facts on demand.

A file is read as pieces. The names of functions and classes are taken from the text, so a function that is not needed
is never parsed. Assignments and imports are parsed when a name of the module is looked up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.modules.dependencies import EVERYWHERE as EVERYWHERE
from loaderlint.project.modules.dependencies import MODULE as MODULE
from loaderlint.project.modules.dependencies import NEEDS_WORD, bound_by, does, scope_of
from loaderlint.project.modules.dependencies import Read as Read
from loaderlint.project.modules.dependencies import defined_name as defined_name
from loaderlint.project.modules.dependencies import holds as holds
from loaderlint.project.modules.dependencies import is_bare_function as is_bare_function
from loaderlint.project.modules.dependencies import is_class as is_class
from loaderlint.project.modules.dependencies import is_def as is_def
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.main_guard import is_main_guard

_Answer = TypeVar("_Answer")

#: A part of a project that cannot call the others, nor be called by them: the absolute paths of the folders and files
#: of the root that belong to it. Empty: the whole project.
Part = tuple[str, ...]
WHOLE: Part = ()
#: So many pieces are searched as one text, where words are looked for so often.
_MANY, _OFTEN = 100, 50
#: The answers of a text as long are kept.
_LONG = 2000


class Binding(NamedTuple):
    """One place where a module or class binds a name. `step` indexes the steps of def `def_` of the piece; -1 for a
    function or class statement (known from its text, not parsed yet). `conditional`: it may not happen. `is_sure`: it
    does whenever its piece runs."""

    piece: int
    def_: int
    step: int
    conditional: bool
    type_checking: bool
    is_sure: bool


class Star(NamedTuple):
    """A star import at module level. `conditional`: only some runs come by it."""

    piece: int
    module: str
    level: int
    conditional: bool


class SeenPiece:
    """A piece as the linker sees it: no place in the file, because that changes with every line typed above it."""

    __slots__ = ("_answers", "_index", "_read", "_text", "keyword", "kind", "parent")

    def __init__(self, piece: Piece, index: int, read: Read) -> None:
        self.kind, self.keyword, self.parent = piece.kind, piece.keyword, piece.parent
        self._text = piece.text
        self._index = index
        self._read = read
        self._answers: dict[tuple[Callable[..., Any], tuple[Hashable, ...]], Any] = {}

    @property
    def text(self) -> str:
        """The whole text: from now on every edit in the piece counts. `ProjectFile.asks` is cheaper."""
        self._read.texts.add(self._index)
        return self._text

    def ask(self, question: Callable[..., _Answer], *about: Hashable) -> _Answer:
        """`question(text, *about)`, a pure function; only an edit that changes the answer counts."""
        self._read.questions.setdefault(self._index, set()).add((question, about))
        if len(self._text) < _LONG:
            return question(self._text, *about)
        # each step of a def may ask the same of its text
        key = question, about
        if key not in self._answers:
            self._answers[key] = question(self._text, *about)
        return cast("_Answer", self._answers[key])

    def holds(self, word: str) -> bool:
        """Whether the text holds `word`."""
        return self.ask(holds, word)


class Pieces(tuple[SeenPiece, ...]):
    """The pieces of a file. Ask for one at a time: iterating reads the whole list, and every piece that
    comes or goes then counts. `ProjectFile.asking` is cheaper."""

    read: Read

    def __iter__(self) -> Iterator[SeenPiece]:
        self.read.listed = True
        return super().__iter__()


class Names(Mapping[str, list[Binding]]):
    """The names that a module or the body of a class binds, each with its bindings in source order. Each name that is
    looked up is noted; iterating reads them all."""

    __slots__ = ("_found", "_read", "_scope")

    def __init__(self, found: dict[str, list[Binding]], scope: int, read: Read) -> None:
        self._found = found
        self._scope = scope
        self._read = read

    def __getitem__(self, name: str) -> list[Binding]:
        self._read.names.setdefault(self._scope, set()).add(name)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self._read.names.setdefault(self._scope, set()).add(name)
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        self._read.listed_names.add(self._scope)
        return iter(self._found)

    def bound_in(self, pieces: set[int]) -> list[list[Binding]]:
        """The bindings of each name that one of these pieces binds."""
        names = [name for name, bindings in self._found.items() if any(one.piece in pieces for one in bindings)]
        return [self[name] for name in names]

    def __len__(self) -> int:
        self._read.listed_names.add(self._scope)
        return len(self._found)


class ProjectFile:
    """One Python file: its pieces, and their facts on demand. Notes in `read` what was asked.

    `facts_of(index)` gives the facts of a piece, the last good ones while it is half typed, None if there are none."""

    __slots__ = (
        "_asked",
        "_facts",
        "_joined",
        "_members",
        "_mentions",
        "_names",
        "_pieces",
        "_scopes",
        "_searches",
        "_stars",
        "path",
        "pieces",
        "read",
    )

    def __init__(self, path: Path, pieces: Sequence[Piece], facts: Callable[[int], PieceFacts | None]) -> None:
        self.path = path
        self.read = Read()
        self.pieces = Pieces(SeenPiece(piece, index, self.read) for index, piece in enumerate(pieces))
        self.pieces.read = self.read
        self._pieces = pieces
        self._facts = facts
        self._scopes: dict[int, list[int]] = {}
        #: The texts of all pieces as one, and where each begins, once they are needed.
        self._joined: tuple[str, tuple[int, ...]] | None = None
        self._searches = 0
        self._mentions: dict[str, tuple[int, ...]] = {}
        self._asked: dict[tuple[Callable[..., object], tuple[Hashable, ...], int], tuple[int, ...]] = {}
        self._names: Names | None = None
        self._stars: list[Star] = []
        self._members: dict[int, Names] = {}

    def facts_of(self, index: int) -> PieceFacts | None:
        """The facts of a piece, the last good ones while it is half typed, None if there are none."""
        self.read.facts.add(index)
        return self._facts(index)

    def note_places(self) -> None:
        """Record which anchors were used. Call it after the last question."""
        for index in self.read.facts:
            facts = self._facts(index)
            if facts is not None and facts.known_anchors is not None:
                self.read.placed.add(index)

    @property
    def names(self) -> Names:
        """The names that module-level code binds, each with its bindings in source order."""
        if self._names is None:
            self._names = self._bindings(MODULE, self._stars)
        return self._names

    @property
    def stars(self) -> list[Star]:
        """The star imports at module level, in source order."""
        self.names  # noqa: B018  (fills both)
        self.read.stars = True
        return self._stars

    def members(self, piece: int) -> Names:
        """The names that the body of the class at `piece` binds."""
        found = self._members.get(piece)
        if found is None:
            found = self._members[piece] = self._bindings(piece, [])
        return found

    def bindings_holding(self, word: str) -> list[Binding]:
        """The bindings of the module's names in statements that hold `word`, neither functions nor classes; name by
        name."""
        pieces = {index for index, _ in self.asking(does, word, scope=MODULE)}
        self.read.facts |= pieces
        return [one for bindings in self.names.bound_in(pieces) for one in bindings if one.piece in pieces]

    def mentioning(self, word: str) -> Sequence[int]:
        """Indices of the pieces whose text holds `word`."""
        self.read.words.add(word)
        if word not in self._mentions:
            among = self._with_word(word, EVERYWHERE)
            self._mentions[word] = tuple(index for index in among if word in self._pieces[index].text)
        return self._mentions[word]

    def asking(
        self, question: Callable[..., _Answer], *about: Hashable, scope: int = EVERYWHERE
    ) -> Iterator[tuple[int, _Answer]]:
        """Indices of the pieces of which `question(text, *about)`, a pure function, is true, each with the answer; of
        all pieces, of those outside classes (`MODULE`), or of those in the body of the class at piece `scope`. Only an
        edit that changes one of these answers counts."""
        self.read.sweeps.setdefault(scope, set()).add((question, about))
        word = about[0] if about and question in NEEDS_WORD else None
        for index in self._with_word(word, scope) if isinstance(word, str) else self._within(scope):
            answer = question(self._pieces[index].text, *about)
            if answer:
                yield index, answer

    def all_asking(self, question: Callable[..., object], *about: Hashable, scope: int = EVERYWHERE) -> Sequence[int]:
        """The indices that `asking` gives, all at once, for what is asked many times."""
        key = question, about, scope
        if key not in self._asked:
            self._asked[key] = tuple(index for index, _ in self.asking(question, *about, scope=scope))
        return self._asked[key]

    def _within(self, scope: int) -> Sequence[int]:
        return range(len(self._pieces)) if scope == EVERYWHERE else self._in(scope)

    def _with_word(self, word: str, scope: int) -> Iterable[int]:
        """Indices of the pieces of a scope that may hold a word. A file may have thousands of pieces, and each a
        name that is looked for: they are searched as one text, not one by one."""
        pieces = self._within(scope)
        self._searches += 1
        if len(pieces) < _MANY or self._searches < _OFTEN or not word:
            return pieces
        return (index for index in self._holding(word) if scope == EVERYWHERE or scope_of(self._pieces, index) == scope)

    def _holding(self, word: str) -> Iterator[int]:
        if self._joined is None:
            ends = tuple(accumulate(len(piece.text) for piece in self._pieces))
            self._joined = "".join(piece.text for piece in self._pieces), (0, *ends[:-1])
        text, starts = self._joined
        at = text.find(word)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            yield index
            at = text.find(word, starts[index + 1]) if index + 1 < len(starts) else -1

    def _in(self, scope: int) -> list[int]:
        """Indices of the pieces of a scope."""
        if not self._scopes:
            self._scopes[MODULE] = []
            for index in range(len(self._pieces)):
                self._scopes.setdefault(scope_of(self._pieces, index), []).append(index)
        return self._scopes.get(scope, [])

    def _bindings(self, scope: int, stars: list[Star]) -> Names:
        found: dict[str, list[Binding]] = {}
        known: dict[int, tuple[bool, bool]] = {}
        for index in self._in(scope):
            conditional, checking = self._above(index, known)
            for one in bound_by(self._pieces[index], index, self._facts):
                if not one.name:
                    stars.append(Star(index, one.star, one.level, conditional or one.conditional))
                    continue
                here = conditional or one.conditional, checking or one.type_checking, not one.conditional
                found.setdefault(one.name, []).append(Binding(index, one.def_, one.step, *here))
        return Names(found, scope, self.read)

    def is_conditional(self, index: int) -> bool:
        """Whether the clauses around a piece decide if it runs."""
        return self._above(index, {})[0]

    def _above(self, index: int, known: dict[int, tuple[bool, bool]]) -> tuple[bool, bool]:
        """Whether what stands at a piece may not be run, or only for type checking, for the clauses around it in its
        scope; `known` of clauses."""
        parent = self._pieces[index].parent
        if parent < 0 or self._pieces[parent].kind != "clause":
            return False, False
        if parent not in known:
            conditional, checking = self._above(parent, known)
            sure = not conditional and self.always_runs(parent)
            known[parent] = not sure, checking or self.is_type_checking(parent)
        return known[parent]

    def always_runs(self, index: int) -> bool:
        """Whether the children of a clause run whenever the clause is reached: `with`, `finally`, a main guard, and
        `try` if nothing catches what it raises."""
        keyword = self._pieces[index].keyword
        if keyword == "try":
            return self._next_keyword(index) != "except"
        return keyword in ("with", "async with", "finally") or self.is_main_guard(index)

    def _next_keyword(self, index: int) -> str:
        """The keyword of the piece after a clause and its children; '' if it has none."""
        parent = self._pieces[index].parent
        later = (piece for piece in self._pieces[index + 1 :] if piece.parent <= parent)
        return next((piece.keyword for piece in later), "")

    def clauses_before(self, index: int) -> Iterator[int]:
        """The `if` and `elif` clauses whose tests fail where clause `index`, an `elif` or `else`, is reached."""
        parent = self._pieces[index].parent
        while self._pieces[index].keyword in ("elif", "else"):
            index -= 1
            while index >= 0 and self._pieces[index].parent != parent:
                index = self._pieces[index].parent
            if index < 0 or self._pieces[index].keyword not in ("if", "elif"):
                return
            yield index

    def around(self, index: int) -> Iterator[int]:
        """The pieces that a piece lies in, the innermost first."""
        above = self.pieces[index].parent
        while above >= 0:
            yield above
            above = self.pieces[above].parent

    def is_loop(self, index: int) -> bool:
        """Whether the piece is the head of a loop whose statements follow: `for ...:`, `while ...:`."""
        return self._pieces[index].keyword in ("for", "async for", "while")

    def is_main_guard(self, index: int) -> bool:
        """Whether the clause piece is `if __name__ == "__main__":`.

        See `loaderlint.project.modules.dependencies.shape`: what a clause is counts without a note."""
        piece = self._pieces[index]
        return piece.kind == "clause" and is_main_guard(piece.text)

    def is_type_checking(self, index: int) -> bool:
        """Whether the clause piece is `if TYPE_CHECKING:`."""
        piece = self._pieces[index]
        return piece.kind == "clause" and piece.keyword == "if" and "TYPE_CHECKING" in piece.text


class Files(Protocol):
    """The Python files of a part of one project (see `loaderlint.project.modules.components`), as an immutable
    snapshot. `file`, `exists` and `has_folder` answer for all of the project."""

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

    def has_entry(self, folder: Path, name: str) -> bool:
        """Whether a folder on disk has a file or folder called `name`, with any suffix: one that is ignored, compiled
        or to be compiled among them. True if it cannot be listed."""
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

    def configuration(self, path: Path) -> object:
        """The (first) document of a YAML, JSON or TOML file of the project as dictionaries, lists and constants; None
        if it cannot be read."""
        ...

    def configurations(self, word: str) -> tuple[Path, ...]:
        """The YAML, JSON and TOML files of the project that hold `word`, sorted."""
        ...

    def is_configured(self, word: str) -> bool:
        """Whether a configuration of the project, or a script of the shell, may have a word."""
        ...

    def has_libraries(self) -> bool:
        """Whether there is an environment in which libraries may be installed."""
        ...

    def summarised_libraries(self) -> tuple[str, ...]:
        """The top-level packages of which summaries are known, sorted: they replace libraries that are not
        installed."""
        ...

    def has_library(self, name: str) -> bool:
        """Whether a top-level package or module of this name is installed where the project runs, or summarised."""
        ...

    def library_module(self, name: str) -> Path | None:
        """The file of an installed library's module with a dotted name; None if its source is not available. `file`
        reads it; it is no file of the project, so nothing else here knows it."""
        ...

    def library_name(self, path: Path) -> str | None:
        """The dotted name of the module in a file that `library_module` gave; None for other files."""
        ...

    def library_place(self, path: Path, piece: int) -> str:
        """'mmcv 1.7.1 (mmcv/utils/parrots_wrapper.py:41)': the place of a piece of a library's file, as text for
        messages."""
        ...
