"""Opens the projects around the paths that a command is given, as `check` does for folders.

What runs a line, and in which loader's workers, depends on other files. So the folder around a single file is read
completely, even if no project file or repository marks it. (There, `check FILE` reads a folder completely only if it is
the current one and small, otherwise the files that the file leads to.)"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.commands.command_inputs import Usage, existing, given_settings, roots_of
from loaderlint.engine import Workspace

if TYPE_CHECKING:
    from loaderlint.rules.base import Rule


class Unusable(Exception):
    """The arguments cannot be used; the message says what to do instead."""


def opened(
    chosen: argparse.Namespace, names: list[str], *, rules: Sequence[Rule] | None = None
) -> tuple[Workspace, list[Path]]:
    """A workspace around these paths with the settings from the flags, and the absolute paths. `rules`: the rules that
    run, all of them if None. Raises Unusable if a flag is wrong or a path does not exist."""
    try:
        given = given_settings(chosen)
    except Usage as error:
        raise Unusable(str(error)) from None
    paths, missing = existing(names)
    if missing:
        raise Unusable("\n".join(missing))
    roots = roots_of(paths)
    return Workspace((*roots.folders, *roots.around), given, reports_unread=True, rules=rules), paths
