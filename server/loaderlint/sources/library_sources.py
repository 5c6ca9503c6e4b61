"""The source of installed libraries: found by module name, and read on demand.

If a library is not installed, a summary replaces its source (`loaderlint.sources.library_summaries`).

A file of a library is cut and lowered like one of the project, and its facts are stored by content in the same cache.
Otherwise it is not part of the project: it is in no list of files, no search covers it, and an unreadable file counts
as missing. Nothing outside the folders of the environment is read, wherever symbolic links lead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.versions import library_folders
from loaderlint.project.versions.library_folders import LibraryFolders
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.sources import library_summaries
from loaderlint.sources.library_summaries import LibrarySummaries
from loaderlint.sources.open_file import KeptPieces, OpenFile, piece_key
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.piece_size import has_too_many_clauses
from loaderlint.syntax.source import UnreadableSource, decode

#: Few hand-written modules are longer; longer ones are generated.
SOURCE = reading.Limit("a module of a library", 1_000_000)
#: The maximum number of library modules that are read for one part of a project.
MAX_MODULES = 1_000
#: A module's dotted name.
_MAX_PARTS = 16


class LibrarySources:
    """The modules in some folders, and those of `summaries`. `kept`: facts of pieces from earlier sessions."""

    def __init__(self, folders: LibraryFolders, summaries: LibrarySummaries, kept: KeptPieces | None) -> None:
        self.folders = folders
        self._summaries = summaries
        self._kept = kept
        self._allowed = tuple({os.path.realpath(one) for one in (*folders.folders, *_existing(folders.prefix))})
        self._modules: dict[str, Path | None] = {}
        self._places: dict[str, tuple[Path, ...]] = {"": folders.folders}
        self._names: dict[Path, str] = {}
        self._open: dict[Path, OpenFile | None] = {}
        self._data: dict[Path, bytes] = {}
        self._releases: dict[str, str] = {}
        self._stamps = {str(one): file_accesses.stamp(str(one)) for one in folders.folders}

    def has(self, name: str) -> bool:
        """Whether a top-level package or module of this name is installed, perhaps with its source, or summarised."""
        return self._is_installed(name) or self._summaries.has(name)

    def _is_installed(self, top: str) -> bool:
        return self._find(top) is not None or (top.isidentifier() and bool(self._folders_of(top)))

    def module(self, name: str) -> Path | None:
        """The file of the module with a dotted name; None if it is not installed, compiled, or a namespace package. If
        nothing of the library is installed, the file may be in a summary."""
        if name not in self._modules:
            installed = not self._summaries.has(name.partition(".")[0]) or self._is_installed(name.partition(".")[0])
            found = self._modules[name] = self._find(name) if installed else self._summaries.module(name)
            if found is not None:
                self._names.setdefault(found, name)
        return self._modules[name]

    def name_of(self, path: Path) -> str | None:
        """The dotted name of the module in a file that was found; None for other files."""
        return self._names.get(path)

    def file(self, path: Path) -> OpenFile | None:
        """A module that was found, cut into pieces; None if it cannot be read."""
        if path not in self._open:
            self._open[path] = None
            with contained(_unheard, path):
                self._open[path] = self._read(path)
        return self._open[path]

    def place(self, path: Path, piece: int) -> str:
        """The place of a piece of a module, for users: 'as installed: mmcv 1.7.1 (mmcv/utils/parrots_wrapper.py:41)',
        or 'as summarised: ...' without a line."""
        if self._summaries.text(path) is not None:
            return f"as summarised: {self._summaries.place(path)}"
        top = self._names.get(path, "").partition(".")[0]
        if top not in self._releases:
            self._releases[top] = library_folders.release(self.folders, top) or top
        folder = next((one for one in self.folders.folders if path.is_relative_to(one)), path.parent)
        opened = self._open.get(path)
        line = f":{opened.pieces[piece].line + 1}" if opened is not None and piece < len(opened.pieces) else ""
        return f"as installed: {self._releases[top]} ({path.relative_to(folder).as_posix()}{line})"

    def opened(self) -> Iterator[tuple[bytes, OpenFile]]:
        """The modules that were read, each with its bytes, for a cache."""
        for path, file in self._open.items():
            if file is not None:
                yield self._data[path], file

    def changed(self) -> bool:
        """Whether a module that was read has changed."""
        return any(file_accesses.stamp(path) != stamp for path, stamp in self._stamps.items())

    def rest(self) -> None:
        """Release memory: no request is expected for a while."""
        for file in self._open.values():
            if file is not None:
                file.pack()

    def _find(self, name: str) -> Path | None:
        *package, last = name.split(".")
        if len(package) >= _MAX_PARTS or not all(part.isidentifier() for part in (*package, last)):
            return None
        for folder in self._folders_of(".".join(package)):
            for path in (folder / last / "__init__.py", folder / f"{last}.py"):
                if self._is_file(path):
                    return path
        return None

    def _folders_of(self, package: str) -> tuple[Path, ...]:
        """The folders with the modules of a package; several for a namespace package."""
        if package not in self._places:
            outer, _, last = package.rpartition(".")
            found = [folder / last for folder in self._folders_of(outer)]
            own = next((one for one in found if self._is_file(one / "__init__.py")), None)
            namespace = tuple(one for one in found if self._is_folder(one))
            self._places[package] = (own,) if own is not None else namespace
        return self._places[package]

    def _is_file(self, path: Path) -> bool:
        file_accesses.saw(path)
        return os.path.isfile(path) and self._is_inside(path)

    def _is_folder(self, path: Path) -> bool:
        file_accesses.saw(path)
        return os.path.isdir(path) and self._is_inside(path)

    def _is_inside(self, path: Path) -> bool:
        """Whether a file or folder is in the environment after following symbolic links."""
        real = os.path.realpath(path)
        return any(real == folder or real.startswith(folder + os.sep) for folder in self._allowed)

    def _read(self, path: Path) -> OpenFile | None:
        summary = self._summaries.text(path)
        if summary is None:
            self._stamps[str(path)] = file_accesses.stamp(str(path))
        try:
            data = summary if summary is not None else reading.read(path, SOURCE)
            text = decode(data).text
        except (UnreadableFile, UnreadableSource):
            return None
        kept = self._kept.get(data, text) if self._kept else None
        if kept is None:
            opened = OpenFile(path, data, cut(text))
        else:
            packed = {piece_key(kept.pieces[index]): facts for index, facts in kept.packed.items()}
            opened = OpenFile(path, data, kept.pieces, packed=packed)
        self._data[path] = data
        return None if has_too_many_clauses(opened.pieces) else opened


class SeenLibraries:
    """The libraries as one linking sees them. `find` locates them when the first question comes."""

    def __init__(self, find: Callable[[], LibrarySources]) -> None:
        self._find = find
        self._sources: LibrarySources | None = None
        self._files: dict[Path, ProjectFile | None] = {}

    def are_there(self) -> bool:
        """Whether there is a folder with libraries."""
        return bool(self._found().folders.folders)

    def summarised(self) -> tuple[str, ...]:
        """The top-level packages with summaries, for libraries that are not installed."""
        return library_summaries.names()

    def has(self, name: str) -> bool:
        """See `LibrarySources.has`."""
        return self._found().has(name)

    def _found(self) -> LibrarySources:
        if self._sources is None:
            self._sources = self._find()
        return self._sources

    def module(self, name: str) -> Path | None:
        """See `LibrarySources.module`."""
        return self._sources.module(name) if self._sources is not None else None

    def name_of(self, path: Path) -> str | None:
        """See `LibrarySources.name_of`."""
        return self._sources.name_of(path) if self._sources is not None else None

    def file(self, path: Path) -> ProjectFile | None:
        """The module in a file, as the linker reads it; None beyond `MAX_MODULES` modules, or if it cannot be read."""
        if path not in self._files:
            more = self._sources is not None and len(self._files) < MAX_MODULES
            opened = self._sources.file(path) if self._sources is not None and more else None
            self._files[path] = ProjectFile(path, opened.pieces, opened.facts) if opened is not None else None
        return self._files[path]

    def place(self, path: Path, piece: int) -> str:
        """See `LibrarySources.place`."""
        return self._sources.place(path, piece) if self._sources is not None else ""


def _existing(prefix: Path | None) -> tuple[Path, ...]:
    return (prefix,) if prefix is not None else ()


def _unheard(failure: Failure) -> None:
    """Ignore an error: what cannot be read of a library counts as missing."""
