"""Symbolic links: the name under which a file is known, and the file that its edits are written to.

This module handles paths only. It imports nothing that would slow down a check without links."""

from __future__ import annotations

import os
from pathlib import Path

#: Folders of a project whose files belong to a tool, by the start of their names: `.git/annex/objects/...`.
_HIDDEN = "."
_SUFFIXES = (".py", ".pyi", ".ipynb")


def known_as(path: str | os.PathLike[str]) -> Path:
    """The one absolute name of a file or folder that is used everywhere: in the walk of a project, on the command line,
    in an editor's URIs, in caches and in baselines.

    - Links among the *folders* of the path are followed: `data/x.py` and `link-to-data/x.py` are one file. A folder
      is known by its real path, so a project may be opened through a link.
    - A link *to a file* is not followed. Each name is a module of its own for Python: a module that is imported as
      `link` has its own `__name__`, and its relative imports start at the folder of the link. So the link is read,
      linked and reported under its own name, as the walk of a project finds it.

    Only writing must not be done twice: `written_for` returns the file behind a name, and two names of one file never
    get edits in the same round of fixes.

    Hard links are separate files, because nothing says which of them is the original. On a file system that ignores
    case, two spellings of a name count as two names; `write_fixes.write` reads the file again, so the second one finds
    the text of the first and changes nothing. Dangling and circular links have a name, but no file."""
    if os.path.islink(path) and not os.path.isdir(path):
        folder, name = os.path.split(path)
        return Path(os.path.realpath(folder or os.curdir), name)
    return Path(os.path.realpath(path))


def written_for(path: Path, root: Path) -> Path | None:
    """The file that an edit of `path` is written to: `path` itself, or for a symbolic link the file that it leads to.

    None if fixes may not change that file: it is outside `root`, in a hidden folder (such as those of version control
    and environments), or not a source file. `path` and `root` are names as `known_as` returns them."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        return None
    if real == path:
        return path
    inside = real.relative_to(root).parts
    hidden = any(part.startswith(_HIDDEN) or part == "site-packages" for part in inside[:-1])
    return None if hidden or real.suffix != path.suffix or real.suffix not in _SUFFIXES else real


class Names:
    """All names of the files of one project, including symbolic links to them."""

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
        """Forget what is known about `path`, because it changed: it may now be a link, or lead to another file."""
        if path in self._files or os.path.islink(path):
            self._paths = None


def _grouped(files: dict[Path, Path]) -> dict[Path, list[Path]]:
    links: dict[Path, list[Path]] = {}
    for link, file in sorted(files.items()):
        links.setdefault(file, []).append(link)
    return links


def outside(path: Path) -> str:
    """Why fixes may not change `path`, for which `written_for` returns None."""
    return f"it is a link to {os.path.realpath(path)}, which is outside this project; check that file itself"
