"""One file: its text, its pieces, and their facts, lowered on demand.

A file keeps the facts of its current pieces and, for a half-typed piece, those of its last good version, but nothing
older."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from loaderlint.project.modules import dependencies
from loaderlint.runtime.call_stack import with_room
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.syntax.cutter import Piece, common_ends, recut
from loaderlint.syntax.piece_size import is_too_large
from loaderlint.syntax.source import Source, decode

if TYPE_CHECKING:
    from loaderlint.facts.codec import FileFacts
    from loaderlint.facts.piece_facts import PieceFacts
    from loaderlint.syntax.span import Span
    from loaderlint.syntax.unread import UnreadPart

PieceKey = tuple[str, str, bool, str]
#: For each piece of a file its number in another version of the file, None if it is gone.
Moves = Sequence[int | None]


def piece_key(piece: Piece) -> PieceKey:
    """Everything that the facts of a piece depend on."""
    return (piece.kind, piece.keyword, piece.parent >= 0, piece.text)


@lru_cache(maxsize=1)
def _decoded(content: bytes) -> Source:
    """The decoded source. The last one is cached, because each finding of a file needs it and there may be
    thousands."""
    return decode(content)


class OpenFile(Struct, eq=False):
    """One file: its content, its pieces, and the facts known so far. `stale[i]` is the last good version of a piece
    that does not parse now. `spans` remembers the positions of anchors that were shown. `packed` holds facts as bytes,
    from a cache or from `pack`, which are unpacked when they are asked for; `asked` holds the keys that `pack` took.

    `content` holds the bytes of a file on disk, which are kept for searches anyway. The whole text is up to four times
    as large and rarely asked for, so it is not kept. For an editor's text, `content` is its source."""

    path: Path
    content: Source | bytes
    pieces: tuple[Piece, ...]
    memo: dict[PieceKey, PieceFacts | None] = field(default_factory=dict)
    stale: dict[int, tuple[Piece, PieceFacts]] = field(default_factory=dict)
    spans: dict[PieceKey, dict[int, Span | None]] = field(default_factory=dict)
    packed: dict[PieceKey, bytes | None] = field(default_factory=dict)
    asked: set[PieceKey] = field(default_factory=set)
    is_new: bool = False
    """Whether `pack` took facts that did not come from a cache."""
    failures: dict[PieceKey, Failure] = field(default_factory=dict)
    """The pieces that could not be read because of an internal error. They count as pieces that do not parse."""
    _unread: tuple[UnreadPart, ...] | None = None

    @property
    def source(self) -> Source:
        """The source of the file."""
        return self.content if isinstance(self.content, Source) else _decoded(self.content)

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.source.text

    @property
    def parses(self) -> bool:
        """Whether every piece parses."""
        return all(self.own_facts(index) is not None for index in range(len(self.pieces)))

    def own_facts(self, index: int) -> PieceFacts | None:
        """The facts of the present version of a piece; None if it does not parse."""
        piece = self.pieces[index]
        key = piece_key(piece)
        if key not in self.memo:
            self.memo[key] = self._read_facts(key, piece)
        return self.memo[key]

    def unread(self) -> tuple[UnreadPart, ...]:
        """The parts that no parser reads. Each piece is parsed for this, so it is computed once for a text: a check
        with `--fix` asks before and after each round of fixes."""
        from loaderlint.syntax.unread import unread_parts

        if self._unread is None:
            self._unread = tuple(unread_parts(self.pieces, lambda index: self.own_facts(index) is not None))
        return self._unread

    def _read_facts(self, key: PieceKey, piece: Piece) -> PieceFacts | None:
        with contained(lambda failure: self.failures.update({key: failure}), self.path):
            facts = with_room(lambda: _unpacked(self.packed[key], piece) if key in self.packed else _lowered(piece))
            return facts if facts is not None and dependencies.fits(facts, dependencies.outline(piece)) else None
        return None

    def new_facts(self) -> dict[int, PieceFacts | bytes | None] | None:
        """All facts known so far, by the index of their piece; None if all of them came from a cache, or if some could
        not be read because of an internal error."""
        keys = [piece_key(piece) for piece in self.pieces]
        if self.failures:
            return None
        if not self.is_new and self.memo.keys() <= self.packed.keys():
            return None
        known: dict[PieceKey, PieceFacts | bytes | None] = {**self.memo, **self.packed}
        return {index: known[key] for index, key in enumerate(keys) if key in known}

    def asked_facts(self, index: int) -> PieceFacts | None:
        """The facts of a piece if they were requested before, and if it parses."""
        key = piece_key(self.pieces[index])
        return self.own_facts(index) if key in self.memo or key in self.asked else None

    @property
    def weight(self) -> int:
        """The number of characters in pieces whose facts are in memory as objects."""
        return sum(len(key[3]) for key in self.memo)

    def pack(self) -> None:
        """Keep facts as bytes: they are not needed for a while."""
        from loaderlint.facts.codec import pack

        for key, facts in self.memo.items():
            if key not in self.packed:
                self.packed[key] = None if facts is None else pack(facts)
                self.is_new = True
        self.asked.update(self.memo)
        self.memo.clear()

    def facts(self, index: int) -> PieceFacts | None:
        """The facts of a piece; the last good ones while it does not parse."""
        own = self.own_facts(index)
        if own is not None:
            return own
        kept = self.stale.get(index)
        return kept[1] if kept else None

    def shown_piece(self, index: int) -> tuple[Piece, bool]:
        """The piece that `facts(index)` describes, and whether it is the present one."""
        if index in self.stale and self.own_facts(index) is None:
            return self.stale[index][0], False
        return self.pieces[index], True

    def find_spans(self, piece: Piece, anchors: Iterable[int]) -> dict[int, Span | None]:
        """The spans of anchors (and perhaps of others) in a piece of this file or in its last good version, relative to
        the piece's first line; None for one that has none. The piece is parsed once for all new anchors."""
        known = self.spans.setdefault(piece_key(piece), {})
        new = [anchor for anchor in anchors if anchor not in known]
        if new:
            known.update(with_room(lambda: _relative_spans(piece, new)))
        return known

    def relative_span(self, piece: Piece, anchor: int) -> Span | None:
        """The span of one anchor (see `find_spans`)."""
        return self.find_spans(piece, [anchor])[anchor]

    def changed(self, source: Source) -> OpenFile:
        """The file with another text. Unchanged pieces keep their facts."""
        pieces = recut(self.pieces, self.text, source.text)
        made = OpenFile(self.path, source, pieces, self.memo, packed=self.packed, asked=self.asked, is_new=self.is_new)
        made.stale = _last_good(self, made)
        shown = {piece_key(piece) for piece in pieces}
        made.memo = {key: facts for key, facts in self.memo.items() if key in shown and key not in self.failures}
        shown.update(piece_key(piece) for piece, _ in made.stale.values())
        made.spans = {key: spans for key, spans in self.spans.items() if key in shown}
        return made


