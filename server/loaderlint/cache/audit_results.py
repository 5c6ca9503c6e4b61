"""Stores the results of audits: a file for each project, next to the cache. Unlike the cache they can only be computed
by running the user's program, so they are read whether a cache is used or not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from hashlib import blake2b
from pathlib import Path

import msgspec

from loaderlint.cache import cache_folder
from loaderlint.files import atomic_write, reading
from loaderlint.files.reading import Limit, UnreadableFile
from loaderlint.findings import audits
from loaderlint.findings.audits import Audit

_PREFIX, _SUFFIX = "audits-", ".json"
_LIMIT = Limit("recorded audits", 20_000_000)
#: The glob pattern of audit files in a cache folder.
PATTERN = f"{_PREFIX}*{_SUFFIX}"
#: At most this many audits of a project are stored, the latest ones.
_MOST = 200


def content_digest(data: bytes) -> str:
    """The digest of a file that an audited program loaded."""
    return blake2b(data, digest_size=16).hexdigest()


def file_of(root: Path) -> Path | None:
    """The file with the audits of the project at `root`, which need not exist; None if there is no folder for it."""
    folder = cache_folder.folder()
    if folder is None:
        return None
    name = blake2b(os.fsencode(root), digest_size=12).hexdigest()
    return folder / f"{_PREFIX}{name}{_SUFFIX}"


def recorded(root: Path) -> tuple[Audit, ...]:
    """The audits of a project, none if they cannot be read."""
    file = file_of(root)
    try:
        return audits.loaded(reading.read(file, _LIMIT), root) if file is not None else ()
    except (UnreadableFile, msgspec.DecodeError):
        return ()


def record(root: Path, new: Sequence[Audit]) -> None:
    """Add these audits to those of a project. They replace earlier audits of the same loaders in programs with the same
    arguments: with other arguments a loader may be a different one.

    Raises OSError; FileNotFoundError if there is no folder for the cache."""
    file = file_of(root)
    if file is None:
        raise FileNotFoundError(2, "there is no folder for the cache")
    again = set(map(_which, new))
    kept = [audit for audit in recorded(root) if _which(audit) not in again]
    cache_folder.make(file.parent)
    atomic_write.replace(file, audits.dumped([*kept, *new][-_MOST:], root))


def _which(audit: Audit) -> tuple[object, ...]:
    return audit.program, audit.arguments, audit.made


def files(folder: Path) -> Iterator[Path]:
    """The audit files in a cache folder."""
    yield from sorted(folder.glob(PATTERN))


def is_file(path: Path) -> bool:
    """Whether a path is that of an audit file."""
    return fnmatch(path.name, PATTERN)
