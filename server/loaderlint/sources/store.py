"""The files of a project: found, read, cut into pieces, lowered on demand, and remembered by content.

A file keeps the facts of its present pieces and, for a half-typed piece, those of its last good version, but nothing
older. Files that are not needed are only read as bytes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import TooLarge, UnreadableFile
from loaderlint.files.symlinks import Names
from loaderlint.findings.read_suppressions import may_hold
from loaderlint.project.modules import dependencies
from loaderlint.project.modules.components import reach_alike, within
from loaderlint.project.modules.project_files import WHOLE, Part, ProjectFile, Read
from loaderlint.runtime.call_stack import with_room
from loaderlint.runtime.internal_errors import Cancelled as Cancelled
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.sources.discovery import Found, Notice, Walk
from loaderlint.sources.import_neighbours import Reachable
from loaderlint.sources.search_index import SEARCHES, Searching
from loaderlint.syntax import notebook
from loaderlint.syntax.byte_search import BASES_SPAN, bases, calls
from loaderlint.syntax.cutter import Piece, common_ends, cut, recut
from loaderlint.syntax.piece_size import MAX_CLAUSES, has_too_many_clauses, is_too_large
from loaderlint.syntax.source import Source, UnreadableSource, decode, is_plain

if TYPE_CHECKING:
    from loaderlint.facts.codec import FileFacts
    from loaderlint.facts.piece_facts import PieceFacts
    from loaderlint.syntax.span import Span
    from loaderlint.syntax.unread import UnreadPart

#: If the pieces whose facts are in memory as objects have more characters than this (25 bytes of facts each), `rest`
#: packs them.
_MUCH_TEXT = 400_000

_Words = Mapping[str, tuple[Path, ...]]
#: A kind of search, and the part of the project that was searched.
Search = tuple[str, Part]
PieceKey = tuple[str, str, bool, str]
#: For each piece of a file its number in another version of it, None if it is gone.
Moves = Sequence[int | None]


def piece_key(piece: Piece) -> PieceKey:
    """Everything that the facts of a piece depend on."""
    return (piece.kind, piece.keyword, piece.parent >= 0, piece.text)


@lru_cache(maxsize=1)
def _decoded(content: bytes) -> Source:
    """The decoded source. The last one is remembered, because each finding of a file asks for it and there may be
    thousands."""
    return decode(content)


@dataclass(slots=True, eq=False)
class OpenFile:
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
        """The facts of a piece if somebody has asked for them, and if it parses."""
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
        """Keep what is known of files, given as their bytes and what they were parsed to."""


class Store:
    """The files of one root. Texts of an editor replace those on disk. `unreadable` says which files could not be read,
    and why; `left_out`, which files have a statement that is too large to be parsed. `kept`: where facts of pieces may
    be known already. `loose`: nothing says that the root is a project, so its files are not all those below the root,
    but those that are named or edited, those beside them, and those that their imports lead to.

    `generation` counts changes. `before` holds, for each file that changed since the last call of `settled`, its
    version at that call (None: it was not open)."""

    def __init__(self, root: Path, kept: KeptPieces | None = None, *, loose: bool = False) -> None:
        self.root = root
        self._kept = kept
        self._loose = loose
        self._reachable = Reachable(root, self.data)
        #: The generation and the named files for which reachable files were last computed; None if nobody needs them.
        self._reached_at: tuple[int, frozenset[Path]] | None = None
        self._found = Found(())
        self._overlays: dict[Path, str] = {}
        self._open: dict[Path, OpenFile | None] = {}
        self._data: dict[Path, bytes] = {}
        #: Of files whose bytes were released: hashes of their contents, b"" if the contents have changed since; and
        #: those files that were silent (see `is_silent`).
        self._left: dict[Path, bytes] = {}
        self._silent: set[Path] = set()
        self._cells: dict[Path, tuple[int, ...]] = {}
        self._searching = Searching(root, self.data, self._note_failure)
        #: The files that could not be read or searched because of internal errors, with the errors by their messages.
        self._failures: dict[Path, dict[str, Failure]] = {}
        self._walk: Walk | None = None
        self._walked: frozenset[Path] | None = None
        self._named: frozenset[Path] = frozenset()
        self._paths: tuple[Path, ...] | None = None
        self._known: frozenset[Path] = frozenset()
        self._names = Names()
        self._folders: frozenset[Path] = frozenset()
        self.unreadable: dict[Path, str] = {}
        #: Encodings that files declare and Python does not know; these files are read as UTF-8.
        self.unknown_encodings: dict[Path, str] = {}
        self.left_out: dict[Path, str] = {}
        self.generation = 0
        self.before: dict[Path, OpenFile | None] = {}

    # --- what changes -------------------------------------------------------------------------------------------------

    def set_text(self, path: Path, text: str | None) -> None:
        """Replace the text of a file by an editor's, or go back to the one on disk (None)."""
        if text is None and path not in self._overlays:
            return
        known = self._changing(path)
        if text is None:
            self._searching.change(path)
            del self._overlays[path]
            if self._walked is not None and path not in self._walked and path.is_file():
                self._walked = None
            self._paths = None
            return
        if path not in self._overlays and path not in self._known:
            self._paths = None
        self._overlays[path] = text
        if len(text) > reading.SOURCE.size:
            self._searching.change(path)
            self.unreadable[path] = f"{reading.too_large(reading.SOURCE)}; not checked"
            return
        opened, reaches_alike = None, False
        with contained(self._note_failure, path):
            source = _overlay_source(text)
            opened = known.changed(source) if known else self._cut(path, source, text, _bytes(text))
            self._note_left_out(opened)
            opened = self._if_read(opened)
            reaches_alike = known is not None and reach_alike(known.text, text, _around)
        self._open[path] = opened
        self._searching.change(path, reaches_alike=reaches_alike)

    def overlay(self, path: Path) -> str | None:
        """The editor's text of a file; None if there is none."""
        return self._overlays.get(path)

    def forget(self, path: Path) -> None:
        """The file was changed, created or deleted on disk."""
        self._names.forget(path)
        self.generation += 1
        if path not in self._overlays:
            self._changing(path)
            self._searching.change(path)
        self._walked = self._rewalked(path)
        self._walk = self._paths = None

    def _changing(self, path: Path) -> OpenFile | None:
        """Forget what is known of the file's content, and return the version that it had."""
        if (path in self._data or path in self._left) and path not in self._open:
            self._open[path] = self._opened(path)
        was = self._open.pop(path, None)
        if not self._left.pop(path, b"known"):
            was = None  # its content had changed before, so that version is not known
        self.before.setdefault(path, was)
        self._data.pop(path, None)
        self._silent.discard(path)
        self._cells.pop(path, None)
        self.unreadable.pop(path, None)
        self.unknown_encodings.pop(path, None)
        self.left_out.pop(path, None)
        self._failures.pop(path, None)
        self.generation += 1
        return was

    def _rewalked(self, path: Path) -> frozenset[Path] | None:
        """The files on disk if they are still known. None if this file was created or deleted: ignore rules decide
        whether it counts."""
        if self._walked is not None and path in self._walked and path.is_file():
            return self._walked
        return None

    def suppose(self, paths: Iterable[Path]) -> None:
        """Assume that these are all files on disk, without looking: the caller knows them, or needs no others."""
        self._walked, self._paths = frozenset(paths), None

    @property
    def is_large(self) -> bool:
        """Whether there are so many bytes that they are read again instead of kept."""
        return self._searching.drop is not None

    @is_large.setter
    def is_large(self, is_large: bool) -> None:
        self._searching.drop = self._drop_all if is_large else None

    def settled(self) -> None:
        """All changes so far have been dealt with."""
        self.before.clear()

    @property
    def kept(self) -> KeptPieces | None:
        """Where facts of pieces may be known already."""
        return self._kept

    def rest(self) -> Iterator[None]:
        """Save memory in a large project: pack the facts of files that nobody edits, one file per step."""
        idle = [(path, file) for path, file in self._open.items() if file is not None and path not in self._overlays]
        if sum(file.weight for _, file in idle) > _MUCH_TEXT:
            for path, file in idle:
                if self._open.get(path) is file:
                    file.pack()
                yield

    # --- which files --------------------------------------------------------------------------------------------------

    def find(self, stop: Callable[[], bool] = lambda: False) -> tuple[Path, ...]:
        """Every Python file of the root and those that were named, sorted. The folder is walked again only after a file
        was created or deleted.

        Raises Cancelled if `stop` returns True meanwhile."""
        if self._reached_at is not None and self._reached_at != (self.generation, self._named):
            self._look_again()
        if self._paths is None:
            walked = self._on_disk(stop)
            overlays = {path for path in self._overlays if path.is_relative_to(self.root)}
            known = frozenset(walked | overlays | self._named)
            if known != self._known:
                self._known = known
                self._folders = _folders_of(known)
            self._paths = tuple(sorted(known, key=_in_order))
        return self._paths

    def _on_disk(self, stop: Callable[[], bool] = lambda: False) -> frozenset[Path]:
        if self._walked is None:
            self._found = Found(()) if self._loose else self._begun_walk().finish(stop)
            self._walk = None
            files = self._found.files
            if self._loose or not self._found.complete:
                reached = self._reachable.find(self._seeds(), stop)
                self._reached_at = self.generation, self._named
                self._found = self._found._replace(notices=self._found.notices + reached.notices)
                files += reached.files
            self._walked = frozenset(files)
        return self._walked

    def find_some(self, entries: int, stop: Callable[[], bool]) -> bool:
        """Look for the files of the root among at least this many folder entries; whether all are found.

        Raises Cancelled if `stop` returns True meanwhile."""
        return self._loose or self._walked is not None or self._begun_walk().go_on(entries, stop)

    def _begun_walk(self) -> Walk:
        """The walk, which continues where the last call stopped, until files are created or deleted."""
        self._walk = self._walk or Walk(self.root)
        return self._walk

    def _look_again(self) -> None:
        """Files have changed or others are named, so imports may lead to other files."""
        self._reached_at = self.generation, self._named
        if self._reachable.outdated(self._seeds(), self.before):
            self._walked = self._paths = None

    def _seeds(self) -> frozenset[Path]:
        """The files that somebody named or edits."""
        return self._named.union(path for path in self._overlays if path.is_relative_to(self.root))

    def walk_all(self) -> None:
        """Read all files below the root, although nothing says that it is a project."""
        if self._loose:
            self._loose = False
            self._reached_at = None
            self._walked = self._paths = None
            self.generation += 1

    @property
    def is_loose(self) -> bool:
        """Whether only those files are read that named files lead to."""
        return self._loose

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about files that are checked nevertheless, and about the search for files, except `unlisted`."""
        encodings = sorted(self.unknown_encodings.items())
        return self._found.notices + tuple(Notice(path, _read_as_utf8(name)) for path, name in encodings)

    @property
    def unlisted(self) -> tuple[Notice, ...]:
        """The folders that cannot be listed."""
        return self._found.unlisted

    def name(self, paths: Iterable[Path]) -> None:
        """Set the files that the user names. They count, ignored or not, as long as they are named."""
        named = frozenset(paths)
        if named - self._known or self._named - named:
            self._paths = None
        self._named = named

    def names(self, path: Path) -> tuple[Path, ...]:
        """All names of a file among the files known so far: `path`, and those that symbolic links add."""
        return self._names.of(path, self._known)

    # --- the view of the linker (loaderlint.project.modules.project_files.Files) --------------------------------------

    def paths(self) -> tuple[Path, ...]:
        """Every Python file of the project, sorted."""
        return self.find()

    def exists(self, path: Path) -> bool:
        """Whether the path is a Python file of the project."""
        self.find()
        return path in self._known

    def may_hold(self, path: Path) -> bool:
        """Whether the path was a file of the project when that was last computed, or imports may lead to it since."""
        return path in self._known or (self._reached_at is not None and path.is_relative_to(self.root))

    def has_folder(self, path: Path) -> bool:
        """Whether the folder holds Python files of the project."""
        self.find()
        return path in self._folders

    def data(self, path: Path) -> bytes:
        """The bytes of a file; b'' if it cannot be read (then `unreadable` says why)."""
        known = self._data.get(path)
        if known is not None:
            return known
        opened = self._open.get(path)
        if opened is not None and isinstance(opened.content, bytes):
            return opened.content
        overlay = self._overlays.get(path)
        if path in self.unreadable:
            found = b""
        elif overlay is not None:
            found = _bytes(overlay)
        else:
            found = b""
            with contained(self._note_failure, path):
                found = self._read(path)
            if path in self._left and file_accesses.content(found) != self._left[path]:
                self._left[path] = b""
                self._silent.discard(path)
        self._data[path] = found
        return found

    def cells(self, path: Path) -> tuple[int, ...]:
        """The 0-based lines at which the code cells of a notebook begin; () for other files."""
        self.data(path)
        return self._cells.get(path, ())

    def _read(self, path: Path) -> bytes:
        is_notebook = path.suffix == notebook.SUFFIX
        try:
            data = reading.read(path, reading.NOTEBOOK if is_notebook else reading.SOURCE)
        except UnreadableFile as error:
            self.unreadable[path] = f"{error}; not checked" if isinstance(error, TooLarge) else str(error)
            return b""
        return self._code(path, data) if is_notebook else data

    def _code(self, path: Path, data: bytes) -> bytes:
        """The code of a notebook's cells, as the bytes of a Python file."""
        try:
            found = notebook.decode(data)
        except notebook.UnreadableNotebook as error:
            self.unreadable[path] = str(error)
            return b""
        self._cells[path] = found.starts
        return found.text.encode("utf-8", "surrogatepass")

    def open(self, path: Path) -> OpenFile | None:
        """The file, cut into pieces; None if it cannot be read as text."""
        if path not in self._open:
            self._open[path] = self._opened(path) if self.exists(path) else None
        return self._open[path]

    def _note_failure(self, failure: Failure) -> None:
        """Note that a file could not be read or searched because of an internal error: other files do not see it."""
        assert failure.path is not None, "it is about a file"
        self._failures.setdefault(failure.path, {}).setdefault(failure.error, failure)

    def _opened(self, path: Path) -> OpenFile | None:
        with contained(self._note_failure, path):
            return self._read_and_cut(path)
        return None

    def _read_and_cut(self, path: Path) -> OpenFile | None:
        data = self.data(path)
        if path in self.unreadable:
            return None
        try:
            source = decode(data)
        except UnreadableSource as error:
            self.unreadable[path] = str(error)
            return None
        if source.unknown_encoding:
            self.unknown_encodings[path] = source.unknown_encoding
        return self._if_read(self._cut(path, data, source.text, data))

    def _if_read(self, opened: OpenFile) -> OpenFile | None:
        """The file; None, with the reason noted, if it has more clauses than are read."""
        if not has_too_many_clauses(opened.pieces):
            return opened
        self.unreadable[opened.path] = f"more than {MAX_CLAUSES:,} branches and loops at module level"
        return None

    def _cut(self, path: Path, content: Source | bytes, text: str, data: bytes) -> OpenFile:
        """The file with this content. Its facts may be known from an earlier session."""
        kept = self._kept.get(data, text) if self._kept else None
        if kept is None:
            opened = OpenFile(path, content, cut(text))
        else:
            packed = {piece_key(kept.pieces[index]): facts for index, facts in kept.packed.items()}
            opened = OpenFile(path, content, kept.pieces, packed=packed)
        if path in self._left:  # which facts were asked for is no longer known
            opened.asked.update(map(piece_key, opened.pieces))
        self._note_left_out(opened)
        return opened

    def _note_left_out(self, opened: OpenFile) -> None:
        """Note the first piece of a file that is too large to be parsed, if there is one."""
        line = next((piece.line for piece in opened.pieces if is_too_large(piece.text)), None)
        if line is not None:
            self.left_out[opened.path] = f"line {line + 1}: the statement that begins here is too large; not checked"

    def is_readable(self, path: Path) -> bool:
        """Whether the file is text. Most files need not be decoded and cut to know that."""
        if path not in self._open and self.exists(path) and is_plain(self.data(path)):
            return path not in self.unreadable
        return self.open(path) is not None

    def linked_data(self, path: Path) -> bytes | None:
        """The bytes that a file had when it was last read for linking; None if it is not text, or if it has changed on
        disk since and the old bytes were not kept."""
        return self.data(path) if self.is_readable(path) and self._left.get(path) != b"" else None

    def is_silent(self, path: Path) -> bool:
        """Whether the file is text without suppressions, as far as a quick look shows. This is remembered for files
        whose bytes were released."""
        return path in self._silent or (self.is_readable(path) and not may_hold(self.data(path)))

    def is_valid(self, path: Path) -> bool:
        """Whether Python's parser accepts the whole file, or the file cannot be read at all (then `unreadable` says
        why); False for a file that is too large to be parsed as a whole. In a large project its bytes are released
        afterwards."""
        from loaderlint.syntax.unread import is_valid

        if not self.is_readable(path):
            return True
        valid = is_valid(decode(self.data(path)).text)
        if self.is_large and path not in self._open:
            self._drop_all([path])
        return valid

    def failures(self) -> Iterator[Failure]:
        """The internal errors while files and their pieces were read."""
        for failures in list(self._failures.values()):
            yield from failures.values()
        for file in list(self._open.values()):
            yield from file.failures.values() if file is not None else ()

    def opened(self) -> Iterator[tuple[bytes, OpenFile]]:
        """The opened files, each with its bytes, for a cache to keep."""
        for path, file in self._open.items():
            if file is not None:
                yield self.data(path), file

    def contents(self) -> Iterator[tuple[Path, bytes]]:
        """The Python files on disk that were read, each with the hash of its content (see `file_accesses.content`)."""
        yield from ((path, told or bytes(file_accesses.CONTENT)) for path, told in self._left.items())
        for path, data in self._data.items():
            if path not in self._left and self._is_plain(path) and path not in self.unreadable:
                yield path, file_accesses.content(data)

    def edited(self) -> Iterator[Path]:
        """The files that an editor has open."""
        yield from self._overlays

    def let_go(self, paths: Iterable[Path]) -> None:
        """Save memory: these files are not needed for a while. Put their facts into the cache and release everything
        that can be read again from disk. Files that an editor has open stay."""
        paths = [path for path in paths if self._is_plain(path) and path not in self.unreadable]
        paths = [path for path in paths if not self._failed(path)]
        files = ((path, self._open.get(path)) for path in paths)
        if self._kept is not None:
            self._kept.put((self.data(path), file) for path, file in files if file is not None)
        for path in paths:
            self._drop(path)
            self._open.pop(path, None)
        self.searching().let_go(paths)

    def _failed(self, path: Path) -> bool:
        """Whether something in a file could not be read because of an internal error."""
        file = self._open.get(path)
        return path in self._failures or (file is not None and bool(file.failures))

    def _drop_all(self, paths: Iterable[Path]) -> None:
        """Release the bytes of these files: they are not searched for a while."""
        for path in paths:
            if self._is_plain(path) and path not in self.unreadable:
                self._drop(path)

    def _drop(self, path: Path) -> None:
        """Release the bytes of a file, except those that `OpenFile` holds; they can be read again from disk."""
        data = self._data.pop(path, None)
        if data is None or path in self._left:
            return
        self._left[path] = file_accesses.content(data)
        if is_plain(data) and not may_hold(data):
            self._silent.add(path)

    def _is_plain(self, path: Path) -> bool:
        """Whether the bytes on disk are what is read: the file is not a notebook and not open in an editor."""
        return path.suffix != notebook.SUFFIX and path not in self._overlays

    def searching(self) -> Searching:
        """The searches of the present files."""
        self._searching.take(self.find())
        return self._searching

    def file(self, path: Path) -> ProjectFile | None:
        """The file as the linker reads it."""
        opened = self.open(path)
        if opened is None:
            return None
        return ProjectFile(path, opened.pieces, opened.facts)


