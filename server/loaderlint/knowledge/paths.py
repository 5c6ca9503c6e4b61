"""Paths of `pathlib`: what makes one, and what its methods give."""

from __future__ import annotations

#: The class under which the tables know what paths do.
PATH = "pathlib.Path"

#: Calls that make a path, and its methods that give another one.
PATH_MAKERS = frozenset(
    """
    pathlib.Path pathlib.PosixPath pathlib.WindowsPath pathlib.PurePath pathlib.PurePosixPath pathlib.PureWindowsPath
    pathlib.Path.cwd pathlib.Path.home
    """.split()
)
PATH_METHODS = frozenset(
    "joinpath with_suffix with_name with_stem resolve absolute expanduser relative_to parent".split()
)
#: Methods of a path that give several.
PATH_LISTINGS = frozenset("glob rglob iterdir".split())
