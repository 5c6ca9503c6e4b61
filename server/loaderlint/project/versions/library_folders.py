"""Where the modules of an environment are: the folders that Python would put on `sys.path` there. Nothing is imported
or run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.project.versions import installed_packages
from loaderlint.project.versions.declaration import normal

#: The environment variable with folders that come before those of the environment.
VARIABLE = "PYTHONPATH"
_PATH_FILE = reading.Limit("a .pth file", 100_000)
#: A large distribution lists its ten thousand files in a megabyte.
_LIST = reading.Limit("a list of installed files", 5_000_000)
_MAX_FOLDERS = 200
_INSTALLED = (".dist-info", ".egg-info")


class LibraryFolders(NamedTuple):
    """The folders in which modules are looked for, in the order of `sys.path`: those of the environment, and those
    that lie elsewhere (`PYTHONPATH`, `.pth` files, editable installs)."""

    prefix: Path | None
    packages: tuple[Path, ...]
    folders: tuple[Path, ...]


NONE = LibraryFolders(None, (), ())


def of_environment(prefix: Path | None, root: Path) -> LibraryFolders:
    """The folders of an environment for the project at `root`. Those inside the project are the project's own, but for
    those of the environment."""
    packages = tuple(installed_packages.package_folders(prefix)) if prefix is not None else ()
    found: dict[Path, None] = {}
    for folder in _named_by_variable():
        if not folder.is_relative_to(root):
            found[folder] = None
    for folder in packages:
        found[folder] = None
        for added in _added_in(folder):
            if not added.is_relative_to(root) or (prefix is not None and added.is_relative_to(prefix)):
                found[added] = None
    return LibraryFolders(prefix, packages, tuple(found)[:_MAX_FOLDERS])


def _named_by_variable() -> Iterator[Path]:
    for entry in os.environ.get(VARIABLE, "").split(os.pathsep):
        if entry and os.path.isabs(entry):
            yield Path(os.path.normpath(entry))


def _added_in(folder: Path) -> Iterator[Path]:
    """The folders that the `.pth` files in a folder of packages add, and those of editable installs."""
    names = sorted(installed_packages.names_in(folder))
    for name in names:
        if name.endswith(".pth"):
            yield from _lines_of(folder / name, folder)
    for name in names:
        if name.endswith(_INSTALLED):
            yield from _editable(folder / name / "direct_url.json")


def _lines_of(path: Path, folder: Path) -> Iterator[Path]:
    """The folders that a `.pth` file names. Its lines that begin with `import` would be run, and are left alone."""
    try:
        text = reading.read(path, _PATH_FILE).decode("utf-8-sig", "replace")
    except UnreadableFile:
        return
    for line in text.splitlines()[:_MAX_FOLDERS]:
        entry = line.strip()
        if entry and not entry.startswith(("#", "import ", "import\t")) and "\0" not in entry:
            yield Path(os.path.normpath(folder / entry))


def _editable(path: Path) -> Iterator[Path]:
    """The folders in which the modules of an editable install may be."""
    file_accesses.saw(path)
    if not os.path.isfile(path):
        return
    try:
        told = json.loads(reading.read(path, _PATH_FILE))
        url = urlsplit(str(told["url"])) if told.get("dir_info", {}).get("editable") else None
    except (UnreadableFile, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return
    if url is not None and url.scheme == "file" and "%00" not in url.path:
        at = Path(os.path.normpath(unquote(url.path)))
        yield from (at / "src", at)


def release(folders: LibraryFolders, top: str) -> str:
    """'mmcv 1.7.1': the distribution that installed a top-level package, by its name or by the files that it lists; ''
    if there is none."""
    named: list[tuple[Path, tuple[str, str]]] = []
    for folder in folders.packages:
        for name in sorted(installed_packages.names_in(folder)):
            found = installed_packages.named_release(name)
            if found is not None and found[0] in (normal(top), f"{normal(top)}-full"):
                return " ".join(found)
            if found is not None:
                named.append((folder / name, found))
    return next((" ".join(found) for path, found in named if _brings(path, top)), "")


def _brings(distribution: Path, top: str) -> bool:
    """Whether a distribution of another name says that it installed a top-level package."""
    said = _text(distribution / "top_level.txt").split()
    if said:
        return top in said
    return re.search(rf"^{re.escape(top)}(/|\.py,)", _text(distribution / "RECORD"), re.MULTILINE) is not None


def _text(path: Path) -> str:
    """The text of a file; '' if it is not there."""
    file_accesses.saw(path)
    if not os.path.isfile(path):
        return ""
    try:
        return reading.read(path, _LIST).decode("utf-8", "replace")
    except UnreadableFile:
        return ""
