"""What is certain about a file before its project has been read: shown while a project is linked for the first time.

Other files could invalidate most findings: they choose a start method, limit OpenCV's threads, call `set_epoch`. Only
proven findings are certain, and only those of rules that depend on a loader and a dataset of the same file, and never
on the absence of something. `tests/engine/test_preview.py` checks every rule's cases against it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.sources.store import OpenFile, Store

if TYPE_CHECKING:
    from loaderlint.sources.store import KeptPieces

#: A loader in sight of its dataset, and code of the two that is wrong whatever runs around it.
_CERTAIN = frozenset(
    """
    aliased-sample exhausted-iterable lossy-worker-exception negative-stride-sample none-sample process-in-worker
    reseed-per-sample stop-iteration-sample unpicklable-sample unsorted-listing worker-seed-overflow
    """.split()
)


class OneFile(Store):
    """A project of which one file can be read. The others are there, so that a module of the project is not taken for a
    library of the same name; what they hold is unknown."""

    def __init__(self, root: Path, path: Path, kept: KeptPieces | None = None) -> None:
        super().__init__(root, kept)
        self._path = path

    def _on_disk(self, stop: Callable[[], bool] = lambda: False) -> frozenset[Path]:
        return frozenset((self._path,))

    def exists(self, path: Path) -> bool:
        """Whether the path is a Python file of the project."""
        return path == self._path or (path.is_relative_to(self.root) and os.path.isfile(path))

    def has_folder(self, path: Path) -> bool:
        """Whether the folder holds Python files of the project."""
        return path.is_relative_to(self.root) and os.path.isdir(path)

    def open(self, path: Path) -> OpenFile | None:
        """The one file; None for all others."""
        return super().open(path) if path == self._path else None


def certain(found: Mapping[Path, tuple[Diagnostic, ...]], path: Path) -> tuple[Diagnostic, ...]:
    """Those findings of a file alone that its project will not take back."""
    return tuple(one for one in found.get(path, ()) if one.certainty == "proven" and one.name in _CERTAIN)
