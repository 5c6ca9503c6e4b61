"""The files that declare versions, how each is read, and their precedence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import MissingFile, UnreadableFile
from loaderlint.project.versions.declaration import Declaration, Include, Malformed, is_aside


class Kind(IntEnum):
    """How sure a kind of file is of the version that runs. The lower, the surer."""

    LOCK = 0
    REQUIREMENTS = 1
    """Exact where it pins."""
    PROJECT = 2
    README = 5
    """Surer than nothing; between it and `PROJECT` are environments and ranges."""


class Source(NamedTuple):
    """Files by the pattern of their names (in lower case), the module and function that read them, and their kind."""

    names: str
    module: str
    function: str
    kind: Kind

    def read(self, text: str) -> Iterable[Declaration | Include]:
        """What a file of this sort declares. Its reader is imported here: most projects have files of one sort.
        Raises Malformed, here or while what is declared is asked for."""
        reader = import_module(f"loaderlint.project.versions.{self.module}")
        found: Iterable[Declaration | Include] = getattr(reader, self.function)(text)
        return found


SOURCES = (
    Source(r"(?:uv|poetry|pdm)\.lock|pylock(?:\.[^.]+)?\.toml", "lock_files", "read_toml", Kind.LOCK),
    Source(r"pipfile\.lock", "lock_files", "read_pipenv", Kind.LOCK),
    Source(r"(?:.*[.-])?conda-lock\.ya?ml", "lock_files", "read_conda", Kind.LOCK),
    Source(r"pixi\.lock", "lock_files", "read_pixi", Kind.LOCK),
    Source(r"requirements?[\w.-]*\.lock", "requirements_txt", "read", Kind.LOCK),
    Source(
        r"requirements?[\w.-]*\.(?:txt|in)|[\w.-]*[._-]requirements?\.(?:txt|in)",
        "requirements_txt",
        "read",
        Kind.REQUIREMENTS,
    ),
    Source(r"pyproject\.toml", "pyproject_toml", "read", Kind.PROJECT),
    Source(r"pixi\.toml", "pyproject_toml", "read_pixi", Kind.PROJECT),
    Source(r"pipfile", "pyproject_toml", "read_pipfile", Kind.PROJECT),
    Source(r"setup\.cfg", "setup_files", "read_cfg", Kind.PROJECT),
    Source(r"setup\.py", "setup_files", "read_py", Kind.PROJECT),
    Source(
        r"(?:env|environment|conda)[\w.-]*\.ya?ml|[\w.-]*[_-](?:env|environment|conda)\.ya?ml",
        "environment_yml",
        "read",
        Kind.PROJECT,
    ),
    Source(r"cog\.ya?ml", "cog_yaml", "read", Kind.PROJECT),
    Source(r"\.python-version", "python_version", "read", Kind.PROJECT),
    Source(r"readme(?:\.md|\.markdown)", "readme", "read", Kind.README),
)
_ANY = re.compile("|".join(f"({one.names})" for one in SOURCES))
#: Any text file in a folder of this name is one of requirements.
_REQUIREMENT_FOLDER = "requirements"
_IN_REQUIREMENT_FOLDER = Source("", "requirements_txt", "read", Kind.REQUIREMENTS)
_CONDA_FOLDER = "conda"
#: Names that are looked for in a folder too full to be listed.
_USUAL = (
    "uv.lock poetry.lock pdm.lock pylock.toml Pipfile.lock conda-lock.yml pixi.lock requirements.txt pyproject.toml "
    "pixi.toml Pipfile setup.cfg setup.py environment.yml environment.yaml .python-version"
).split()
_CROWDED = 2_000
_DEEPEST = 8
#: So many files are read for one folder.
_MOST_FILES = 200
_WORKSPACE_ABOVE = 3


#: Is told which file is not read, or not all of it, and why.
Unread = Callable[[Path, str], object]


class Found(NamedTuple):
    """A declaration, the file that makes it (as it is named in messages), and its kind."""

    declaration: Declaration
    source: str
    kind: Kind


def in_folder(folder: Path, root: Path, unread: Unread) -> Iterator[Found]:
    """What the files of one folder declare; files outside of `root` are not read."""
    left = _MOST_FILES
    for path, source in _files(folder):
        if left <= 0:
            unread(folder, f"more than {_MOST_FILES} files in it declare versions")
            return
        left = yield from _in_file(path, source, root, False, (path,), left, unread)


def of_workspace(root: Path, unread: Unread) -> Iterator[Found]:
    """What the lock file of uv's workspace says, if the project at `root` is a member of one: the lock file stands in
    the workspace's own folder, and names its members by their folders."""
    file_accesses.saw(root / "pyproject.toml")
    if not (root / "pyproject.toml").is_file():
        return
    for folder in root.parents[:_WORKSPACE_ABOVE]:
        lock = folder / "uv.lock"
        file_accesses.saw(lock)
        if lock.is_file():
            if f'"{root.relative_to(folder).as_posix()}"' in _text(lock, Kind.LOCK, unread):
                yield from _in_file(lock, SOURCES[0], folder, False, (lock,), 1, unread)
            return


