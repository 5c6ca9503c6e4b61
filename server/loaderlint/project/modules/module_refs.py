"""Modules and namespace packages of the project, as values name them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module of the project."""

    path: Path


@dataclass(frozen=True, slots=True)
class FolderRef:
    """A namespace package of the project."""

    path: Path
