"""Modules and namespace packages of the project, as values name them, and the names of modules."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

#: The file of a package itself.
PACKAGE = "__init__.py"


class ModuleRef(Struct, frozen=True):
    """A module of the project."""

    path: Path


class FolderRef(Struct, frozen=True):
    """A namespace package of the project."""

    path: Path


def has_module_name(path: Path) -> bool:
    """Whether `import` can name a file: it cannot name a script such as `2-train.py`."""
    return module_name(path).isidentifier()


def module_name(path: Path) -> str:
    """The last name of a module: of a package, that of its folder."""
    return path.parent.name if path.name == PACKAGE else path.stem