def _folders_of(paths: Iterable[Path]) -> frozenset[Path]:
    """All folders that contain these files, at any depth."""
    found: set[Path] = set()
    for folder in {path.parent for path in paths}:
        while folder not in found:
            found.add(folder)
            folder = folder.parent
    return frozenset(found)


def _in_order(path: Path) -> list[str]:
    """A sort key with the order of the paths themselves, which take much longer to compare."""
    return os.path.normcase(path).split(os.sep)


def _bytes(text: str) -> bytes:
    """An editor's text as the bytes of a file."""
    return text.encode("utf-8", "surrogatepass")


def _read_as_utf8(encoding: str) -> str:
    return f"unknown encoding {encoding}: read as UTF-8 and not fixed; save it as UTF-8 without the encoding cookie"


def _overlay_source(text: str) -> Source:
    """The source of an editor's text. The editor owns the encoding; oddities of the text itself still count."""
    try:
        return replace(decode(text.encode("utf-8")), text=text)
    except (UnicodeEncodeError, UnreadableSource):
        return Source(text, "utf-8", False, "\n", ("text that cannot be encoded",))


class Notes(NamedTuple):
    """What was read of a snapshot until it was released: for each file (None: it could not be read), and for each kind
    of search the words with the files found."""

    reads: Mapping[Path, Read | bytes | None]
    searched: Mapping[str, Mapping[str, tuple[Path, ...]]]


