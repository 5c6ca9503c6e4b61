"""URIs of the editor and paths of the file system."""

from __future__ import annotations

import os
from pathlib import Path

from pygls import uris

from loaderlint.files.symlinks import known_as


def path_of(uri: str) -> Path | None:
    """The absolute path that a `file:` URI names; None for any other scheme and for text that is not a URI."""
    try:
        path = uris.to_fs_path(uri)
    except ValueError:
        return None
    if not path or "\0" in path or not os.path.isabs(path):
        return None
    return Path(os.path.abspath(path))


def known_path_of(uri: str) -> Path | None:
    """Like `path_of`, but the name by which the engine knows the file (see `known_as`)."""
    path = path_of(uri)
    return None if path is None else known_as(path)


def uri_of(path: Path) -> str:
    """The `file:` URI of an absolute path."""
    return path.as_uri()
