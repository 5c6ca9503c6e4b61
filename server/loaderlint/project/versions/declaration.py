"""What one line of a requirement file declares, in one form for all kinds of files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SEPARATORS = re.compile(r"[-_.]+")

#: Other names of a package: conda's, those for one kind of hardware, and PyPI's placeholder, which installs nothing and
#: stands in requirement files all the same.
_ALIASES = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "torch-nightly": "torch",
    "tensorflow-base": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-macos": "tensorflow",
}
#: Groups and files of requirements that the project's users do not install.
_ASIDE = re.compile(
    r"(?:^|[^a-z])(?:dev|develop|development|docs?|documentation|tests?|testing|lint|linting|style|quality|typing|ci|"
    r"builds?|readthedocs|rtd|pre-?commit|nox|tox)(?:[^a-z]|$)"
)


class Malformed(ValueError):
    """A file of versions that its reader cannot read, or not all of it. The message completes 'the file ...'."""


class Declaration(NamedTuple):
    """A package and its versions, or a platform (see `PLATFORM`). `name` is normalised (see `normal`); `versions` are
    PEP 440 specifiers or a version, alternatives apart by `||`, '' for any; `marker` is a PEP 508 marker; `aside`: for
    tests, docs and the like only; `constraint`: says which version if it is installed at all."""

    name: str
    versions: str
    marker: str = ""
    aside: bool = False
    constraint: bool = False


def of_extras(extras: Iterable[Declaration], always: Iterable[Declaration]) -> Iterator[Declaration]:
    """What the extras of a project declare: with one of them, what the project needs `always` holds too."""
    needed = {one.name: one.versions for one in always if one.versions and not one.marker and "||" not in one.versions}
    for one in extras:
        more = needed.get(one.name, "") if one.versions and "||" not in one.versions else ""
        yield one._replace(versions=f"{more},{one.versions}") if more else one


class Include(NamedTuple):
    """Another requirement file, relative to the one that names it."""

    path: str
    constraint: bool = False
    aside: bool = False


#: No package is called so: under this name and that of a platform ('windows'), what a project runs on is declared.
PLATFORM = "platform:"
#: How classifiers of packages name platforms. 'OS Independent' names none: it says that nothing is built for one.
_CLASSIFIERS = {
    "operating system :: microsoft": "windows",
    "operating system :: macos": "macos",
    "operating system :: posix": "linux",
    "operating system :: unix": "linux",
}


def of_classifier(text: object) -> Declaration | None:
    """The platform that a classifier names ('Operating System :: Microsoft :: Windows'); None if it names none."""
    words = text.lower() if isinstance(text, str) else ""
    named = (platform for start, platform in _CLASSIFIERS.items() if words.startswith(start))
    platform = next(named, None)
    return Declaration(f"{PLATFORM}{platform}", "") if platform else None


def normal(name: str) -> str:
    """The one spelling of a package's name (PEP 503), under its name on PyPI."""
    spelled = _SEPARATORS.sub("-", name).lower()
    return _ALIASES.get(spelled, spelled)


def is_aside(name: str) -> bool:
    """Whether a group of requirements, or a file, is for development only, by its name."""
    return _ASIDE.search(name.lower()) is not None
