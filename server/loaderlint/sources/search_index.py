"""Finds the files of a project that contain a word, call a name, or derive from a class.

Called names and base classes are looked up in an index of each file: a kilobyte of text, made with one regular
expression when its component is first searched. For 140 MB of source, building it takes half a second, and a search 2
ms, compared with 40 ms for a scan of the bytes. An index of all words takes four times as long and a fifth of the
memory of the source, so only files that are searched for many words get one. Results are kept until the linking after
next of their component begins, so that linking again after an edit only searches the changed file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from loaderlint.project.modules.components import SIGNS, Layout, Parts, reached
from loaderlint.project.modules.project_files import WHOLE, Part
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.syntax.byte_search import bases, called, entry, index, words

SEARCHES = ("containing", "calling", "deriving")

#: The kind of a search, and the word that is searched for.
_Asked = tuple[str, str]
_Found = dict[_Asked, dict[Path, None]]

#: The indexes of a file, computed from its bytes.
_INDEXES: dict[str, Callable[[bytes], bytes]] = {
    "words": words,
    "called": called,
    "bases": lambda data: index(bases(data)),
}
#: The part of a word that is inside one word of the index of all words, wherever it occurs in the bytes.
_RUN = re.compile(r"\w+", re.ASCII)
#: The index of all words is made after this many scans: a check searches all files either for few words or for a
#: hundred.
_OFTEN = 12


def _index_for(kind: str, word: str) -> str:
    """The index that a search uses; '' for the bytes of the files."""
    if kind == "calling":
        return "called"
    return "bases" if kind == "deriving" and word.isascii() else ""


def _needle(by: str, word: str) -> bytes:
    """What to search for in an index (`by`; '' for the bytes) to find a word."""
    return entry(word) if by else word.encode("utf-8", "surrogatepass")


class Searching:
    """Searches the files of one store. `data` returns the bytes of a file; `failed` is called with internal errors that
    keep a file from being searched; `drop`, in a large project, is called with files whose bytes are no longer needed,
    because all their indexes exist."""

    def __init__(self, root: Path, data: Callable[[Path], bytes], failed: Callable[[Failure], None]) -> None:
        self._root = root
        self._data = data
        self._failed = failed
        self.drop: Callable[[Iterable[Path]], None] | None = None
        self._paths: tuple[Path, ...] = ()
        self._present: frozenset[Path] = frozenset()
        self._indexes: dict[str, dict[Path, bytes]] = {name: {} for name in _INDEXES}
        #: The files of a part by index, each with that index; with its bytes under ''.
        self._contents: dict[Part, dict[str, list[tuple[Path, bytes]]]] = {}
        #: The number of words that were searched for.
        self._scans: Counter[Part] = Counter()
        self._found: dict[Part, _Found] = {}
        self._before: dict[Part, _Found] = {}
        #: The words that the whole project was searched for.
        self._held: dict[str, dict[Path, None]] = {}
        self._changed: set[Path] = set()
        self._parts: Parts | None = None
        self._joined: dict[str, Part] | None = None
        self._units: dict[Part, tuple[Path, ...]] | None = None
        self._reach: dict[Path, frozenset[str]] = {}
        #: Files that may have changed their imports.
        self._unsure: set[Path] = set()

    # --- what changes -------------------------------------------------------------------------------------------------

    def take(self, paths: tuple[Path, ...]) -> None:
        """Set the files to search."""
        if paths is self._paths or paths == self._paths:
            return
        self._paths, self._present = paths, frozenset(paths)
        self._parts = None
        for searched in (self._found, self._before):
            searched.clear()
        for known in self._indexes.values():
            known.clear()
        self._held.clear()
        self._contents.clear()
        self._scans.clear()
        self._changed.clear()
        self._unsure.clear()
        self._reach.clear()
        self._joined = self._units = None

    def change(self, path: Path, *, reaches_alike: bool = False) -> None:
        """The file's content has changed. `reaches_alike`: it still imports the same modules."""
        self._changed.add(path)
        for known in self._indexes.values():
            known.pop(path, None)
        if not reaches_alike:
            self._unsure.add(path)

    def begin(self, part: Part) -> None:
        """The linking of a part begins: forget the results that the last linking did not ask for."""
        self._refresh()
        self._before[part] = self._found.pop(part, {})
        if not part:
            self._held = {}

    def _refresh(self) -> None:
        """Search the changed files again."""
        changed, self._changed = self._changed & self._present, set()
        for path in changed:
            for part in dict.fromkeys((self.part_of(path), WHOLE)):
                self._contents.pop(part, None)
                for known in (self._found, self._before):
                    for asked, found in known.get(part, {}).items():
                        self._look_again(path, asked, found)

    def _look_again(self, path: Path, asked: _Asked, found: dict[Path, None]) -> None:
        holds = self._holds(*asked, path)
        if holds != (path in found):
            kept = {*found, path} if holds else {*found} - {path}
            found.clear()
            found.update(dict.fromkeys(sorted(kept)))

    # --- searches -----------------------------------------------------------------------------------------------------

    def find(self, kind: str, word: str, part: Part = WHOLE) -> tuple[Path, ...]:
        """The files of a part, sorted, that contain `word` (kind 'containing'), may call something of this name
        ('calling'), or have a class with this word among its bases ('deriving')."""
        if self._changed:
            self._refresh()
        asked = (kind, word)
        known = self._found.setdefault(part, {})
        found = known.get(asked)
        if found is None:
            found = self._before.get(part, {}).get(asked)
            if found is None:
                found = dict.fromkeys(self._searched(kind, word, part))
            known[asked] = found
            if kind == "containing" and not part:
                self._held[word] = found
        return tuple(found)

    def _searched(self, kind: str, word: str, part: Part) -> list[Path]:
        if kind == "containing":
            return self._containing(word, part)
        by = _index_for(kind, word)
        needle = _needle(by, word)
        return [path for path, content in self._contents_of(by, part) if needle in content]

    def _containing(self, word: str, part: Part) -> list[Path]:
        needle = _needle("", word)
        self._scans[part] += 1
        often = self._scans[part] + self._scans[WHOLE] > _OFTEN
        run = max(_RUN.findall(word), key=len, default="").encode() if often else b""
        by = "words" if run else ""
        # If the whole project was searched for a part of the word, only the files found need a scan. In a part of the
        # project, a scan costs less than looking through all earlier searches.
        held = [found for inner, found in self._held.items() if inner in word] if not part else []
        if held:
            contents: Iterable[tuple[Path, bytes]] = ((path, self._content(by, path)) for path in min(held, key=len))
        else:
            contents = self._contents_of(by, part)
        found = [path for path, content in contents if (run or needle) in content]
        return found if (run or needle) == needle else [path for path in found if needle in self._data(path)]

    def _contents_of(self, by: str, part: Part) -> Iterable[tuple[Path, bytes]]:
        """The files of a part, each with an index, or with its bytes (see `_content`)."""
        known = self._contents.setdefault(part, {})
        if by not in known:
            paths = self.units().get(part, ()) if part else self._paths
            if not by and "words" in known:
                return self._bytes(paths)
            known[by] = [(path, self._content(by, path)) for path in paths]
            if by == "words" and self.drop is not None:
                for other in _INDEXES:
                    self._contents_of(other, part)
                known.pop("", None)
                self.drop(paths)
        return known[by]

    def _bytes(self, paths: Iterable[Path]) -> Iterator[tuple[Path, bytes]]:
        """Files with indexes, each with its bytes: in a large project these are read again, one by one."""
        for path in paths:
            yield path, self._data(path)
            if self.drop is not None:
                self.drop((path,))

    def _content(self, by: str, path: Path) -> bytes:
        """One of the indexes of a file; its bytes for ''."""
        if not by:
            return self._data(path)
        known = self._indexes[by].get(path)
        if known is None:
            known = b""
            with contained(self._failed, path):
                known = _INDEXES[by](self._data(path))
            self._indexes[by][path] = known
        return known

    def _holds(self, kind: str, word: str, path: Path) -> bool:
        """Whether a search would find the file."""
        by = _index_for(kind, word)
        return _needle(by, word) in self._content(by, path)

    # --- parts --------------------------------------------------------------------------------------------------------

    def part_of(self, path: Path) -> Part:
        """The part of the project that a file belongs to (see `loaderlint.project.modules.components`)."""
        parts = self._known_parts()
        return parts.of(path, self._known_joined(parts)) if parts.doors else WHOLE

    def units(self) -> Mapping[Part, tuple[Path, ...]]:
        """The parts of the project, each with its files, both in the order of the files."""
        joined = self.joined()
        if self._units is None:
            found: dict[Part, list[Path]] = {}
            for path in self._paths:
                found.setdefault(self._known_parts().of(path, joined), []).append(path)
            self._units = {part: tuple(paths) for part, paths in found.items()}
        return self._units

    def _known_joined(self, parts: Parts) -> dict[str, Part]:
        """Which folders and files of the root belong together."""
        unsure, self._unsure = self._unsure, set()
        for path in unsure:
            was = self._reach.pop(path, None)
            if was is not None and self._reached(path) != was:
                self._joined = None
        if self._joined is None:
            self._joined = parts.join(self._reached, self._paths)
            self._units = None
            present = {WHOLE, *self._joined.values()}
            for part in {*self._found, *self._before, *self._contents} - present:
                for known in (self._found, self._before, self._contents):
                    known.pop(part, None)
        return self._joined

    def joined(self) -> Mapping[str, Part]:
        """Which folders and files of the root belong together; empty if all of them do."""
        parts = self._known_parts()
        return self._known_joined(parts) if parts.doors else {}

    def suppose(self, joined: Mapping[str, Part]) -> None:
        """Set the result of `joined` without reading the files, because another process has read them."""
        self._joined, self._units = dict(joined), None

    def let_go(self, paths: Iterable[Path]) -> None:
        """Release the bytes and large indexes of these files: they are not searched for a while."""
        self._contents.clear()
        for path in paths:
            self._indexes["words"].pop(path, None)

    def rest(self) -> None:
        """Release all indexes: no search is expected for a while. They are made again on demand."""
        self._contents.clear()
        for known in self._indexes.values():
            known.clear()

    def learn(self, path: Path) -> None:
        """Record what a file imports, while its bytes are in memory."""
        if self._known_parts().doors:
            self._reached(path)

    def importing(self) -> Mapping[str, tuple[Path, ...]]:
        """The imports that `part_of` uses: the names that lead into folders of the root, each with the files that
        import it. Empty if there is only one folder."""
        parts = self._known_parts()
        doors = parts.doors
        self._known_joined(parts)
        found: dict[str, list[Path]] = {door: [] for door in (*doors, *(SIGNS if doors else ()))}
        for path in self._paths if doors else ():
            for name in self._reached(path):
                found[name].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @property
    def layout(self) -> Layout:
        """The root and its shelves (see `loaderlint.project.modules.components`)."""
        return self._known_parts().layout

    def reaches(self, path: Path, data: bytes) -> frozenset[str]:
        """What a file with this content imports of other folders of the root."""
        parts = self._known_parts()
        names = reached(data, parts.layout, str(path))
        return frozenset(one for one in names if one in parts.doors or one in SIGNS)

    def _reached(self, path: Path) -> frozenset[str]:
        known = self._reach.get(path)
        if known is None:
            known = frozenset()
            with contained(self._failed, path):
                known = self.reaches(path, self._data(path))
            self._reach[path] = known
        return known

    def _known_parts(self) -> Parts:
        if self._parts is None:
            self._parts = Parts(self._root, self._present)
        return self._parts
