"""What linking reads of a file, recorded answer by answer, and whether another version of the file gives the same
answers.

Records refer to pieces by index. The pieces of two versions of a file are paired in order (`alignments`); others are
added or removed. Everything that linking reads is an answer about a single piece, or a list of such answers in the
order of the pieces, and for most pieces the answer is empty. Two versions therefore give the same answers if paired
pieces do (`told`), and if the answers of added and removed pieces are empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct, field

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.syntax.byte_search import calls
from loaderlint.syntax.cutter import Kind, Piece, common_ends

_DEF = re.compile(r"^[ \t\f]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_STARTS_WITH_DEF = re.compile(r"[ \t\f]*(?:@|def\b|class\b|async[ \t]+def\b)")
_BARE = re.compile(r"[ \t\f]*(?:async[ \t]+)?def\b")
_NAME = re.compile(r"\w+")
_GLOBAL = re.compile(r"^[ \t]+global[ \t]", re.MULTILINE)
#: Names in the test of a clause that decide when the statements in it run.
_GUARDS = ("__name__", "TYPE_CHECKING")

#: Scopes of questions to many pieces. Any other scope is the index of a class and means its body.
EVERYWHERE, MODULE = -2, -1
#: If more pieces than this have changed, they are not compared one by one: the part is linked again.
_MANY = 3_000

#: A pure function of the text of a piece, with its other arguments. An answer that is false in a test counts as empty.
Question = tuple[Callable[..., object], tuple[Any, ...]]
_Item = TypeVar("_Item", bound=Hashable)


class Bound(NamedTuple):
    """What a statement at module or class level binds: a name with its step, or a star import (then `star` is the
    module and `level` the number of dots). `step` is -1 for a function or class, which is recognised by its text."""

    name: str
    def_: int
    step: int
    conditional: bool
    type_checking: bool
    star: str = ""
    level: int = 0


class Read(Struct):
    """What was read of one file while the project was linked. `ProjectFile` gives the same answers again as long as
    nothing noted here changes."""

    #: Whether the list of all pieces was read.
    listed: bool = False
    #: `facts`, `texts`: the pieces whose facts or whole text were read. `placed`: those pieces in `facts` whose anchors
    #: were asked for, so that a result may depend on positions in the piece (see `ProjectFile.note_places`).
    facts: set[int] = field(default_factory=set)
    placed: set[int] = field(default_factory=set)
    texts: set[int] = field(default_factory=set)
    #: Words that all pieces were searched for, and questions to all pieces of a scope.
    words: set[str] = field(default_factory=set)
    sweeps: dict[int, set[Question]] = field(default_factory=dict)
    #: Questions to single pieces.
    questions: dict[int, set[Question]] = field(default_factory=dict)
    #: `names`: by scope, the names that were looked up. `listed_names`: the scopes of which all names were read.
    #: `stars`: whether the module's star imports were read.
    names: dict[int, set[str]] = field(default_factory=dict)
    listed_names: set[int] = field(default_factory=set)
    stars: bool = False

    def moved(self, to: Sequence[int | None]) -> Read:
        """The same notes, where piece number i now has the number `to[i]`, or is removed (None)."""
        place = _Moved(to)
        return Read(
            self.listed,
            place.all(self.facts),
            place.all(self.placed),
            place.all(self.texts),
            self.words,
            place.keys(self.sweeps),
            place.keys(self.questions),
            place.keys(self.names),
            place.all(self.listed_names),
            self.stars,
        )


class _Moved:
    """Renumbers the pieces in notes."""

    def __init__(self, to: Sequence[int | None]) -> None:
        self._to = to

    def one(self, index: int) -> int | None:
        return index if index < 0 else self._to[index]

    def all(self, indices: set[int]) -> set[int]:
        return {now for index in indices if (now := self.one(index)) is not None}

    def keys(self, noted: dict[int, set[_Item]]) -> dict[int, set[_Item]]:
        return {now: what for index, what in noted.items() if (now := self.one(index)) is not None}


class Version(Protocol):
    """One version of a file."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """Its pieces."""
        ...

    @property
    def stale(self) -> Mapping[int, object]:
        """The half-typed pieces, for which the facts of their last good versions are used."""
        ...

    def facts(self, index: int) -> PieceFacts | None:
        """The facts of a piece; the last good ones while it is half typed; None if there are none."""
        ...


# --- questions to the text of a piece ---------------------------------------------------------------------------------


def is_def(text: str) -> bool:
    """Whether a piece is a function or a class, and so does nothing else outside functions."""
    return _STARTS_WITH_DEF.match(text) is not None


def is_bare_function(text: str) -> bool:
    """Whether a piece is a function without decorators, which is then the first def of its piece."""
    return _BARE.match(text) is not None


def is_class(text: str) -> bool:
    """Whether a function or class is a class. One on a single line is a statement like any other."""
    match = _DEF.search(text)
    return match is not None and match[1] == "class"


def defined_name(text: str) -> str:
    """The name of the first function or class that a piece defines, itself or inside a compound statement such as `if`;
    '' if there is none."""
    match = _DEF.search(text)
    return match[2] if match else ""


class Outline(NamedTuple):
    """What the linker takes from the kind and the text of a piece without reading its facts. It gets the rest from the
    facts, and relies on this: if the text defines a function or class, def 1 of the facts is that definition.

    So facts may stand in for those of another piece (a half-typed one, which has none) only if both have the same
    outline. Code that pairs pieces with facts checks `outline` and `fits`."""

    kind: Kind
    keyword: str
    is_inside: bool
    defines: bool
    name: str
    is_bare_function: bool
    is_class: bool


def outline(piece: Piece) -> Outline:
    """The outline of a piece."""
    defines = piece.kind == "class" or (piece.kind == "statement" and is_def(piece.text))
    name = defined_name(piece.text) if defines else ""
    bare = is_bare_function(piece.text)
    return Outline(piece.kind, piece.keyword, piece.parent >= 0, defines, name, bare, defines and is_class(piece.text))


def fits(facts: PieceFacts, seen: Outline) -> bool:
    """Whether facts contain what the outline of a piece promises."""
    return not seen.defines or (len(facts.ir.defs) > 1 and facts.ir.defs[1].parent == 0)


def whole(text: str) -> str:
    """The whole text."""
    return text


_Question = TypeVar("_Question", bound=Callable[..., object])
#: The questions whose first argument is a word, and whose answer is false for every text without that word.
NEEDS_WORD: set[Callable[..., object]] = {calls}


def needs_word(question: _Question) -> _Question:
    """Mark a question as false for every text without the word in its first argument (see `ProjectFile.asking`)."""
    NEEDS_WORD.add(question)
    return question


@needs_word
def holds(text: str, word: str) -> bool:
    """Whether the text contains a word."""
    return word in text


@needs_word
def does(text: str, word: str) -> bool:
    """Whether the text contains a word and is not a function or class."""
    return word in text and not is_def(text)


# --- names ------------------------------------------------------------------------------------------------------------


def bound_by(piece: Piece, index: int, facts: Callable[[int], PieceFacts | None]) -> tuple[Bound, ...]:
    """What the piece at `index` binds in its scope, in order. Facts are read only where the text is not enough."""
    if piece.kind == "class" or (piece.kind == "statement" and is_def(piece.text)):
        name = defined_name(piece.text)
        itself = (Bound(name, 0, -1, False, False),) if name else ()
        return (*itself, *_bound_names(facts(index), first=1)) if _declares_global(piece) else itself
    return _bound_names(facts(index))


def _declares_global(piece: Piece) -> bool:
    """Whether a function of the module (not a method, which is in another scope) may bind names of the module."""
    may = piece.parent < 0 and piece.kind == "statement" and "global" in piece.text
    return may and _GLOBAL.search(piece.text) is not None


def _bound_names(facts: PieceFacts | None, first: int = 0) -> tuple[Bound, ...]:
    """The module's names that the defs of a piece bind, starting at def `first`."""
    found: list[Bound] = []
    for number, one in enumerate(facts.ir.defs[first:] if facts else (), first):
        for index, step in enumerate(one.steps):
            if type(step) is ir.StarImport and number == 0:
                found.append(Bound("", 0, index, step.context != 0, False, step.module, step.level))
            elif isinstance(step, ir.Bind) and (number == 0 or step.scope == "global") and step.value != ir.NONE:
                checking = facts is not None and _in_type_checking(facts, number, step.context)
                found.append(Bound(step.name, number, index, step.context != 0 or number != 0, checking))
    return tuple(found)


