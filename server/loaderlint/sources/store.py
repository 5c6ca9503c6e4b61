"""The files of a project: found, read, cut into pieces, and searched. Files that are not needed are only read as
bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import TooLarge, UnreadableFile
from loaderlint.files.symlinks import Names
from loaderlint.findings.read_suppressions import may_hold
from loaderlint.project.modules.components import reach_alike
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.sources.discovery import Found, Notice, Walk
from loaderlint.sources.import_neighbours import Reachable
from loaderlint.sources.open_file import KeptPieces, OpenFile, around, as_bytes, piece_key
from loaderlint.sources.search_index import Searching
from loaderlint.syntax import notebook
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.piece_size import MAX_CLAUSES, has_too_many_clauses, is_too_large
from loaderlint.syntax.source import Source, UnreadableSource, decode, is_plain

#: If the pieces whose facts are in memory as objects have more characters than this (25 bytes of facts each), `rest`
#: packs them.
_MUCH_TEXT = 400_000


class Store:
    """The files of one root. Texts of an editor replace those on disk. `unreadable` says which files could not be read,
    and why; `left_out`, which files have a statement that is too large to be parsed. `kept`: facts of pieces from
    earlier sessions. `loose`: the root is not known to be a project, so its files are not all those below the root, but
    those that are named or edited, those beside them, and those that their imports lead to.

    `generation` counts changes. `before` holds, for each file that changed since the last call of `settled`, its
    version at that call (None: it was not open)."""

    def __init__(self, root: Path, kept: KeptPieces | None = None, *, loose: bool = False) -> None:
        self.root = root
        self._kept = kept
        self._loose = loose
        self._reachable = Reachable(root, self.data)
        #: The generation and the named files for which reachable files were last computed; None if they are not needed.
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
            opened = known.changed(source) if known else self._cut(path, source, text, as_bytes(text))
            self._note_left_out(opened)
            opened = self._if_read(opened)
            reaches_alike = known is not None and reach_alike(known.text, text, around)
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
        """Forget the changes so far: they have been processed."""
        self.before.clear()

    @property
    def kept(self) -> KeptPieces | None:
        """Facts of pieces from earlier sessions."""
        return self._kept

    def rest(self) -> Iterator[None]:
        """Save memory in a large project: pack the facts of files that are not being edited, one file per step."""
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
        """Look for the files of the root among at least this many folder entries. Returns whether all are found.

        Raises Cancelled if `stop` returns True meanwhile."""
        return self._loose or self._walked is not None or self._begun_walk().go_on(entries, stop)

    def _begun_walk(self) -> Walk:
        """The walk, which continues where the last call stopped, until files are created or deleted."""
        self._walk = self._walk or Walk(self.root)
        return self._walk

    def _look_again(self) -> None:
        """Check which files are reachable, because imports may lead to other files after a change."""
        self._reached_at = self.generation, self._named
        if self._reachable.outdated(self._seeds(), self.before):
            self._walked = self._paths = None

    def _seeds(self) -> frozenset[Path]:
        """The files that are named or being edited."""
        return self._named.union(path for path in self._overlays if path.is_relative_to(self.root))

    def walk_all(self) -> None:
        """Read all files below the root, although it is not known to be a project."""
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
            found = as_bytes(overlay)
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
        """Record that a file could not be read or searched because of an internal error. Other files are not
        affected."""
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
        """The opened files, each with its bytes, for a cache."""
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


def _read_as_utf8(encoding: str) -> str:
    return f"unknown encoding {encoding}: read as UTF-8 and not fixed; save it as UTF-8 without the encoding cookie"


def _overlay_source(text: str) -> Source:
    """The source of an editor's text. The editor owns the encoding; oddities of the text itself still count."""
    try:
        return replace(decode(text.encode("utf-8")), text=text)
    except (UnicodeEncodeError, UnreadableSource):
        return Source(text, "utf-8", False, "\n", ("text that cannot be encoded",))
