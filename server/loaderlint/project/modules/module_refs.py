"""Modules and namespace packages of the project, as values name them."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class ModuleRef(Struct, frozen=True):
    """A module of the project."""

    path: Path


class FolderRef(Struct, frozen=True):
    """A namespace package of the project."""

    path: Path
