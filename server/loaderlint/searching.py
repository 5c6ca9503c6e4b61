"""Which files of a project hold a word, call a name, or derive from one.

A scan of their bytes costs less than an index of their words (140 MB: 0.05 s a word against 8 s). What was found is
remembered until the next linking but one begins, so that linking again after an edit only looks at the changed file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from loaderlint.project.files import WHOLE, Part
from loaderlint.project.parts import ANYWHERE, Layout, Parts, reached
from loaderlint.syntax.search import bases, calls_in

SEARCHES = ("containing", "calling", "deriving")

#: The kind of a search, what is searched for, and where.
_Asked = tuple[str, str, Part]


class Searching:
    """Searches of the files of one store. `data` gives the bytes of a file."""

    def __init__(self, root: Path, data: Callable[[Path], bytes]) -> None:
        self._root = root
        self._data = data
        self._paths: tuple[Path, ...] = ()
        self._contents: dict[Part, list[tuple[Path, bytes]]] = {}
        self._found: dict[_Asked, dict[Path, None]] = {}
        self._before: dict[_Asked, dict[Path, None]] = {}
        #: The words that the whole project was searched for.
        self._held: dict[str, dict[Path, None]] = {}
        self._changed: set[Path] = set()
        self._bases: dict[Path, frozenset[bytes]] = {}
        self._parts: Parts | None = None
        self._joined: dict[str, Part] | None = None
        self._reach: dict[Path, frozenset[str]] = {}

    # --- what changes -------------------------------------------------------------------------------------------------

    def take(self, paths: tuple[Path, ...]) -> None:
        """These are the files."""
        if paths is self._paths or paths == self._paths:
            return
        self._paths = paths
        self._parts = None
        for one in (self._found, self._before, self._held, self._reach, self._bases, self._contents):
            one.clear()
        self._changed.clear()
        self._joined = None

    def change(self, path: Path) -> None:
        """The file has another content."""
        self._changed.add(path)
        self._contents.clear()
        self._bases.pop(path, None)
        if self._reach.pop(path, None) is not None:
            self._joined = None

    def begin(self) -> None:
        """A linking begins: what the last one did not search for is forgotten."""
        self._refresh()
        self._found, self._before, self._held = {}, self._found, {}

    def _refresh(self) -> None:
        """Look at the changed files again."""
        changed, self._changed = self._changed.intersection(self._paths), set()
        for asked, found in (*self._found.items(), *self._before.items()) if changed else ():
            kind, word, part = asked
            for path in changed:
                holds = self.part_of(path) == part if part else True
                holds = holds and self._holds(kind, word)(path, self._data(path))
                if holds != (path in found):
                    kept = {*found, path} if holds else {*found} - {path}
                    found.clear()
                    found.update(dict.fromkeys(sorted(kept)))

    # --- searches -----------------------------------------------------------------------------------------------------

    def find(self, kind: str, word: str, part: Part = WHOLE) -> tuple[Path, ...]:
        """The files of a part that hold `word` ('containing'), may call something of this name ('calling') or have a
        class among whose bases it is written ('deriving'), sorted."""
        if self._changed:
            self._refresh()
        asked = (kind, word, part)
        found = self._found.get(asked)
        if found is None:
            found = self._before.get(asked)
            if found is None:
                found = dict.fromkeys(self._searched(kind, word, part))
            self._found[asked] = found
            if kind == "containing" and not part:
                self._held[word] = found
        return tuple(found)

    def _searched(self, kind: str, word: str, part: Part) -> list[Path]:
        candidates = self._candidates(kind, word, part)
        if kind == "containing":
            needle = word.encode("utf-8", "surrogatepass")
            return [path for path, data in candidates if needle in data]
        holds = self._holds(kind, word)
        return [path for path, data in candidates if holds(path, data)]

    def _candidates(self, kind: str, word: str, part: Part) -> Iterable[tuple[Path, bytes]]:
        """The files to search: fewer where the whole project was searched for a part of the word. In a part of it a
        scan costs less than to look through all that it was searched for."""
        if kind == "deriving" or part:
            return self._contents_of(part)
        held = [found for inner, found in self._held.items() if inner in word]
        if held:
            return ((path, self._data(path)) for path in min(held, key=len))
        return self._contents_of(part)

    def _contents_of(self, part: Part) -> list[tuple[Path, bytes]]:
        known = self._contents.get(part)
        if known is None:
            paths = (path for path in self._paths if not part or self.part_of(path) == part)
            known = self._contents[part] = [(path, self._data(path)) for path in paths]
        return known

    def _holds(self, kind: str, word: str) -> Callable[[Path, bytes], bool]:
        needle = word.encode("utf-8", "surrogatepass")
        if kind == "calling":  # most files do not hold the name at all: they are passed over once
            return lambda path, data: needle in data and calls_in(data, needle)
        if kind == "deriving" and word.isascii():
            return lambda path, data: needle in self._bases_of(path, data)
        return lambda path, data: needle in data

    def _bases_of(self, path: Path, data: bytes) -> frozenset[bytes]:
        known = self._bases.get(path)
        if known is None:
            known = self._bases[path] = bases(data)
        return known

    # --- parts --------------------------------------------------------------------------------------------------------

    def part_of(self, path: Path) -> Part:
        """The part of the project that a file belongs to (see `loaderlint.project.parts`)."""
        parts = self._known_parts()
        if not parts.doors:
            return WHOLE
        if self._joined is None:
            self._joined = parts.join(self._reached, self._paths)
        return parts.of(path, self._joined)

    def importing(self) -> Mapping[str, tuple[Path, ...]]:
        """What `part_of` looks at: the names that lead into folders of the root, each with the files that import it.
        Empty where there is one folder only."""
        doors = self._known_parts().doors
        found: dict[str, list[Path]] = {door: [] for door in (*doors, *([ANYWHERE] if doors else ()))}
        for path in self._paths if doors else ():
            for name in self._reached(path):
                found[name].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @property
    def layout(self) -> Layout:
        """The root and its shelves (see `loaderlint.project.parts`)."""
        return self._known_parts().layout

    def reaches(self, path: Path, data: bytes) -> frozenset[str]:
        """What a file with this content imports of other folders of the root."""
        parts = self._known_parts()
        names = reached(data, parts.layout, str(path))
        return frozenset(one for one in names if one in parts.doors or one == ANYWHERE)

    def _reached(self, path: Path) -> frozenset[str]:
        known = self._reach.get(path)
        if known is None:
            known = self._reach[path] = self.reaches(path, self._data(path))
        return known

    def _known_parts(self) -> Parts:
        if self._parts is None:
            self._parts = Parts(self._root, self._paths)
        return self._parts