def _files(folder: Path) -> Iterator[tuple[Path, Source]]:
    names = _names(folder)
    for name in names:
        source = _source_of(name)
        if source is not None:
            yield folder / name, source
    if _REQUIREMENT_FOLDER in names:
        inner = folder / _REQUIREMENT_FOLDER
        yield from ((inner / n, _IN_REQUIREMENT_FOLDER) for n in _names(inner) if n.endswith((".txt", ".in")))
    if _CONDA_FOLDER in names:
        inner = folder / _CONDA_FOLDER
        yield from ((inner / n, one) for n in _names(inner) if (one := _source_of(n)) is not None)


def _source_of(name: str) -> Source | None:
    match = _ANY.fullmatch(name.lower())
    return SOURCES[match.lastindex - 1] if match is not None and match.lastindex else None


def _names(folder: Path) -> list[str]:
    """The sorted names in a folder; of one that holds thousands (images beside the code), only the usual ones."""
    found: list[str] = []
    file_accesses.saw(folder)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.append(entry.name)
                if len(found) > _CROWDED:
                    return [name for name in _USUAL if (folder / name).is_file()]
    except OSError:
        return []
    return sorted(found)


def _in_file(
    path: Path, source: Source, root: Path, constraint: bool, around: tuple[Path, ...], left: int, unread: Unread
) -> Generator[Found, None, int]:
    """What a file declares, and those that it takes in; `around`: the files that led here. At most `left` files are
    read, and what is left of them is returned: files that take each other in lead along more ways than can be gone."""
    if left <= 0:
        return 0
    left -= 1
    aside, shown = source.kind is Kind.REQUIREMENTS and is_aside(path.stem), _shown(path, root)
    for found in _declared(path, source, unread):
        if isinstance(found, Declaration):
            meant = found._replace(aside=aside or found.aside, constraint=constraint or found.constraint)
            yield Found(meant, shown, source.kind)
            continue
        other = Path(os.path.normpath(path.parent / found.path))
        if other not in around and len(around) < _DEEPEST and other.is_relative_to(root):
            is_constraint = constraint or found.constraint
            read = _in_file(other, _IN_REQUIREMENT_FOLDER, root, is_constraint, (*around, other), left, unread)
            left = yield from _aside(read, aside or found.aside)
    return left


def _declared(path: Path, source: Source, unread: Unread) -> Iterator[Declaration | Include]:
    """What a file declares, where it can be read."""
    try:
        yield from source.read(_text(path, source.kind, unread))
    except Malformed as error:
        unread(path, f"{error}; correct it")


def _aside(read: Generator[Found, None, int], aside: bool) -> Generator[Found, None, int]:
    """What is read, all of it aside if the file that takes it in is."""
    while True:
        try:
            inner = next(read)
        except StopIteration as end:
            left: int = end.value
            return left
        declaration = inner.declaration
        yield inner._replace(declaration=declaration._replace(aside=aside or declaration.aside))


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _text(path: Path, kind: Kind, unread: Unread) -> str:
    """The text of a file; '' where there is none, or where it is too long or cannot be read."""
    try:
        data = reading.read(path, reading.LOCK_FILE if kind is Kind.LOCK else reading.REQUIREMENTS)
    except MissingFile:
        return ""
    except UnreadableFile as error:
        unread(path, str(error))
        return ""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what PowerShell writes
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")
