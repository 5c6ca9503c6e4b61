"""Which versions of the libraries copy the random state of transforms into each worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.knowledge.augmentations import (
    MOVED_IN_ALBUMENTATIONS,
    REMOVED_ALBUMENTATIONS_MODULES,
    REMOVED_FROM_ALBUMENTATIONS,
    Library,
)
from loaderlint.project.evaluation.file_imports import own_imports
from loaderlint.project.evaluation.values import LibObject, SeqOf, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.versions.environment import Answer, VersionSet
from loaderlint.rules.shared.importable_modules import importable_modules

_MAX_DEPTH = 8
_OPPOSITE: dict[Answer, Answer] = {"yes": "no", "no": "yes"}


def why_unaffected(library: Library, loader: Loader, model: Model) -> str:
    """Why the declared version of a library does not have the fault."""
    declared = model.environment(loader).packages or {}
    if library.package == "albumentations" and "albumentationsx" in declared:
        return f"AlbumentationsX {declared['albumentationsx'].described}, gives each worker a state of its own"
    if ruled_out := _ruled_out(library, loader, model):
        return ruled_out
    known = declared.get(library.package)
    if known is None:
        return "its version is not known, and it is not certain that workers run it"
    return f"{library.name} {known.described}, is before {library.since}"


def affected_since(library: Library, loader: Loader, model: Model) -> str:
    """The version from which this holds, if the used version is not declared."""
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
    if _ruled_out(library, loader, model):
        return "no"
    older = declared.get(library.package, VersionSet()).before(library.since)
    return _OPPOSITE.get(older, older)


def _ruled_out(library: Library, loader: Loader, model: Model) -> str:
    """What the project declares with which no version that has the fault can be installed, as text; '' if there is
    nothing, or such a version is declared all the same."""
    environment = model.environment(loader)
    declared = environment.packages or {}
    if declared.get(library.package, VersionSet()).before(library.since) == "no":
        return ""
    for name, needed in library.needs:
        known = environment.python if name == "python" else declared.get(name, VersionSet())
        if known.before(needed) == "yes":
            shown = "Python" if name == "python" else name
            return (
                f"{library.name} {library.since} and later need {shown} {needed}, and the project has {known.described}"
            )
    return ""


def removed_name(made: LibObject, loader: Loader, model: Model) -> str:
    """A name that only albumentations before 1.4 has, and without which a transform is not made, or the loader is not:
    its file needs it, or one that this imports. '' if there is none."""
    if not made.name.startswith("albumentations."):
        return ""
    if found := _removed_part(made, model, 0):
        return found
    files = dict.fromkeys([made.site.frame.path, *([loader.path] if loader.path else [])])
    for path in [one for file in files for one in (file, *model.remembered(importable_modules, file))]:
        if found := model.remembered(_removed_import, path):
            return found
    return ""


def _removed_import(path: Path, model: Model) -> str:
    """What a file imports at its head that only albumentations before 1.4 has."""
    for e in own_imports(model.ev, path):
        full = f"{e.module}.{e.name}" if e.name else e.module
        if any(f"{full}.".startswith(f"{module}.") for module in REMOVED_ALBUMENTATIONS_MODULES) or _is_removed(full):
            return full
    return ""


def _removed_part(made: LibObject, model: Model, depth: int) -> str:
    if _is_removed(made.name):
        return made.name
    arguments = model.ev.calls.site_arguments(made.site)
    held = (part for v in (*arguments.positional, *(v for _, v in arguments.keywords)) for part in _parts(v, depth))
    return next((found for part in held if (found := _removed_part(part, model, depth + 1))), "")


def _is_removed(full: str) -> bool:
    library, _, name = full.rpartition(".")
    is_gone = library.partition(".")[0] == "albumentations" and name in REMOVED_FROM_ALBUMENTATIONS
    return is_gone or full in MOVED_IN_ALBUMENTATIONS


def _parts(value: Val, depth: int) -> Iterator[LibObject]:
    """The objects of libraries that a value is sure to hold."""
    (only,) = value.atoms if len(value.atoms) == 1 and depth < _MAX_DEPTH else (None,)
    if isinstance(only, LibObject):
        yield only
    for item in only.items if isinstance(only, SeqOf) else ():
        yield from _parts(item, depth + 1)
