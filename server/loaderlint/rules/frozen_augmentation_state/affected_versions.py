"""Which versions of the libraries copy the random state of transforms into each worker."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.knowledge.augmentations import REMOVED_FROM_ALBUMENTATIONS, Library
from loaderlint.project.evaluation.values import LibObject, SeqOf, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.versions.environment import Answer, VersionSet
from loaderlint.rules.shared.importable_modules import own_imports

_MAX_DEPTH = 8
_OPPOSITE: dict[Answer, Answer] = {"yes": "no", "no": "yes"}


def why_unaffected(library: Library, loader: Loader, model: Model) -> str:
    """Why the declared version of a library does not have the fault."""
    declared = model.environment(loader).packages or {}
    if library.package == "albumentations" and "albumentationsx" in declared:
        return f"AlbumentationsX {declared['albumentationsx'].described}, gives each worker a state of its own"
    known = declared.get(library.package)
    if known is None:
        return "which version of it is used is not known, and it is only possible that its workers run it"
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


def removed_name(made: LibObject, model: Model) -> str:
    """A name that only albumentations before 1.4 has, and without which a transform is not made: the file imports it at
    its head, or it is a part of the transform. '' if there is none."""
    if not made.name.startswith("albumentations."):
        return ""
    for e in own_imports(made.site.frame.path, model):
        if e.module.partition(".")[0] == "albumentations" and e.name in REMOVED_FROM_ALBUMENTATIONS:
            return e.name or ""
    return _removed_part(made, model, 0)


def _removed_part(made: LibObject, model: Model, depth: int) -> str:
    library, _, name = made.name.rpartition(".")
    if library.startswith("albumentations") and name in REMOVED_FROM_ALBUMENTATIONS:
        return name
    arguments = model.ev.calls.site_arguments(made.site)
    held = (part for v in (*arguments.positional, *(v for _, v in arguments.keywords)) for part in _parts(v, depth))
    return next((found for part in held if (found := _removed_part(part, model, depth + 1))), "")


def _parts(value: Val, depth: int) -> Iterator[LibObject]:
    """The objects of libraries that a value is sure to hold."""
    (only,) = value.atoms if len(value.atoms) == 1 and depth < _MAX_DEPTH else (None,)
    if isinstance(only, LibObject):
        yield only
    for item in only.items if isinstance(only, SeqOf) else ():
        yield from _parts(item, depth + 1)
