"""What the project's requirement files say about versions. Files are read as text; nothing is run."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from loaderlint.project.environment import VersionSet, version_set

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_REQUIREMENT = re.compile(r"^\s*[\"']?([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*([=<>!~][^;#\"']*)?")
_SOURCES = ("requirements.txt", "requirements/base.txt", "requirements-train.txt", "setup.cfg", "setup.py")
_QUOTED = re.compile(r"""["']([A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*[=<>!~][^"';]*)["']""")
_PYTHON = re.compile(r"""(?:python_requires|requires-python)\s*=\s*["']?([^"'\n]+)""")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_LOCKED = re.compile(r'\[\[package\]\]\s*name = "([^"]+)"\s*version = "([^"]+)"')
_LIMIT = 20_000_000


def declared_versions(folder: Path, root: Path) -> dict[str, VersionSet]:
    """The versions that files in `folder` and its parents up to `root` declare, the nearest file first. Keys are
    package names in lower case, and 'python'."""
    found: dict[str, VersionSet] = {}
    folders = list(_upwards(folder, root))
    for directory in folders:
        for name, text, source in _locked(directory):
            found.setdefault(name, version_set(text, source))
    for directory in folders:
        for name, text, source in _declarations(directory):
            known = found.get(name)
            if known is None or not known.known:
                found[name] = version_set(text, source)
    return found


def _upwards(folder: Path, root: Path) -> Iterator[Path]:
    yield folder
    while folder != root and folder != folder.parent:
        folder = folder.parent
        yield folder


def _locked(directory: Path) -> Iterator[tuple[str, str, str]]:
    """(package, version, file name) of a lock file in TOML: it says which version is installed, whatever ranges
    admit."""
    for name in _LOCKS:
        for match in _LOCKED.finditer(_read(directory / name)):
            yield match[1].lower(), match[2], name


def _declarations(directory: Path) -> Iterator[tuple[str, str, str]]:
    """(package, version text, file name) of one folder."""
    yield from _pyproject(directory / "pyproject.toml")
    for name in _SOURCES:
        text = _read(directory / name)
        if not text:
            continue
        lines = text.splitlines() if name.endswith(".txt") else _QUOTED.findall(text)
        for line in lines:
            match = _REQUIREMENT.match(line)
            if match and not line.lstrip().startswith(("#", "-")):
                yield match[1].lower(), match[2] or "", name
        python = _PYTHON.search(text)
        if python:
            yield "python", python[1], name


def _pyproject(path: Path) -> Iterator[tuple[str, str, str]]:
    text = _read(path)
    if not text:
        return
    try:
        project = tomllib.loads(text).get("project", {})
    except tomllib.TOMLDecodeError:
        return
    if not isinstance(project, dict):
        return
    for entry in project.get("dependencies", []) or []:
        match = _REQUIREMENT.match(str(entry))
        if match:
            yield match[1].lower(), match[2] or "", path.name
    if isinstance(project.get("requires-python"), str):
        yield "python", project["requires-python"], path.name


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LIMIT:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
