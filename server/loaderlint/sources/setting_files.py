"""The files of a project beside its code that may name an argument: configurations and scripts of the shell.

They are searched only on demand. Files that are too large are data. If there are too many, any may have the word."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import UnreadableFile

_SUFFIXES = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf", ".gin", ".jsonnet", ".hocon", ".sh")
#: Folders with the files of others.
_FOREIGN = frozenset({"node_modules", "site-packages", "venv", "env", "__pycache__"})
_LIMIT = reading.Limit("a configuration", 100_000)
_MAX_FILES = 1_000
_MAX_FOLDERS = 2_000
_MAX_BYTES = 4_000_000


class SettingFiles:
    """The configurations below a folder, as they were when they were first searched."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: list[bytes] | None = None
        self._is_complete = True
        self._known: dict[str, bool] = {}
        self._stamps: dict[str, file_accesses.Stamp | None] = {}

    def mention(self, word: str) -> bool:
        """Whether a file has a word, as far as they are read: it may be in those that are not."""
        if word not in self._known:
            if self._texts is None:
                self._texts = list(self._read())
            needle = word.encode()
            self._known[word] = not self._is_complete or any(needle in text for text in self._texts)
        return self._known[word]

    def changed(self) -> bool:
        """Whether a file or folder that was searched has changed."""
        return any(file_accesses.stamp(path) != stamp for path, stamp in self._stamps.items())

    def _read(self) -> Iterator[bytes]:
        left, files = _MAX_BYTES, 0
        for path in self._paths():
            files += 1
            if files > _MAX_FILES or left <= 0:
                self._is_complete = False
                return
            self._stamps[path] = file_accesses.stamp(path)
            try:
                text = reading.read(path, _LIMIT)
            except UnreadableFile:
                continue
            left -= len(text)
            yield text

    def _paths(self) -> Iterator[str]:
        """The files, below folders that are neither hidden nor hold what others wrote."""
        folders = 0
        for folder, inner, names in os.walk(self._root):
            folders += 1
            if folders > _MAX_FOLDERS:
                self._is_complete = False
                return
            file_accesses.saw(folder)
            self._stamps[folder] = file_accesses.stamp(folder)
            inner[:] = sorted(one for one in inner if one[:1] != "." and one not in _FOREIGN)
            found = (os.path.join(folder, name) for name in sorted(names) if name.endswith(_SUFFIXES))
            yield from (path for path in found if self._is_inside(path))

    def _is_inside(self, path: str) -> bool:
        """Whether a file is in the project, if it is a symbolic link after following it."""
        return not os.path.islink(path) or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._root))
