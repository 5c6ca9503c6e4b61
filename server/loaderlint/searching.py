"""Which files of a project hold a word, call a name, or derive from one.

Names that are called and bases of classes are looked for in an index of each file, a kilobyte of text made with one
regular expression when its part of the project is first asked (140 MB: half a second for all; a name costs 2 ms then,
where a scan of the bytes costs 40). An index of all words takes four times as long and a fifth of the bytes: it is made
of files that are searched for many. What was found is remembered until the next linking but one begins, so that linking
again after an edit only looks at the changed file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from loaderlint.project.files import WHOLE, Part
from loaderlint.project.parts import ANYWHERE, Layout, Parts, reached
from loaderlint.syntax.search import bases, called, entry, index, words

SEARCHES = ("containing", "calling", "deriving")

#: The kind of a search, what is searched for, and where.
_Asked = tuple[str, str, Part]

#: The indexes of a file, made of its bytes.
_INDEXES: dict[str, Callable[[bytes], bytes]] = {
    "words": words,
    "called": called,
    "bases": lambda data: index(bases(data)),
}
#: What of a word lies in one word of the index of all, wherever it is in the bytes.
_RUN = re.compile(r"\w+", re.ASCII)
#: After so many scans that index is made: a check asks few words of all files, or a hundred.
_OFTEN = 12


def _index_for(kind: str, word: str) -> str:
    """The index that tells which files a search finds; '': their bytes do."""
    if kind == "calling":
        return "called"
    return "bases" if kind == "deriving" and word.isascii() else ""


def _needle(by: str, word: str) -> bytes:
    """What an index holds, '' for the bytes, where a file holds a word."""
    return entry(word) if by else word.encode("utf-8", "surrogatepass")


class Searching:
    """Searches of the files of one store. `data` gives the bytes of a file."""

    def __init__(self, root: Path, data: Callable[[Path], bytes]) -> None:
        self._root = root
        self._data = data
        self._paths: tuple[Path, ...] = ()
        self._indexes: dict[str, dict[Path, bytes]] = {name: {} for name in _INDEXES}
        #: The files of a part, each with one of the indexes, '': with its bytes.
        self._contents: dict[tuple[str, Part], list[tuple[Path, bytes]]] = {}
        #: How many words were searched for.
        self._scans: Counter[Part] = Counter()
        self._found: dict[_Asked, dict[Path, None]] = {}
        self._before: dict[_Asked, dict[Path, None]] = {}
        #: The words that the whole project was searched for.
        self._held: dict[str, dict[Path, None]] = {}
        self._changed: set[Path] = set()
        self._parts: Parts | None = None
        self._joined: dict[str, Part] | None = None
        self._members: dict[Part, list[Path]] = {}
        self._reach: dict[Path, frozenset[str]] = {}

    # --- what changes -------------------------------------------------------------------------------------------------

    def take(self, paths: tuple[Path, ...]) -> None:
        """These are the files."""
        if paths is self._paths or paths == self._paths:
            return
        self._paths = paths
        self._parts = None
        for searched in (self._found, self._before):
            searched.clear()
        for known in self._indexes.values():
            known.clear()
        self._held.clear()
        self._contents.clear()
        self._scans.clear()
        self._changed.clear()
        self._reach.clear()
        self._unjoin()

    def change(self, path: Path) -> None:
        """The file has another content."""
        self._changed.add(path)
        self._contents.clear()
        for known in self._indexes.values():
            known.pop(path, None)
        if self._reach.pop(path, None) is not None:
            self._unjoin()

    def _unjoin(self) -> None:
        """Which files belong together is not known any more."""
        self._joined = None
        self._members.clear()

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
                holds = holds and self._holds(kind, word, path)
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
        # Fewer files where the whole project was searched for a part of the word. In a part of it a scan costs less
        # than to look through all that it was searched for.
        held = [found for inner, found in self._held.items() if inner in word] if not part else []
        if held:
            contents = [(path, self._content(by, path)) for path in min(held, key=len)]
        else:
            contents = self._contents_of(by, part)
        found = [path for path, content in contents if (run or needle) in content]
        return found if (run or needle) == needle else [path for path in found if needle in self._data(path)]

    def _contents_of(self, by: str, part: Part) -> list[tuple[Path, bytes]]:
        """The files of a part, each with an index, or with its bytes (see `_content`)."""
        known = self._contents.get((by, part))
        if known is None:
            known = self._contents[by, part] = [(path, self._content(by, path)) for path in self._files_of(part)]
        return known

    def _files_of(self, part: Part) -> Sequence[Path]:
        if not part:
            return self._paths
        if not self._members:
            for path in self._paths:
                self._members.setdefault(self.part_of(path), []).append(path)
        return self._members.get(part, ())

    def _content(self, by: str, path: Path) -> bytes:
        """One of the indexes of a file; '': its bytes."""
        if not by:
            return self._data(path)
        known = self._indexes[by].get(path)
        if known is None:
            known = self._indexes[by][path] = _INDEXES[by](self._data(path))
        return known

    def _holds(self, kind: str, word: str, path: Path) -> bool:
        """Whether a search finds a file."""
        by = _index_for(kind, word)
        return _needle(by, word) in self._content(by, path)

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
