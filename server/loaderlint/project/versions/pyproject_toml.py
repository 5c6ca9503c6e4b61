"""pyproject.toml (PEP 621, PEP 735, Poetry, PDM, uv, pixi, hatch, flit), pixi.toml and Pipfile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loaderlint.files import toml
from loaderlint.files.toml import BadToml
from loaderlint.project.versions import conda_specifiers, poetry_constraints
from loaderlint.project.versions.declaration import (
    PLATFORM,
    Declaration,
    Include,
    Malformed,
    is_aside,
    normal,
    of_classifier,
    of_extras,
)
from loaderlint.project.versions.lock_files import pipenv_python
from loaderlint.project.versions.requirement_specifiers import requirement

#: How pixi's names of platforms begin: 'linux-64', 'osx-arm64'.
_PIXI_PLATFORMS = {"linux": "linux", "osx": "macos", "win": "windows"}


def read(text: str) -> Iterator[Declaration | Include]:
    """What a pyproject.toml declares."""
    document = _parsed(text)
    project, tool = _table(document, "project"), _table(document, "tool")
    yield from _project(project)
    yield from _groups(document.get("dependency-groups"))
    yield from _poetry(_table(tool, "poetry"))
    yield from _uv(_table(tool, "uv"))
    yield from _groups(_table(tool, "pdm").get("dev-dependencies"), aside=True)
    yield from _pixi(_table(tool, "pixi"))
    yield from _listed(_table(tool, "flit", "metadata").get("requires"))
    yield from _classified(_table(tool, "flit", "metadata").get("classifiers"))
    for name, environment in _table(tool, "hatch", "envs").items():
        if isinstance(environment, Mapping):
            yield from _listed(environment.get("dependencies"), is_aside(name))
    yield from _dynamic(_table(tool, "setuptools", "dynamic"))


def read_pixi(text: str) -> Iterator[Declaration | Include]:
    """What a pixi.toml declares."""
    yield from _pixi(_parsed(text))


def read_pipfile(text: str) -> Iterator[Declaration | Include]:
    """What a Pipfile declares."""
    document = _parsed(text)
    for name, packages in document.items():
        if name not in ("source", "requires", "scripts", "pipenv"):
            yield from poetry_constraints.table(packages, aside=name == "dev-packages" or is_aside(name))
    yield from pipenv_python(document.get("requires"))


def _project(project: Mapping[str, Any]) -> Iterator[Declaration]:
    always = list(_listed(project.get("dependencies")))
    yield from always
    yield from of_extras(_groups(project.get("optional-dependencies")), always)
    if isinstance(project.get("requires-python"), str):
        yield Declaration("python", project["requires-python"])
    yield from _classified(project.get("classifiers"))


def _classified(classifiers: object) -> Iterator[Declaration]:
    """The platforms that a list of classifiers names."""
    yield from filter(None, map(of_classifier, classifiers if isinstance(classifiers, list) else ()))


def _poetry(settings: Mapping[str, Any]) -> Iterator[Declaration]:
    yield from poetry_constraints.table(settings.get("dependencies"))
    yield from poetry_constraints.table(settings.get("dev-dependencies"), aside=True)
    yield from poetry_constraints.groups(settings.get("group"))
    yield from _classified(settings.get("classifiers"))


def _uv(settings: Mapping[str, Any]) -> Iterator[Declaration]:
    yield from _listed(settings.get("dev-dependencies"), aside=True)
    for found in _listed(settings.get("constraint-dependencies")):
        yield found._replace(constraint=True)
    for found in _listed(settings.get("override-dependencies")):
        yield found._replace(constraint=True)
    sources = settings.get("sources")
    linked = {name: one for name, one in sources.items() if "url" in str(one)} if isinstance(sources, Mapping) else {}
    for found in poetry_constraints.table(linked):
        if found.versions:
            yield found


def _pixi(settings: Mapping[str, Any]) -> Iterator[Declaration]:
    yield from _conda_table(settings.get("dependencies"))
    yield from poetry_constraints.table(settings.get("pypi-dependencies"))
    for about in ("workspace", "project"):
        listed = _table(settings, about).get("platforms")
        for one in listed if isinstance(listed, list) else ():
            platform = _PIXI_PLATFORMS.get(str(one).partition("-")[0])
            if platform is not None:
                yield Declaration(f"{PLATFORM}{platform}", "")
    for name, feature in _table(settings, "feature").items():
        if isinstance(feature, Mapping):
            yield from _conda_table(feature.get("dependencies"), is_aside(name))
            yield from poetry_constraints.table(feature.get("pypi-dependencies"), is_aside(name))


def _conda_table(packages: object, aside: bool = False) -> Iterator[Declaration]:
    for name, wanted in packages.items() if isinstance(packages, Mapping) else ():
        text = wanted.get("version", "") if isinstance(wanted, Mapping) else wanted
        if isinstance(text, str):
            yield Declaration(normal(name), conda_specifiers.versions(text), "", aside)


def _dynamic(settings: Mapping[str, Any]) -> Iterator[Include]:
    """`dependencies = {file = ["requirements/base.txt"]}`."""
    optional = _table(settings, "optional-dependencies")
    for name, entry in (("", settings.get("dependencies")), *optional.items()):
        files = entry.get("file") if isinstance(entry, Mapping) else None
        for path in [files] if isinstance(files, str) else files if isinstance(files, list) else []:
            yield Include(str(path), aside=is_aside(name))


def _groups(found: object, aside: bool = False) -> Iterator[Declaration]:
    for name, entries in found.items() if isinstance(found, Mapping) else ():
        yield from _listed(entries, aside or is_aside(name))


def _listed(entries: object, aside: bool = False) -> Iterator[Declaration]:
    for entry in entries if isinstance(entries, list) else ():
        found = requirement(entry, aside) if isinstance(entry, str) else None
        if found is not None:
            yield found


def _table(document: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        inner = document.get(key)
        document = inner if isinstance(inner, Mapping) else {}
    return document


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        return toml.parsed(text.encode("utf-8", "surrogatepass"))
    except BadToml as error:
        raise Malformed(f"is not valid TOML: {error}") from error