def _in_type_checking(facts: PieceFacts, def_index: int, context: int) -> bool:
    """Whether a context of a piece is under `if TYPE_CHECKING`."""
    contexts = facts.ir.defs[def_index].contexts
    while context > 0:
        one = contexts[context]
        if one.kind == "if" and not one.negated and one.expr != ir.NONE:
            test = facts.ir.exprs[one.expr]
            if isinstance(test, ir.Global | ir.Attr) and test.name == "TYPE_CHECKING":
                return True
        context = one.parent
    return False


def scope_of(pieces: Sequence[Piece], index: int) -> int:
    """The class whose body contains a piece, `MODULE` for none."""
    parent = pieces[index].parent
    while parent >= 0 and pieces[parent].kind == "clause":
        parent = pieces[parent].parent
    return parent if parent >= 0 else MODULE


# --- two versions -----------------------------------------------------------------------------------------------------


def told(read: Read, noted: int | None, version: Version, index: int, scope: int | None) -> Iterator[object]:
    """The answers of one piece, in one version of a file, to everything that was read. Every piece gives the same
    number of answers; an empty one is false in a test. `noted` and `scope` are the piece and its scope as the notes
    number them, None where the notes do not know them."""
    piece = version.pieces[index]
    text = piece.text
    yield piece.kind == "clause"  # what follows one runs only if its test fails
    yield text if noted in read.texts else None
    yield frozenset(word for word in read.words if word in text)
    for place in (EVERYWHERE, scope):
        asked = read.sweeps.get(place, ()) if place is not None else ()
        yield frozenset((one, answer) for one in asked if (answer := one[0](text, *one[1])))
    questions = read.questions.get(noted, ()) if noted is not None else ()
    yield {one: one[0](text, *one[1]) for one in questions}
    yield _names_told(read, version, index, scope)
    facts = version.facts(index) if noted in read.facts else None
    yield facts and facts.digest
    yield facts.anchors if facts is not None and noted in read.placed else None