class Libraries(Protocol):
    """The installed libraries that a project imports, as one linking sees them."""

    def are_there(self) -> bool:
        """Whether there is a folder with libraries."""

    def summarised(self) -> tuple[str, ...]:
        """The top-level packages of which there are summaries."""

    def has(self, name: str) -> bool:
        """Whether a top-level package or module of this name is installed, or summarised."""

    def module(self, name: str) -> Path | None:
        """The file of the module with a dotted name; None if its source is not to be had."""

    def name_of(self, path: Path) -> str | None:
        """The dotted name of the module in such a file; None for other files."""

    def file(self, path: Path) -> ProjectFile | None:
        """Such a file; None if it cannot be read."""

    def place(self, path: Path, piece: int) -> str:
        """Where a piece of such a file stands, for people."""


class Snapshot:
    """A view of one part of a store's project for one linking. The same question always gets the same answer, and each
    question is noted.

    What the linker computes from a snapshot is a function of the answers that it got. So the result stays valid as long
    as the project has the same files and parts and `same_answers` says that every question would get the same answer.
    Questions raise Cancelled once `stop` returns True; `opened` is called for each file that is read."""

    def __init__(
        self,
        store: Store,
        stop: Callable[[], bool],
        opened: Callable[[], None],
        part: Part = WHOLE,
        libraries: Libraries | None = None,
        configurations: Callable[[Path], object] = lambda path: None,
    ) -> None:
        self._store = store
        self._libraries = libraries
        self._configurations = configurations
        self._stop = stop
        self._opened = opened
        self.part = part
        self._files: dict[Path, ProjectFile | None] = {}
        self._read: dict[Path, Read | bytes | None] = {}
        searching = store.searching()
        searching.begin(part)
        self._paths = searching.units()[part] if part else store.paths()
        self._searched: dict[str, dict[str, tuple[Path, ...]]] = {kind: {} for kind in SEARCHES}
        #: The versions of files that the notes refer to, where these are not those of the linking; and the versions of
        #: changed files that were last compared with them, each with the pairing of its pieces.
        self._versions: dict[Path, OpenFile] = {}
        self._compared: dict[Path, tuple[OpenFile, Moves]] = {}

    def release(self) -> None:
        """The linking is over: keep the notes of what was read, and release texts and facts."""
        for file in self._files.values():
            if file is not None:
                file.note_places()
        self._read = {path: file.read if file else None for path, file in self._files.items()}
        self._files.clear()
        self._libraries = None
        self._configurations = lambda path: None
        self._stop, self._opened = (lambda: False), (lambda: None)

    def notes(self) -> Notes:
        """What was read until the snapshot was released."""
        return Notes(self._read, self._searched)

    def take(self, notes: Notes) -> None:
        """Take over the notes of a snapshot of the same part that was linked in another process."""
        self.release()
        self._read = dict(notes.reads)
        self._searched = {kind: dict(asked) for kind, asked in notes.searched.items()}

    @property
    def root(self) -> Path:
        """The folder that holds the project."""
        return self._store.root

    def paths(self) -> tuple[Path, ...]:
        """Every Python file of the part, sorted."""
        return self._paths

    def exists(self, path: Path) -> bool:
        """Whether the path is a Python file of the project."""
        return self._store.exists(path)

    def has_folder(self, path: Path) -> bool:
        """Whether the folder holds Python files of the project."""
        return self._store.has_folder(path)

    def file(self, path: Path) -> ProjectFile | None:
        """The file; None if it cannot be read."""
        try:
            return self._files[path]
        except KeyError:
            if self._stop():
                raise Cancelled from None
            if self._libraries is not None and self._libraries.name_of(path) is not None:
                return self._libraries.file(path)
            found = self._files[path] = self._store.file(path)
            self._opened()
            return found

    def containing(self, word: str) -> tuple[Path, ...]:
        """The files of the part that contain `word`, sorted."""
        return self._search("containing", word)

    def calling(self, name: str) -> tuple[Path, ...]:
        """The files of the part that may call something called `name`, sorted."""
        return self._search("calling", name)

    def deriving(self, word: str) -> tuple[Path, ...]:
        """The files of the part with a class that names `word` among its bases (and perhaps others), sorted."""
        return self._search("deriving", word)

    def configuration(self, path: Path) -> object:
        """The first document of a YAML file of the project; None if it cannot be read."""
        return self._configurations(path)

    def has_libraries(self) -> bool:
        """Whether there is an environment in which libraries may be installed."""
        return self._libraries is not None and self._libraries.are_there()

    def summarised_libraries(self) -> tuple[str, ...]:
        """The top-level packages of which summaries are known, sorted."""
        return self._libraries.summarised() if self._libraries is not None else ()

    def has_library(self, name: str) -> bool:
        """Whether a top-level package or module of this name is installed."""
        return self._libraries is not None and self._libraries.has(name)

    def library_module(self, name: str) -> Path | None:
        """The file of an installed library's module; None if its source is not to be had, or it is the project's."""
        path = self._libraries.module(name) if self._libraries is not None else None
        return None if path is None or self._store.exists(path) else path

    def library_name(self, path: Path) -> str | None:
        """The dotted name of the module in a library's file."""
        return self._libraries.name_of(path) if self._libraries is not None else None

    def library_place(self, path: Path, piece: int) -> str:
        """Where a piece of a library's file stands, for people."""
        return self._libraries.place(path, piece) if self._libraries is not None else ""

    def _search(self, kind: str, word: str) -> tuple[Path, ...]:
        known = self._searched[kind]
        if word not in known:
            if self._stop():
                raise Cancelled
            known[word] = self._store.searching().find(kind, word, self.part)
        return known[word]

    def pack(self) -> None:
        """Save memory: keep the notes as bytes, a tenth of the size of the objects. They are not needed for a while."""
        for path, read in self._read.items():
            if isinstance(read, Read):
                self._read[path] = pickle.dumps(read, pickle.HIGHEST_PROTOCOL)

    def _noted(self, path: Path) -> Read | None:
        read = self._read.get(path)
        if isinstance(read, bytes):
            read = self._read[path] = pickle.loads(read)
        assert not isinstance(read, bytes)
        return read

    def searches(self) -> dict[Search, _Words]:
        """What was searched for: for each kind of search in the part, the words with the files found."""
        return {(kind, self.part): asked for kind, asked in self._searched.items()}

    def reads(self) -> Iterator[tuple[Path, Read | None]]:
        """What was read of each file until it was released."""
        for path, read in self._read.items():
            yield path, pickle.loads(read) if isinstance(read, bytes) else read

    def looked_at(self, path: Path) -> bool:
        """Whether any question was about this file, or about a set of files that contains it."""
        return path in self._read or within(str(path), self.part)

    def same_answers(self) -> bool:
        """Whether every question would get the same answer after the changes in `Store.before`, given that the project
        has the same files and the same parts."""
        self._compared.clear()
        return all(self._same_file(path, was) for path, was in self._store.before.items() if self.looked_at(path))

    def moves(self) -> dict[Path, Moves]:
        """The new numbers of pieces, after `same_answers` returned True: for each file whose pieces were renumbered,
        the new number of each piece, None for one that was removed."""
        return {path: to for path, (_, to) in self._compared.items() if any(to[i] != i for i in range(len(to)))}

    def follow(self) -> None:
        """From now on the notes refer to the versions of files for which `same_answers` returned True."""
        moves = self.moves()
        for path, (now, _) in self._compared.items():
            self._versions[path] = now
            read = self._noted(path) if path in moves else None
            if read is not None:
                self._read[path] = read.moved(moves[path])
        self._compared.clear()

    def _same_file(self, path: Path, before: OpenFile | None) -> bool:
        was, now = self._versions.get(path, before), self._store.open(path)
        if was is None or now is None:
            return was is now and path not in self._read and not any(self._searched.values())
        if was is now:
            return True
        if within(str(path), self.part) and not self._same_searches(was.text, now.text):
            return False
        read = self._noted(path)
        if read is None:
            return path not in self._read
        to = dependencies.same_answers([read], was, now)
        if to is not None:
            self._compared[path] = now, to
        return to is not None

    def _same_searches(self, was: str, now: str) -> bool:
        """Whether every search of the part finds the file if and only if it did before."""
        return self._same_words(was, now) and self._same_bases(was, now)

    def _same_words(self, was: str, now: str) -> bool:
        """Whether the file contains the same words as before, of those that the part was searched for."""
        held, called = self._searched["containing"], self._searched["calling"]
        longest = max(map(len, (*held, *called)), default=0) + len("def  (")
        around_was, around_now = _around(was, now, longest)
        for word in held:
            if (word in around_was) != (word in around_now) and (word in was) != (word in now):
                return False
        for name in called:
            if (name in around_was or name in around_now) and calls(was, name) != calls(now, name):
                return False
        return True

    def _same_bases(self, was: str, now: str) -> bool:
        """Whether the file's classes derive from the same names as before, of those that were searched for."""
        words = self._searched["deriving"]
        around_was, around_now = _around(was, now, BASES_SPAN)
        if not words or ("class" not in around_was and "class" not in around_now):
            return True
        changed = _bases_of(around_was) ^ _bases_of(around_now)
        asked = [word.encode() for word in words]
        if changed.isdisjoint(asked) and all(word.isascii() for word in words):
            return True
        before, after = _bases_of(was), _bases_of(now)
        return not any((word in before) != (word in after) for word in asked) and all(
            word.isascii() or (word in was) == (word in now) for word in words
        )


def _around(was: str, now: str, span: int) -> tuple[str, str]:
    """The parts in which two texts differ, with up to `span` characters around them."""
    first, last_was, last_now = difference(was, now)
    start = max(first - span, 0)
    return was[start : last_was + span], now[start : last_now + span]


def _bases_of(text: str) -> frozenset[bytes]:
    return bases(_bytes(text))


def difference(was: str, now: str) -> tuple[int, int, int]:
    """The part in which two texts differ: its start, its end in `was`, and its end in `now`."""
    first, back = common_ends(was, now)
    return first, len(was) - back, len(now) - back
