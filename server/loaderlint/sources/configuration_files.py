"""The configuration files of a project that its programs read: YAML, JSON and TOML. Other configurations, and scripts
of the shell, are only searched for words.

They are listed and read only on demand. Files that are too large, too many, nested too deeply or malformed count as
missing. That is not reported, because programs read such files in their own ways."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from loaderlint.files import file_accesses, reading, toml
from loaderlint.files.reading import UnreadableFile
from loaderlint.files.toml import BadToml
from loaderlint.project.versions.declaration import Malformed
from loaderlint.project.versions.yaml_text import parsed
from loaderlint.sources.discovery import Budget, Walk

_LIMIT = reading.Limit("a configuration", 256_000)
_MAX_FILES = 512
_MAX_BYTES = 1_000_000
#: Of the files of the project that are searched for a word: how many there may be, and how many bytes.
_MAX_SEARCHED = 4_000_000
_BUDGET = Budget(entries=200_000, files=2_000)
_SUFFIXES = (".yaml", ".yml", ".toml", ".json")
_SEARCHED = (*_SUFFIXES, ".ini", ".cfg", ".conf", ".gin", ".jsonnet", ".hocon", ".sh")


class ConfigurationFiles:
    """The configurations below a folder, as they were when they were first asked for. `lists`: whether the folder is a
    project, whose files may be searched."""

    def __init__(self, root: Path, lists: Callable[[], bool] = lambda: True) -> None:
        self._root = root
        self._lists = lists
        self._documents: dict[Path, object] = {}
        self._stamps: dict[str, file_accesses.Stamp | None] = {}
        self._left = _MAX_BYTES
        self._texts: dict[Path, bytes] | None = None
        self._has_all = True
        self._with_word: dict[str, tuple[Path, ...]] = {}
        #: The folders that were searched, each with the names in it that count.
        self._folders: dict[str, tuple[file_accesses.Stamp | None, tuple[str, ...]]] = {}

    def document(self, path: Path) -> object:
        """The (first) document of a file as dictionaries, lists and constants; None if it cannot be read."""
        if path not in self._documents:
            self._documents[path] = self._read(path) if self._may_read(path) else None
        return self._documents[path]

    def naming(self, word: str) -> tuple[Path, ...]:
        """The YAML, JSON and TOML files of the project, sorted, that hold a word; ignored and large files are none."""
        if not self._lists():
            return ()
        return tuple(sorted(path for path in self._holding(word) if path.suffix in _SUFFIXES))

    def may_name(self, word: str) -> bool:
        """Whether a configuration of the project or a script of the shell holds a word, as far as they were searched:
        those that were not may hold it."""
        return not self._lists() or any(self._holding(word)) or not self._has_all

    def _holding(self, word: str) -> tuple[Path, ...]:
        if self._texts is None:
            self._texts = self._search()
        if word not in self._with_word:
            wanted = word.encode()
            self._with_word[word] = tuple(path for path, text in self._texts.items() if wanted in text)
        return self._with_word[word]

    def changed(self) -> bool:
        """Whether a file that was requested has changed, or a file or folder was added where they were searched."""
        if any(file_accesses.stamp(path) != stamp for path, stamp in self._stamps.items()):
            return True
        for folder, (was, names) in self._folders.items():
            now = file_accesses.stamp(folder)
            if now != was:
                if _names_in(folder) != names:
                    return True
                self._folders[folder] = now, names
        return False

    def _search(self) -> dict[Path, bytes]:
        """The texts of the files of the project that are searched, data last."""
        walk = Walk(self._root, _BUDGET, _SEARCHED)
        found = walk.finish(lambda: False)
        self._folders = {str(one): (file_accesses.stamp(str(one)), _names_in(str(one))) for one in walk.folders}
        texts: dict[Path, bytes] = {}
        left = _MAX_SEARCHED
        for path in sorted(found.files, key=lambda one: (one.suffix == ".json", one)):
            self._stamps[str(path)] = file_accesses.stamp(str(path))
            try:
                text = reading.read(path, _LIMIT) if self._is_inside(path) else b""
            except UnreadableFile:
                continue
            left -= len(text)
            if left < 0:
                break
            texts[path] = text
        self._has_all = found.complete and left >= 0
        return texts

    def _may_read(self, path: Path) -> bool:
        """Whether the limits leave room for a file, and it is in the project after following symbolic links."""
        return len(self._documents) < _MAX_FILES and self._left > 0 and self._is_inside(path)

    def _is_inside(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._root))

    def _read(self, path: Path) -> object:
        self._stamps[str(path)] = file_accesses.stamp(str(path))
        try:
            data = reading.read(path, _LIMIT)
            self._left -= len(data)
            return _parsed(data, path.suffix)
        except (UnreadableFile, Malformed, BadToml, ValueError, RecursionError):
            return None


def _parsed(data: bytes, suffix: str) -> object:
    """The document in the bytes of a file. Raises Malformed, BadToml, ValueError or RecursionError."""
    if suffix == ".toml":
        return toml.parsed(data)
    if suffix == ".json":
        return json.loads(data)
    return parsed(data.decode("utf-8-sig", errors="replace"), typed=True)


def _names_in(folder: str) -> tuple[str, ...]:
    """The files that are searched and the folders in a folder, sorted."""
    try:
        with os.scandir(folder) as entries:
            return tuple(sorted(one.name for one in entries if one.name.endswith(_SEARCHED) or one.is_dir()))
    except OSError:
        return ()