def _names_told(read: Read, version: Version, index: int, scope: int | None) -> tuple[Bound, ...]:
    """What a piece binds, of the names that were read."""
    asked = read.names.get(scope, set()) if scope is not None else set()
    every, stars = scope in read.listed_names, read.stars and scope == MODULE
    if not asked and not every and not stars:
        return ()
    piece = version.pieces[index]
    if not every and not (stars and "*" in piece.text) and _binds_none(piece.text, asked):
        return ()
    bound = bound_by(piece, index, version.facts)
    return tuple(one for one in bound if (stars if not one.name else every or one.name in asked))


def _binds_none(text: str, names: set[str]) -> bool:
    """Whether a piece surely mentions none of these names. Names that are not ASCII may be written in several ways."""
    return text.isascii() and names.isdisjoint(_NAME.findall(text))


def shape(piece: Piece) -> tuple[str, ...]:
    """What a piece is, and what it means for the pieces in it: both are read without a note."""
    guards = [word for word in _GUARDS if word in piece.text] if piece.kind == "clause" else ()
    return piece.kind, piece.keyword, *guards


def alignments(was: Sequence[str], now: Sequence[str]) -> Iterator[list[int | None]]:
    """The ways to pair the pieces of two versions by their texts, the likeliest first: for each old piece the index of
    the new one, None for one that is removed. Paired pieces keep their order."""
    same: list[int | None] = list(range(len(was)))
    if len(was) == len(now):
        yield same
    prefix, suffix = common_ends(was, now)
    last_was, last_now = len(was) - suffix, len(now) - suffix
    if max(last_was, last_now) - prefix > _MANY:
        return
    to: list[int | None] = [*range(prefix), *[None] * (last_was - prefix), *range(last_now, len(now))]
    for old, new in _paired(was[prefix:last_was], now[prefix:last_now]):
        to[prefix + old] = prefix + new
    if len(was) != len(now) or to != same:
        yield to


