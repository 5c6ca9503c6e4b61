"""The components of a project: groups of folders that do not import each other, and so cannot call each other.

A function can only be called by code that imports it, or that gets it as a value from code that does. A search for its
callers need not look into unrelated packages, of which a repository may hold many. The nodes of the import graph are
the *members* of the root: its folders and files. A *shelf*, a folder that is no package (`src`, `packages`,
`projects`), is replaced by the folders and files in it. A member belongs to one component as a whole; imports that
cannot be resolved for certain join components.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from loaderlint.project.modules.import_resolution import STANDARD, WELL_KNOWN
from loaderlint.project.modules.project_files import WHOLE, Part
from loaderlint.syntax.byte_search import imported
from loaderlint.syntax.cutter import common_ends
from loaderlint.syntax.notebook import SUFFIX

#: What a file says that adds to the search path.
_ADDING = (b"sys.path", b"_init_paths")
#: What a script says that imports by a text: a configuration may name anything beside it.
_BY_TEXT = (b"import_module(", b"__import__(", b"instantiate(", b"pydoc")
#: So many characters around an edit are looked at: an import may be continued over lines.
_SPAN = 2_000

#: What precedes a line end that joins two lines.
_CONTINUED = ("\\", "\\\r")

#: Where a file holds one of these, every text in it may name a module that it imports.
_QUOTING = ("import_module(", "__import__(")

#: In the place of a name: what is imported may be anywhere.
ANYWHERE = "*"
#: In the place of names: a file holds what may be a loader; a dataset, what is registered under a name, or a
#: configuration that names it.
LOADS, HELD = "/loads", "/held"
_LOADS, _HELD = (b"oader",), (b"Dataset", b".register", b"dict(type=")
#: What counts anywhere in a file.
_TELLING = tuple(sign.decode() for sign in (*_ADDING, *_BY_TEXT, *_LOADS, *_HELD))
#: No name, and told of every file.
SIGNS = (ANYWHERE, LOADS, HELD)

_SUFFIXES = (".py", SUFFIX)

#: The root, and its shelves.
Layout = tuple[str, ...]


def within(path: str, part: Part) -> bool:
    """Whether a file is in a part."""
    return not part or any(path == one or path.startswith(one + os.sep) for one in part)


def reached(data: bytes, layout: Layout, path: str) -> frozenset[str]:
    """The modules that a file with this content imports, up to two parts of their names, and their packages; behind
    `shelf/` those that are found there because the file stands there too, and `shelf/` alone for all that is in it;
    `ANYWHERE` where it leaves its folder with dots, adds to the search path at most one folder deep, or imports by a
    text and stands in the root or on a shelf; `LOADS` and `HELD`."""
    root, *shelves = layout
    folders = path.count(os.sep, len(root) + 1)
    shelf = path[len(root) + 1 :].partition(os.sep)[0]
    names = imported(data)
    found = {name for name in names if not name.startswith(".")}
    found |= {name.partition(".")[0] for name in found}
    adds = folders <= 2 and any(sign in data for sign in _ADDING)
    is_script = folders == 0 or (folders == 1 and shelf in shelves)
    by_text = is_script and any(sign in data for sign in _BY_TEXT)
    if any(name.startswith("." * (folders + 1)) for name in names) or (folders <= 1 and adds) or by_text:
        found.add(ANYWHERE)
    if shelf in shelves:
        found |= {f"{shelf}/{name}" for name in found}
        if adds or any(name.startswith("." * folders) for name in names):
            found.add(f"{shelf}/")
    if any(word in data for word in _LOADS):
        found.add(LOADS)
    if any(word in data for word in _HELD):
        found.add(HELD)
    return frozenset(found)


def reach_alike(was: str, now: str, around: Callable[[str, str, int], tuple[str, str]]) -> bool:
    """Whether an edit is seen not to change what a file imports. `around`: the parts in which the two texts differ,
    with so many characters around."""
    if any(sign in text for sign in _QUOTING for text in (was, now)):
        return False
    before, after = around(was, now, _SPAN)
    if any((sign in before) != (sign in after) for sign in _TELLING):
        return False
    return ("import" not in before and "import" not in after) or _import_alike(before, after)


def _import_alike(was: str, now: str) -> bool:
    """Whether the lines in which two texts differ import the same. False where such a line does not begin and end in
    them."""
    first, back = common_ends(was, now)
    start, end = was.rfind("\n", 0, first), was.find("\n", len(was) - back + 2)
    while start >= 0 and was.endswith(_CONTINUED, 0, start):
        start = was.rfind("\n", 0, start)
    while end >= 0 and was.endswith(_CONTINUED, 0, end):
        end = was.find("\n", end + 1)
    if start < 0 or end < 0:
        return False
    lines = was[start + 1 : end], now[start + 1 : len(now) - len(was) + end]
    return len({imported(text.encode("utf-8", "surrogatepass")) for text in lines}) == 1


class Parts:
    """The parts of the project at `root` with these files."""

    def __init__(self, root: Path, paths: Collection[Path]) -> None:
        self._root = str(root)
        # The first three parts of a file's path determine its name and what it belongs to.
        below = sorted({tuple(self._below(path)[:3]) for path in paths})
        self.layout: Layout = (self._root, *_shelves(below))
        self._members = {self._member_of(one) for one in below}
        whole = "__init__.py" in self._members
        whole = whole or any(not str(path).startswith(self._root + os.sep) for path in paths)
        self.doors: dict[str, tuple[str, ...]] = {} if whole or len(self._members) < 2 else self._doors(below)
        """The members that a name leads to, as `reached` gives it."""

    def _below(self, path: Path) -> list[str]:
        """The parts of a file's path, from the root on."""
        return str(path)[len(self._root) + 1 :].split(os.sep)

    def _member(self, path: Path) -> str:
        """The member that contains a file, as its path below the root."""
        return self._member_of(self._below(path))

    def _member_of(self, below: Sequence[str]) -> str:
        first, *rest = below
        return os.path.join(first, rest[0]) if rest and first in self.layout[1:] else first

    def _doors(self, paths: Iterable[Sequence[str]]) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for below in paths:
            for name in self._names(below):
                found.setdefault(name, set()).add(self._member_of(below))
        return {name: tuple(sorted(members)) for name, members in sorted(found.items())}

    def _names(self, below: Sequence[str]) -> Iterator[str]:
        """The names by which something of the member of a file is imported. What is called like a module of Python is
        never meant, and a folder called like a library only by what is in it."""
        first, *rest = (one.removesuffix(".py") for one in below)
        if first == "src" and rest and rest[0] not in STANDARD:
            yield rest[0]
        if not rest or first not in self.layout[1:]:  # utils.py beside a shelf utils, say
            yield from () if first in STANDARD else (first,)
            return
        yield f"{first}/"
        inner = rest[:2] if rest[0] == "src" else rest[:1]
        yield from (f"{first}/{name}" for name in inner if name not in STANDARD)
        if first in WELL_KNOWN:
            yield f"{first}.{rest[0]}"
        elif first not in STANDARD:
            yield first

    def join(self, reach: Callable[[Path], frozenset[str]], paths: Iterable[Path]) -> dict[str, Part]:
        """The part of each member. `reach`: those of `doors` that a file imports, and of `SIGNS`. Empty where all
        belongs together.

        A script finds by a name what stands beside it or below, and the name may be written in a configuration:
        datasets and what is registered join the scripts that make loaders, where nothing that they import or that
        imports them makes one."""
        leads = {member: member for member in self._members}

        def head(member: str) -> str:
            while leads[member] != member:
                leads[member] = leads[leads[member]]
                member = leads[member]
            return member

        loads: set[str] = set()
        held: set[str] = set()
        for path in paths:
            names = reach(path)
            if ANYWHERE in names:
                return {}
            here = self._member(path)
            loads.update((here,) if LOADS in names else ())
            held.update((here,) if HELD in names else ())
            for member in {member for name in names for member in self.doors.get(name, ())}:
                leads[head(here)] = head(member)
        loading = {head(member) for member in loads}
        scripts = [one for one in sorted(self._members) if one.endswith(_SUFFIXES) and head(one) in loading]
        for member in [one for one in sorted(held) if head(one) not in loading]:
            for script in scripts:
                if os.path.dirname(script) in ("", os.path.dirname(member)):
                    leads[head(script)] = head(member)
        groups: dict[str, list[str]] = {}
        for member in sorted(self._members):
            groups.setdefault(head(member), []).append(member)
        if len(groups) < 2:
            return {}
        parts = {one: tuple(os.path.join(self._root, m) for m in group) for one, group in groups.items()}
        return {member: parts[head(member)] for member in self._members}

    def of(self, path: Path, joined: Mapping[str, Part]) -> Part:
        """The part of a file."""
        return joined.get(self._member(path), WHOLE) if joined else WHOLE


def _shelves(paths: Iterable[Sequence[str]]) -> list[str]:
    """The folders of the root that are no packages. `paths`: those of the files below the root, in parts."""
    packages: dict[str, bool] = {}
    for first, *rest in paths:
        if rest:
            packages[first] = packages.get(first, False) or rest == ["__init__.py"]
    return sorted(name for name, is_package in packages.items() if not is_package)
