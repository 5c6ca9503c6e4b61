"""Which versions of the libraries copy the random state of transforms into each worker."""

from __future__ import annotations

from loaderlint.knowledge.augmentations import Library
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.versions.environment import Answer, VersionSet

_OPPOSITE: dict[Answer, Answer] = {"yes": "no", "no": "yes"}


def why_unaffected(library: Library, loader: Loader, model: Model) -> str:
    """Why the declared version of a library does not have the fault."""
    declared = model.environment(loader).packages or {}
    if library.package == "albumentations" and "albumentationsx" in declared:
        return f"AlbumentationsX {declared['albumentationsx'].described}, gives each worker a state of its own"
    known = declared.get(library.package)
    if known is None:
        return "its version is not known, and it is not certain that workers run it"
    return f"{library.name} {known.described}, is before {library.since}"


def affected_since(library: Library, loader: Loader, model: Model) -> str:
    """The version from which it is so, where nobody says which one is used."""
    declared = model.environment(loader).packages or {}
    if library.package != "albumentations" or "albumentationsx" in declared:
        return ""
    known = declared.get(library.package, VersionSet()).before(library.since) == "no"
    return "" if known else f", with {library.name} {library.since} or later"


def is_affected(library: Library, loader: Loader, model: Model) -> Answer:
    """Whether the versions of a library that the project may run on have the fault."""
    declared = model.environment(loader).packages or {}
    if library.package == "albumentations" and "albumentationsx" in declared:
        return declared["albumentationsx"].before("2.5")
    if library.package != "albumentations" and library.package in declared:
        return "yes"  # in every version
    older = declared.get(library.package, VersionSet()).before(library.since)
    return _OPPOSITE.get(older, older)