def _lowered(piece: Piece) -> PieceFacts | None:
    from loaderlint.facts.imports_and_docstrings import plain_facts

    if is_too_large(piece.text):
        return None
    plain = plain_facts(piece.text) if piece.kind == "statement" else None
    if plain is not None:
        return plain
    from loaderlint.facts.piece_facts import piece_facts

    return piece_facts(piece)


def _unpacked(data: bytes | None, piece: Piece) -> PieceFacts | None:
    from loaderlint.facts.codec import BadFacts, unpack

    try:
        return None if data is None else unpack(data, piece)
    except BadFacts:
        return _lowered(piece)


def _relative_spans(piece: Piece, anchors: Sequence[int]) -> dict[int, Span | None]:
    from loaderlint.syntax.places import places
    from loaderlint.syntax.span import Span

    found: dict[int, Span | None] = dict.fromkeys(anchors)
    if -1 in found:
        first = piece.text.split("\n", 1)[0].rstrip("\r")
        found[-1] = Span(0, len(first) - len(first.lstrip()), 0, len(first))
    inside = [anchor for anchor in anchors if anchor >= 0]
    if inside:
        found.update(places(piece, inside))
    return found


def _last_good(old: OpenFile, new: OpenFile) -> dict[int, tuple[Piece, PieceFacts]]:
    """For each new piece that does not parse: the last good version of the old piece that it came from, if that has the
    same outline (see `dependencies.Outline`). Only pieces whose facts were asked for have one."""
    paired = _paired_with_good(old, new)
    return {
        index: pair
        for index, pair in paired.items()
        if dependencies.outline(new.pieces[index]) == dependencies.outline(pair[0])
    }


def _paired_with_good(old: OpenFile, new: OpenFile) -> dict[int, tuple[Piece, PieceFacts]]:
    first, last_old, last_new = changed_range(old.pieces, new.pieces)
    kept = {index: pair for index, pair in old.stale.items() if index < first}
    shift = len(new.pieces) - len(old.pieces)
    kept |= {index + shift: pair for index, pair in old.stale.items() if index >= last_old}
    good: dict[int, tuple[Piece, PieceFacts]] = {}
    for index in range(first, last_old):
        facts = old.asked_facts(index)
        if facts is not None:
            good[index] = (old.pieces[index], facts)
        elif index in old.stale:
            good[index] = old.stale[index]
    if not good:
        return kept
    for index in range(first, last_new):
        if new.own_facts(index) is not None:
            continue
        source = _origin(new.pieces[index], index, good)
        if source is not None:
            kept[index] = good.pop(source)
    return kept


def changed_range(old: Sequence[Piece], new: Sequence[Piece]) -> tuple[int, int, int]:
    """The range of pieces whose texts differ: its start, its end in `old`, and its end in `new`."""
    first, back = common_ends([piece.text for piece in old], [piece.text for piece in new])
    return first, len(old) - back, len(new) - back


def _origin(piece: Piece, index: int, good: Mapping[int, tuple[Piece, PieceFacts]]) -> int | None:
    """The old piece that a broken one came from, among those with its outline: the one with the same first line,
    otherwise the one at the same index."""
    here = dependencies.outline(piece)
    head = piece.text.split("\n", 1)[0].strip()
    alike = {position: old.text for position, (old, _) in good.items() if dependencies.outline(old) == here}
    for position, text in alike.items():
        if text.split("\n", 1)[0].strip() == head:
            return position
    return index if index in alike else None


class KeptPieces(Protocol):
    """Where a store looks up facts from earlier sessions."""

    def get(self, data: bytes, text: str) -> FileFacts | None:
        """The pieces of a file with these bytes and this text, and the facts of some of them."""

    def put(self, files: Iterable[tuple[bytes, OpenFile]]) -> None:
        """Store the facts of files, given as (bytes, opened file)."""


def around(was: str, now: str, span: int) -> tuple[str, str]:
    """The parts in which two texts differ, with up to `span` characters around them."""
    first, last_was, last_now = difference(was, now)
    start = max(first - span, 0)
    return was[start : last_was + span], now[start : last_now + span]


def difference(was: str, now: str) -> tuple[int, int, int]:
    """The part in which two texts differ: its start, its end in `was`, and its end in `now`."""
    first, back = common_ends(was, now)
    return first, len(was) - back, len(now) - back


def as_bytes(text: str) -> bytes:
    """An editor's text as the bytes of a file."""
    return text.encode("utf-8", "surrogatepass")
