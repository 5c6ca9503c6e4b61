"""The output of `check --show-files` and `check --show-settings`: the files and settings that a check would use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.report import shown_path

if TYPE_CHECKING:
    from loaderlint.engine import Workspace


def files(workspace: Workspace, paths: Iterable[Path]) -> Iterator[str]:
    """The files that a check of these paths reports on, one per line."""
    for path in workspace.files(paths):
        yield shown_path(path, Path.cwd())


def settings(workspace: Workspace, paths: Iterable[Path]) -> Iterator[str]:
    """For each path, the settings that are not the defaults, and the environment that its code is assumed to run on."""
    for path in paths:
        file = path / "any.py" if os.path.isdir(path) else path
        yield f"{shown_path(path, Path.cwd())}:"
        yield "  settings:"
        yield from (f"    {line}" for line in workspace.settings(file).told() or ("the defaults",))
        yield "  runs on:"
        yield from (f"    {line}" for line in workspace.environment(file))
