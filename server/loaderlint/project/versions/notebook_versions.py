"""The versions that a notebook runs on: that of the kernel which last ran it, and those that its own cells install,
`!pip install albumentations==1.3.1`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.project.versions.environment import Environment, VersionSet, python_set, version_set
from loaderlint.project.versions.readme import commands, pinned
from loaderlint.syntax import notebook
from loaderlint.syntax.notebook import UnreadableNotebook

_RECORDED = re.compile(r'"language_info"\s*:\s*(?=\{)')
#: How a line of a cell begins that runs a command.
_COMMANDS = ("!", "%")
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")
_DECODER = json.JSONDecoder()
SOURCE = "the notebook's kernel"
CELL = "a cell of the notebook"


class _Recorded(Struct, frozen=True):
    """What a notebook says of Python and of packages."""

    python: VersionSet = VersionSet()
    packages: Mapping[str, VersionSet] = {}


class NotebookVersions:
    """What notebooks record, read again when a file changes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, _Recorded]] = {}

    def environment(self, path: Path, around: Environment) -> Environment:
        """The environment of a notebook, in a folder with the environment `around`. What the project declares comes
        first; a range that it declares may hold the recorded version."""
        recorded = self._recorded(path)
        packages = dict(around.packages or {})
        for name, versions in recorded.packages.items():
            packages[name] = _narrowed(packages.get(name, VersionSet()), versions)
        torch = _narrowed(around.torch, recorded.packages.get("torch", VersionSet()))
        return replace(around, python=_narrowed(around.python, recorded.python), torch=torch, packages=packages)

    def _recorded(self, path: Path) -> _Recorded:
        try:
            time = os.stat(path).st_mtime_ns
        except OSError:
            return _Recorded()
        if path not in self._known or self._known[path][0] != time:
            self._known[path] = (time, _read(path))
        return self._known[path][1]


def _narrowed(declared: VersionSet, recorded: VersionSet) -> VersionSet:
    """The recorded versions, unless the project declares others."""
    fits = recorded.known and all(declared.admits(one.low) for one in recorded.ranges if one.low is not None)
    return recorded if fits else declared


def _read(path: Path) -> _Recorded:
    try:
        text = reading.read(path, reading.NOTEBOOK).decode("utf-8", errors="replace")
    except UnreadableFile:
        return _Recorded()
    return _Recorded(_python(text), dict(_installed(text)))


def _python(text: str) -> VersionSet:
    for match in _RECORDED.finditer(text):
        try:
            about = _DECODER.raw_decode(text, match.end())[0]
        except (ValueError, RecursionError):
            continue
        version = about.get("version") if about.get("name") == "python" else None
        if isinstance(version, str) and _VERSION.fullmatch(version):
            return python_set(version, SOURCE)
    return VersionSet()


def _installed(text: str) -> Iterator[tuple[str, VersionSet]]:
    """The versions that commands in the cells pin."""
    if "install" not in text:
        return
    try:
        cells = notebook.read(text).cells
    except UnreadableNotebook:
        return
    for line in (line for cell in cells for line in commands(cell.source)):
        if line.lstrip().startswith(_COMMANDS):
            yield from ((one.name, version_set(one.versions, CELL)) for one in pinned(line))
