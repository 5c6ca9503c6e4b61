"""The versions installed in an environment, from the names of its files. Nothing is imported or run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.project.versions.declaration import normal

_DIST = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>\d[\w.+!]*?)(?:-py[\d.]+)?\.(?:dist-info|egg-info|egg)\Z")
_CONDA = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)-[^-]+\.json\Z")
_VERSION = re.compile(r"^version(?:_info)?\s*=\s*(\d{1,4}\.\d{1,4}(?:\.\d{1,9})?)", re.MULTILINE)
_LIBRARY = re.compile(r"python(3\.\d+)t?\Z")
_NAMES = (".venv", "venv", "env", ".env", ".pixi/envs/default")
_OUTER = re.compile(r"^include-system-site-packages\s*=\s*true\s*$", re.MULTILINE | re.IGNORECASE)
_HOME = re.compile(r"^home\s*=\s*(.+?)\s*$", re.MULTILINE)
#: What an environment holds in which loaders run. One without, such as that of a tool, says nothing of the project.
_TRAINS = ("torch", "tensorflow", "keras")


class Installed(NamedTuple):
    """An environment: its folder, how it is called in messages, and the versions in it ('python' among them)."""

    prefix: Path
    label: str
    versions: Mapping[str, Version]


def candidates(around: list[Path], root: Path, interpreter: str | None) -> Iterator[tuple[Path, str]]:
    """The environments that may be the project's, the surest first: the editor's interpreter, the activated one, those
    in the project's folders (nearest first), an activated one of conda. Each with its name in messages."""
    for prefix in _prefixes(around, interpreter):
        try:
            # the environment's own name stays, where it is a link to one elsewhere
            placed = prefix.parent.resolve() / prefix.name
        except (OSError, RuntimeError):
            continue
        yield placed, _label(placed, root)


def _prefixes(around: list[Path], interpreter: str | None) -> Iterator[Path]:
    if interpreter:
        yield _prefix_of(Path(interpreter))
    if os.environ.get("VIRTUAL_ENV"):
        yield Path(os.environ["VIRTUAL_ENV"])
    for folder in around:
        for name in _NAMES:
            file_accesses.saw(folder / name / "pyvenv.cfg")
            file_accesses.saw(folder / name / "conda-meta")
            if (folder / name / "pyvenv.cfg").is_file() or (folder / name / "conda-meta").is_dir():
                yield folder / name
    if os.environ.get("CONDA_PREFIX"):
        yield Path(os.environ["CONDA_PREFIX"])


def _prefix_of(interpreter: Path) -> Path:
    """The folder of an environment by its interpreter (bin/python, Scripts/python.exe, or conda's python.exe), or by
    itself."""
    file_accesses.saw(interpreter)
    if interpreter.is_dir():
        return interpreter
    folder = interpreter.parent
    return folder.parent if folder.name in ("bin", "Scripts") else folder


def _label(prefix: Path, root: Path) -> str:
    try:
        return prefix.relative_to(root).as_posix()
    except ValueError:
        # '.venv' of another folder is told by the folder
        name = f"{prefix.parent.name}/{prefix.name}" if prefix.name in _NAMES else prefix.name
        return f"the environment {name}"


def read(prefix: Path, label: str) -> Installed | None:
    """What an environment holds; None if loaders cannot run in it."""
    found: dict[str, Version] = {}
    for part in _with_outer(prefix):
        _collect(found, _CONDA, names_in(part / "conda-meta"))
        for folder, python in _package_folders(part):
            _collect(found, _DIST, names_in(folder))
            if python is not None:
                found.setdefault("python", python)
    if not any(name in found for name in _TRAINS):
        return None
    configured = _VERSION.search(_configuration(prefix))
    if configured is not None:
        found["python"] = Version(configured[1])
    return Installed(prefix, label, found)


def _with_outer(prefix: Path) -> Iterator[Path]:
    """An environment, and the one that it was made from if it sees its packages too."""
    yield prefix
    configuration = _configuration(prefix)
    home = _HOME.search(configuration)
    if home is not None and _OUTER.search(configuration):
        yield _prefix_of(Path(home[1]) / "python")


def folders(prefix: Path) -> tuple[Path, ...]:
    """The folders of an environment whose entries are its packages; they need not exist."""
    parts = list(_with_outer(prefix))
    return tuple(
        folder for part in parts for folder in (part / "conda-meta", *(folder for folder, _ in _package_folders(part)))
    )


def package_folders(prefix: Path) -> Iterator[Path]:
    """The folders of an environment that hold modules, and are there."""
    for part in _with_outer(prefix):
        for folder, _ in _package_folders(part):
            file_accesses.saw(folder)
            if folder.is_dir():
                yield folder


def named_release(name: str) -> tuple[str, str] | None:
    """The package and the version that the name of an entry in a folder of packages tells; None for other entries."""
    match = _DIST.match(name)
    return (normal(match["name"]), match["version"]) if match else None


def time(folder: Path) -> int:
    """When something was last installed in, or removed from, a folder of packages; 0 if there is none."""
    file_accesses.saw(folder)
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _collect(found: dict[str, Version], pattern: re.Pattern[str], names: list[str]) -> None:
    for name in names:
        match = pattern.match(name)
        if match is None:
            continue
        try:
            found.setdefault(normal(match["name"]), Version(match["version"]))
        except InvalidVersion:
            continue


def _package_folders(prefix: Path) -> Iterator[tuple[Path, Version | None]]:
    """(a folder of packages, Python's version as its path tells it)."""
    yield prefix / "Lib" / "site-packages", None
    libraries = [match for name in sorted(names_in(prefix / "lib")) if (match := _LIBRARY.match(name))]
    if len(libraries) > 1:  # a system with several Pythons: that of the plain name is meant
        file_accesses.saw(prefix / "bin" / "python3")
        chosen = os.path.basename(os.path.realpath(prefix / "bin" / "python3"))
        libraries = [match for match in libraries if match[0] == chosen]
    for match in libraries:
        for name in ("site-packages", "dist-packages"):
            yield prefix / "lib" / match[0] / name, Version(match[1])


def _configuration(prefix: Path) -> str:
    """The own file of a virtual environment, '' if there is none."""
    try:
        return reading.read(prefix / "pyvenv.cfg", reading.ENVIRONMENT).decode("utf-8", "replace")
    except UnreadableFile:
        return ""


def names_in(folder: Path) -> list[str]:
    """The names of a folder's entries; none if it cannot be listed."""
    file_accesses.saw(folder)
    try:
        return os.listdir(folder)
    except OSError:
        return []
