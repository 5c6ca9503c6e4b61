"""The YAML files of a project that its programs read as configurations.

They are read only on demand. Files that are too large, too many, nested too deeply or not YAML count as missing. That
is not reported, because programs read such files in their own ways."""

from __future__ import annotations

import os
from pathlib import Path

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.project.versions.declaration import Malformed
from loaderlint.project.versions.yaml_text import parsed

_LIMIT = reading.Limit("a configuration", 100_000)
_MAX_FILES = 512
_MAX_BYTES = 1_000_000


class YamlFiles:
    """The configurations below a folder, as they were when they were first asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._documents: dict[Path, object] = {}
        self._stamps: dict[str, file_accesses.Stamp | None] = {}
        self._left = _MAX_BYTES

    def document(self, path: Path) -> object:
        """The first document of a file as dictionaries, lists and constants; None if it cannot be read."""
        if path not in self._documents:
            self._documents[path] = self._read(path) if self._may_read(path) else None
        return self._documents[path]

    def changed(self) -> bool:
        """Whether a file that was requested has changed."""
        return any(file_accesses.stamp(path) != stamp for path, stamp in self._stamps.items())

    def _may_read(self, path: Path) -> bool:
        """Whether the limits leave room for a file, and it is in the project after following symbolic links."""
        if len(self._documents) >= _MAX_FILES or self._left <= 0:
            return False
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._root))

    def _read(self, path: Path) -> object:
        self._stamps[str(path)] = file_accesses.stamp(str(path))
        try:
            text = reading.read(path, _LIMIT).decode("utf-8-sig", errors="replace")
            self._left -= len(text)
            return parsed(text, typed=True)
        except (UnreadableFile, Malformed):
            return None
