"""Lock files. They are long and written by programs, so they are searched, not parsed: a parser of TOML or YAML takes
seconds for what is found here in milliseconds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from loaderlint.project.versions import poetry_constraints
from loaderlint.project.versions.declaration import Declaration, Include, Malformed, normal
from loaderlint.project.versions.requirement_specifiers import linked_file

#: How far into an entry its name, version and marker stand; the files of a package come after.
_HEAD = 4_000
_NAME = re.compile(r'^name = "([^"]+)"', re.MULTILINE)
_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_MARKERS = re.compile(
    r"""^(?:marker|markers|resolution-markers) = (?:"((?:[^"\\]|\\.)*)"|'([^']*)'|\[([^\]]*)\])""", re.M
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'')
_PYTHON = re.compile(r"""^(?:requires-python|requires_python|python-versions) = ["']([^"']+)["']""", re.MULTILINE)
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
        yield Declaration("python", poetry_constraints.constraint(python[1]))


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
    """Pipfile.lock.

    Raises Malformed."""
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise Malformed("is nested too deep") from error
    except ValueError as error:
        raise Malformed(f"is not valid JSON: {error}") from error
    for section, packages in document.items() if isinstance(document, dict) else ():
        if section != "_meta":
            yield from poetry_constraints.table(packages, aside=section == "develop")
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
    for entry in _entries(text, "name: "):
        version = _field(entry, "version")
        if version:
            yield Declaration(normal(_first(entry)), version, _system_marker(_field(entry, "platform")))


def read_pixi(text: str) -> Iterator[Declaration | Include]:
    """pixi.lock: an entry a package and platform, known by the address of its file; older ones have name and version
    too."""
    for kind in ("conda", "pypi"):
        for entry in _entries(text, f"{kind}: "):
            found = _conda_file(_first(entry)) if kind == "conda" else linked_file(_first(entry))
            if found is not None:
                yield found
            elif _field(entry, "name") and _field(entry, "version"):
                yield Declaration(normal(_field(entry, "name")), _field(entry, "version"))
    for entry in _entries(text, "kind: "):
        address = _field(entry, "url")
        found = _conda_file(address) if _first(entry) == "conda" else linked_file(address)
        if found is not None:
            yield found


def _conda_file(address: str) -> Declaration | None:
    """'https://.../linux-64/pytorch-2.3.0-py3.10_0.conda'."""
    file = _CONDA_FILE.search(address)
    return Declaration(normal(file[2]), file[3], _system_marker(file[1])) if file else None


def _entries(text: str, key: str) -> list[str]:
    """The items of the lists at the left margin that begin with `key`, which is left out."""
    text = "\n" + (text.replace("\r\n", "\n") if "\r" in text else text)
    return text.split(f"\n- {key}")[1:]


def _first(entry: str) -> str:
    return entry[:_HEAD].partition("\n")[0].strip().strip("'\"")


def _field(entry: str, key: str) -> str:
    """A text that an item has under `key`, not one of what is inside of the item; '' if there is none."""
    start = entry.find(f"\n  {key}: ")
    return _first(entry[start + len(key) + 5 : start + _HEAD]) if start >= 0 else ""


def _system_marker(platform: str) -> str:
    """'osx-arm64' as a marker."""
    system = _SYSTEMS.get(platform.partition("-")[0])
    return f'sys_platform == "{system}"' if system else ""
