"""Symbolic links: the name under which a file is known, and the file that is written for it.

This module handles paths only. It imports nothing that a check without links would have to pay for."""

from __future__ import annotations

import os
from pathlib import Path

#: Folders of a project whose files belong to a tool, by the start of their names: `.git/annex/objects/...`.
_HIDDEN = "."
_SUFFIXES = (".py", ".pyi", ".ipynb")


def known_as(path: str | os.PathLike[str]) -> Path:
    """The one absolute name by which a file or folder is known, everywhere: in the walk of a project, on the command
    line, in an editor's URIs, in caches and in baselines.

    - Links among the *folders* of the path are followed: `data/x.py` and `link-to-data/x.py` are one file. A folder
      is known by its real path, so a project may be opened through a link.
    - A link *to a file* is not followed. Python makes a module of each name: one that is imported as `link` has its own
      `__name__`, and its relative imports start at the folder of the link. So the link is read, linked and reported
      under its own name, as the walk of a project finds it.

    What must not be done twice is writing: `written_for` tells which file is behind a name, and two names of one file
    never get edits in one round of fixes.

    Hard links are files of their own; nothing tells which of them is the original. Where a file system ignores case,
    two spellings of one name count as two names; `write_fixes.write` looks at the file again, so the second of them
    finds the first one's text and changes nothing. Dangling links and circles have names too, and no file."""
    if os.path.islink(path) and not os.path.isdir(path):
        folder, name = os.path.split(path)
        return Path(os.path.realpath(folder or os.curdir), name)
    return Path(os.path.realpath(path))


def written_for(path: Path, root: Path) -> Path | None:
    """The file that an edit of `path` is written to: `path` itself, or for a symbolic link the file that it leads to.

    None if that is not the project's to change: it lies outside of `root`, in a hidden folder (where version control
    and environments keep theirs), or is no source file. `path` and `root` are names as `known_as` gives them."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        return None
    if real == path:
        return path
    inside = real.relative_to(root).parts
    hidden = any(part.startswith(_HIDDEN) or part == "site-packages" for part in inside[:-1])
    return None if hidden or real.suffix != path.suffix or real.suffix not in _SUFFIXES else real


class Names:
    """The names of the files of one project that symbolic links lead to."""

    def __init__(self) -> None:
        self._paths: frozenset[Path] | None = None
        self._files: dict[Path, Path] = {}
        self._links: dict[Path, list[Path]] = {}

    def of(self, path: Path, paths: frozenset[Path]) -> tuple[Path, ...]:
        """All names among `paths` of the file that `path` names, `path` itself first."""
        if paths is not self._paths:
            self._paths = paths
            self._files = {one: Path(os.path.realpath(one)) for one in paths if os.path.islink(one)}
            self._links = _grouped(self._files)
        if not self._links:
            return (path,)
        file = self._files.get(path, path)
        names = [*([file] if file in paths else []), *self._links.get(file, ())]
        return (path, *(one for one in names if one != path))

    def forget(self, path: Path) -> None:
        """Something changed at `path`: perhaps it is a link now, or leads to another file."""
        if path in self._files or os.path.islink(path):
            self._paths = None


def _grouped(files: dict[Path, Path]) -> dict[Path, list[Path]]:
    links: dict[Path, list[Path]] = {}
    for link, file in sorted(files.items()):
        links.setdefault(file, []).append(link)
    return links


def outside(path: Path) -> str:
    """Why no fix changes `path`, for which `written_for` gives None."""
    return f"it is a link to {os.path.realpath(path)}, which is outside this project; check that file itself"
