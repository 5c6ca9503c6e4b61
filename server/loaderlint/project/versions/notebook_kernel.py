"""The version of Python that a notebook records: that of the kernel which last ran it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.project.versions.environment import VersionSet, python_set

_RECORDED = re.compile(r'"language_info"\s*:\s*(?=\{)')
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")
_DECODER = json.JSONDecoder()
SOURCE = "the notebook's kernel"


class NotebookKernels:
    """What notebooks record, read again when a file changes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, VersionSet]] = {}

    def python(self, path: Path, declared: VersionSet) -> VersionSet:
        """The version of Python that a notebook runs on. What the project declares comes first; a range that it
        declares may hold the recorded version."""
        if any(one.exact for one in declared.ranges):
            return declared
        recorded = self._recorded(path)
        fits = recorded.known and all(declared.admits(one.low) for one in recorded.ranges if one.low is not None)
        return recorded if fits else declared

    def _recorded(self, path: Path) -> VersionSet:
        try:
            time = os.stat(path).st_mtime_ns
        except OSError:
            return VersionSet()
        if path not in self._known or self._known[path][0] != time:
            self._known[path] = (time, _read(path))
        return self._known[path][1]


def _read(path: Path) -> VersionSet:
    try:
        text = reading.read(path, reading.NOTEBOOK).decode("utf-8", errors="replace")
    except UnreadableFile:
        return VersionSet()
    for match in _RECORDED.finditer(text):
        try:
            about = _DECODER.raw_decode(text, match.end())[0]
        except (ValueError, RecursionError):
            continue
        version = about.get("version") if about.get("name") == "python" else None
        if isinstance(version, str) and _VERSION.fullmatch(version):
            return python_set(version, SOURCE)
    return VersionSet()
