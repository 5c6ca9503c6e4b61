"""The root folder of the project that a file belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from loaderlint.files import file_accesses

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "loaderlint.toml", ".git", ".hg")
#: Inside a package, these files do not mark a project: there they build an extension of it, or are a module of that
#: name.
_SETUP = frozenset({"setup.py", "setup.cfg"})


def project_root(path: Path) -> Path | None:
    """The root folder of the project that `path` (a file or folder) belongs to: the nearest one upwards with a project
    file or a repository; None if there is none. A folder whose only project file is a `setup.py` or `setup.cfg`, in a
    project with other markers, is a package that this project brings along: it runs with the project's own code, and
    with the versions that the project asks for."""
    folder = path if os.path.isdir(path) else path.parent
    package = None
    for candidate in (folder, *folder.parents):
        found = {marker for marker in MARKERS if _exists(candidate / marker)}
        if found - _SETUP:
            return candidate
        if found and package is None and not _exists(candidate / "__init__.py"):
            package = candidate
    return package


def root_of(folder: Path, workspace: Iterable[Path]) -> Path:
    """The root of the project of the files in `folder`: by a project file or repository, else the outermost workspace
    folder that contains it, else `folder` itself."""
    around = [one for one in workspace if folder.is_relative_to(one)]
    outermost = min(around, key=lambda one: len(one.parts)) if around else folder
    return project_root(folder) or (outermost if os.path.isdir(outermost) else folder)


def _exists(path: Path) -> bool:
    file_accesses.saw(path)
    return os.path.exists(path)  # unlike Path.exists, it raises no error for an inaccessible folder