def _paired(was: Sequence[str], now: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of equal texts. Between these, pairs with the same first line; where as many pieces were removed as added,
    they are paired one to one."""
    if not was or not now:
        return
    from difflib import SequenceMatcher

    for what, i, last_i, j, last_j in SequenceMatcher(None, was, now, False).get_opcodes():
        if what == "equal" or (what == "replace" and last_i - i == last_j - j):
            yield from zip(range(i, last_i), range(j, last_j), strict=True)
        elif what == "replace":
            heads = [_head(one) for one in was[i:last_i]], [_head(one) for one in now[j:last_j]]
            for same in SequenceMatcher(None, *heads, False).get_matching_blocks():
                yield from ((i + same.a + k, j + same.b + k) for k in range(same.size))


def same_order(to: Sequence[int | None], was: Sequence[Piece], now: Sequence[Piece]) -> bool:
    """Whether paired pieces have the same shape, and the pieces around them are paired too."""
    for one, new in zip(was, to, strict=True):
        if new is None or now[new] is one:
            continue
        other = now[new]
        parent = one.parent if one.parent < 0 else to[one.parent]
        if parent != other.parent or shape(one) != shape(other):
            return False
    return True


def back(to: Sequence[int | None], count: int) -> list[int | None]:
    """For each of `count` new pieces the old one, None for one that was added."""
    found: list[int | None] = [None] * count
    for old, new in enumerate(to):
        if new is not None:
            found[new] = old
    return found


def _head(text: str) -> str:
    """The first line of a piece. Two pieces with the same first line count as versions of one piece."""
    return text.split("\n", 1)[0].strip()


def same_answers(read_of: Sequence[Read], was: Version, now: Version) -> list[int | None] | None:
    """How the pieces of two versions of a file are paired, if everything that one or several linkings read of the first
    has the same answer in the second; None if not."""
    for to in alignments([piece.text for piece in was.pieces], [piece.text for piece in now.pieces]):
        if same_order(to, was.pieces, now.pieces) and all(_same(read, was, now, to) for read in read_of):
            return to
    return None


def _same(read: Read, was: Version, now: Version, to: Sequence[int | None]) -> bool:
    origins = back(to, len(now.pieces))
    if read.listed and (None in to or None in origins):
        return False
    for index, new in enumerate(to):
        if new is None:
            if any(told(read, index, was, index, scope_of(was.pieces, index))):
                return False
        elif was.pieces[index].text != now.pieces[new].text or index in was.stale or new in now.stale:
            if not _same_piece(read, was, now, index, new):
                return False
    return not any(
        any(told(read, None, now, new, _old_scope(origins, now, new)))
        for new, origin in enumerate(origins)
        if origin is None
    )


def _same_piece(read: Read, was: Version, now: Version, index: int, new: int) -> bool:
    scope = scope_of(was.pieces, index)
    before, after = told(read, index, was, index, scope), told(read, index, now, new, scope)
    return all(a == b for a, b in zip(before, after, strict=True))


def _old_scope(origins: Sequence[int | None], now: Version, index: int) -> int | None:
    """The scope of a piece, as the notes number it; None for a class that was added."""
    scope = scope_of(now.pieces, index)
    return scope if scope < 0 else origins[scope]
