"""The parts of a project that cannot call each other: folders of the root of which none imports another.

A function is called only where something leads to it: an import, or a value that came over one. So who looks for the
callers of a function of one package need not look into the packages beside it, of which a repository may hold many.
Folders count as a whole, and what is not sure joins them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from loaderlint.project.files import WHOLE, Part
from loaderlint.project.imports import STANDARD, WELL_KNOWN
from loaderlint.syntax.search import imported

#: What stands within so many characters of an edit that changes which modules a file imports.
IMPORT_SIGNS = ("import", "sys.path", "_init_paths")
IMPORT_SPAN = 2_000

#: In the place of a name: what is imported may be anywhere.
ANYWHERE = "*"


def within(path: str, part: Part) -> bool:
    """Whether a file stands in a part."""
    return not part or any(path == one or path.startswith(one + os.sep) for one in part)


def depth(root: str, path: str) -> int:
    """In how many folders below the root a file stands."""
    return path.count(os.sep, len(root) + 1)


def reached(data: bytes, folders: int) -> frozenset[str]:
    """The modules that a file imports, up to two parts of their names, and their packages; `ANYWHERE` where it may add
    the root's folders to the search path, or leaves its own with dots. `folders`: its depth (see `depth`)."""
    names = imported(data)
    found = {name for name in names if not name.startswith(".")}
    found |= {name.partition(".")[0] for name in found}
    leaves = any(name.startswith("." * (folders + 1)) for name in names)
    if leaves or (folders <= 1 and (b"sys.path" in data or b"_init_paths" in data)):
        found.add(ANYWHERE)
    return frozenset(found)


class Parts:
    """The parts of the project at `root` with these files."""

    def __init__(self, root: Path, paths: Collection[Path]) -> None:
        self._root = str(root)
        self._members = {self._member(path) for path in paths}
        whole = root / "__init__.py" in paths or any(not str(path).startswith(self._root + os.sep) for path in paths)
        self.doors: dict[str, str] = {} if whole or len(self._members) < 2 else self._doors(paths)
        """What is imported by the name: one of the folders and files of the root."""

    def depth(self, path: Path) -> int:
        """See `depth`."""
        return depth(self._root, str(path))

    def _member(self, path: Path) -> str:
        """What of the root a file stands in: the name of a folder, or its own."""
        return str(path)[len(self._root) + 1 :].partition(os.sep)[0]

    def _doors(self, paths: Iterable[Path]) -> dict[str, str]:
        inside: dict[str, set[str]] = {}
        for path in paths:
            member, _, rest = str(path)[len(self._root) + 1 :].partition(os.sep)
            inside.setdefault(member, set()).add(rest.partition(os.sep)[0].removesuffix(".py"))
        found: dict[str, str] = {}
        for member, names in inside.items():
            own = member.removesuffix(".py")
            if own in WELL_KNOWN and own == member and "__init__" not in names:
                found.update({f"{own}.{name}": member for name in names})  # else the library is meant
            elif own not in STANDARD:
                found[own] = member
            if member == "src":
                found.update(dict.fromkeys(names - STANDARD, member))
        return found

    def join(self, reach: Callable[[Path], frozenset[str]], paths: Iterable[Path]) -> dict[str, Part]:
        """The part of each folder or file of the root, by its name. `reach`: those of `doors` that a file imports, and
        `ANYWHERE`. Empty where all belongs together."""
        leads = {member: member for member in self._members}

        def head(member: str) -> str:
            while leads[member] != member:
                leads[member] = leads[leads[member]]
                member = leads[member]
            return member

        for path in paths:
            names = reach(path)
            if ANYWHERE in names:
                return {}
            for name in names:
                leads[head(self._member(path))] = head(self.doors[name])
        groups: dict[str, list[str]] = {}
        for member in sorted(self._members):
            groups.setdefault(head(member), []).append(member)
        if len(groups) < 2:
            return {}
        parts = {one: tuple(os.path.join(self._root, m) for m in group) for one, group in groups.items()}
        return {member: parts[head(member)] for member in self._members}

    def of(self, path: Path, joined: dict[str, Part]) -> Part:
        """The part of a file."""
        return joined.get(self._member(path), WHOLE)
