"""Lock files. They are long and written by programs, so they are searched, not parsed: a parser of TOML or YAML takes
seconds for what is found here in milliseconds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from loaderlint.project.versions import poetry
from loaderlint.project.versions.declaration import Declaration, Include, normal
from loaderlint.project.versions.requirement import linked_file

#: How far into an entry its name, version and marker stand; the files of a package come after.
_HEAD = 4_000
_NAME = re.compile(r'^name = "([^"]+)"', re.MULTILINE)
_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_MARKERS = re.compile(
    r"""^(?:marker|markers|resolution-markers) = (?:"((?:[^"\\]|\\.)*)"|'([^']*)'|\[([^\]]*)\])""", re.M
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'')
_PYTHON = re.compile(r"""^(?:requires-python|requires_python|python-versions) = ["']([^"']+)["']""", re.MULTILINE)
_CONDA = re.compile(
    r"^- name: (\S+)\n(?:  [^\n]*\n)*?  version: ['\"]?([^\s'\"]+)['\"]?\n((?:  [^\n]*\n)*)", re.MULTILINE
)
_CONDA_PLATFORM = re.compile(r"^  platform: (\S+)$", re.MULTILINE)
_PIXI = re.compile(r"^- (conda|pypi): (\S+)$\n(?:^  name: (\S+)$\n)?(?:^  version: (\S+)$)?", re.MULTILINE)
_CONDA_FILE = re.compile(r"/([^/]+)/([^/]+)-([^-/]+)-[^-/]+\.(?:conda|tar\.bz2)\Z")
_SYSTEMS = {"linux": "linux", "osx": "darwin", "win": "win32"}


def read_toml(text: str) -> Iterator[Declaration | Include]:
    """uv.lock, poetry.lock, pdm.lock and pylock.toml: a table a package."""
    text = "\n" + (text.replace("\r\n", "\n") if "\r" in text else text)
    separator = "\n[[packages]]\n" if "\n[[packages]]\n" in text else "\n[[package]]\n"
    preamble, *entries = text.split(separator)
    for entry in entries:
        head = entry[:_HEAD].partition("\n[")[0]
        name, version = _NAME.search(head), _VERSION.search(head)
        if name is not None and version is not None:
            yield Declaration(normal(name[1]), version[1], _marker(head))
    # Poetry and PDM say it at the end, in a table of its own
    metadata = entries[-1].rpartition("\n[metadata]\n")[2] if entries and "\n[metadata]\n" in entries[-1] else ""
    python = _PYTHON.search(preamble) or _PYTHON.search(metadata)
    if python is not None and "://" not in python[1]:
        yield Declaration("python", poetry.constraint(python[1]))


def _marker(head: str) -> str:
    """The markers of an entry: one text, or several of which any may hold (uv)."""
    match = _MARKERS.search(head)
    if match is None:
        return ""
    if match[3] is None:
        return _unescaped(match[1] if match[1] is not None else match[2])
    listed = [_unescaped(one[1] if one[1] is not None else one[2]) for one in _QUOTED.finditer(match[3])]
    return " or ".join(f"({one})" for one in listed if one)


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def read_pipenv(text: str) -> Iterator[Declaration | Include]:
    """Pipfile.lock."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    for section, packages in document.items() if isinstance(document, dict) else ():
        if section != "_meta":
            yield from poetry.table(packages, aside=section == "develop")
        elif isinstance(packages, dict):
            yield from pipenv_python(packages.get("requires"))


def pipenv_python(requires: object) -> Iterator[Declaration]:
    """The table `requires` of a Pipfile and of its lock."""
    if isinstance(requires, Mapping):
        version = requires.get("python_full_version") or requires.get("python_version")
        if isinstance(version, str):
            yield Declaration("python", version)


def read_conda(text: str) -> Iterator[Declaration | Include]:
    """conda-lock.yml: an entry a package and platform."""
    for match in _CONDA.finditer(text.replace("\r\n", "\n") if "\r" in text else text):
        platform = _CONDA_PLATFORM.search(match[0])
        yield Declaration(normal(match[1]), match[2], _system_marker(platform[1] if platform else ""))


def read_pixi(text: str) -> Iterator[Declaration | Include]:
    """pixi.lock: the address of each package's file, and its name and version for those of PyPI."""
    for kind, address, name, version in _PIXI.findall(text):
        if kind == "pypi":
            linked = linked_file(address)
            if linked is not None:
                yield linked
            elif name and version:
                yield Declaration(normal(name), version)
            continue
        file = _CONDA_FILE.search(address)
        if file is not None:
            yield Declaration(normal(file[2]), file[3], _system_marker(file[1]))


def _system_marker(platform: str) -> str:
    """'osx-arm64' as a marker."""
    system = _SYSTEMS.get(platform.partition("-")[0])
    return f'sys_platform == "{system}"' if system else ""
