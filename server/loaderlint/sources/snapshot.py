"""What one linking reads of a project: every read is recorded, so that later edits can be checked against it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from loaderlint.project.modules import dependencies
from loaderlint.project.modules.components import within
from loaderlint.project.modules.project_files import WHOLE, Part, ProjectFile, Read
from loaderlint.runtime.internal_errors import Cancelled
from loaderlint.sources import discovery
from loaderlint.sources.open_file import Moves, OpenFile, around, as_bytes
from loaderlint.sources.search_index import SEARCHES
from loaderlint.syntax.byte_search import BASES_SPAN, bases, calls

if TYPE_CHECKING:
    from loaderlint.sources.configuration_files import ConfigurationFiles
    from loaderlint.sources.store import Store

_Words = Mapping[str, tuple[Path, ...]]
#: A kind of search, and the part of the project that was searched.
Search = tuple[str, Part]


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
        """The top-level packages with summaries."""

    def has(self, name: str) -> bool:
        """Whether a top-level package or module of this name is installed, or summarised."""

    def module(self, name: str) -> Path | None:
        """The file of the module with a dotted name; None if its source is not available."""

    def name_of(self, path: Path) -> str | None:
        """The dotted name of the module in a library's file; None for other files."""

    def file(self, path: Path) -> ProjectFile | None:
        """A library's file; None if it cannot be read."""

    def place(self, path: Path, piece: int) -> str:
        """The place of a piece of a library's file, as text for messages."""


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
        configurations: ConfigurationFiles | None = None,
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
        self._configurations = None
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

    def has_entry(self, folder: Path, name: str) -> bool:
        """Whether the folder on disk has a file or folder called `name`, with any suffix; True if it cannot be
        listed."""
        return discovery.has_entry(folder, name)

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
        """The (first) document of a YAML, JSON or TOML file of the project; None if it cannot be read."""
        return self._configurations.document(path) if self._configurations is not None else None

    def configurations(self, word: str) -> tuple[Path, ...]:
        """The YAML, JSON and TOML files of the project that hold `word`, sorted."""
        return self._configurations.naming(word) if self._configurations is not None else ()

    def is_configured(self, word: str) -> bool:
        """Whether a configuration of the project, or a script of the shell, may have a word."""
        return self._configurations is None or self._configurations.may_name(word)

    def has_libraries(self) -> bool:
        """Whether there is an environment in which libraries may be installed."""
        return self._libraries is not None and self._libraries.are_there()

    def summarised_libraries(self) -> tuple[str, ...]:
        """The top-level packages with summaries, sorted."""
        return self._libraries.summarised() if self._libraries is not None else ()

    def has_library(self, name: str) -> bool:
        """Whether a top-level package or module of this name is installed."""
        return self._libraries is not None and self._libraries.has(name)

    def library_module(self, name: str) -> Path | None:
        """The file of an installed library's module; None if its source is not available, or if it belongs to the
        project."""
        path = self._libraries.module(name) if self._libraries is not None else None
        return None if path is None or self._store.exists(path) else path

    def library_name(self, path: Path) -> str | None:
        """The dotted name of the module in a library's file."""
        return self._libraries.name_of(path) if self._libraries is not None else None

    def library_place(self, path: Path, piece: int) -> str:
        """The place of a piece of a library's file, as text for messages."""
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
        around_was, around_now = around(was, now, longest)
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
        around_was, around_now = around(was, now, BASES_SPAN)
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


def _bases_of(text: str) -> frozenset[bytes]:
    return bases(as_bytes(text))
