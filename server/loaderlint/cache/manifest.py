"""Decides whether everything that a check read on disk is unchanged: by times and sizes, and by content if those differ
or cannot be trusted.

As in git, the time of a file that was changed at about the start of the check proves nothing: the file may change again
within the same tick of the clock. Such files are compared by content the next time."""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from stat import S_ISDIR
from typing import NamedTuple

from loaderlint.files.file_accesses import CONTENT, Stamp, content, stamp
from loaderlint.files.reading import ANY, UnreadableFile, read_unseen

#: Some file systems have a time resolution of two seconds.
RACY = 2_000_000_000
_UNKNOWN = bytes(CONTENT)
_FOLDER, _ABSENT = -1, -2
#: Folders and kinds of files whose creation and deletion do not affect a project.
_IDLE = frozenset("__pycache__ .mypy_cache .ruff_cache .pytest_cache .ipynb_checkpoints .hypothesis wandb".split())
_TOLD = frozenset(".py .ipynb .txt .in .lock .toml .cfg .yml .yaml .json .egg .egg-info .egg-link".split())
#: In folders of packages, the files that say what is installed, and where else packages are.
_ALSO_TOLD = {
    "conda-meta": frozenset({".json"}),
    "site-packages": frozenset({".pth"}),
    "dist-packages": frozenset({".pth"}),
}
_CROWDED = 2_000


class Manifest(NamedTuple):
    """The paths that were read, sorted, each with three numbers (two times in nanoseconds, and the size; -1 for a
    folder, -2 for a missing path) and a digest of its content of 16 bytes (zeros: unknown)."""

    paths: list[str]
    numbers: array[int]
    hashes: bytes

    def hash(self, index: int) -> bytes:
        """The digest of the content at `index`."""
        return self.hashes[CONTENT * index : CONTENT * index + CONTENT]

    def renewed(self, changes: Changes) -> Manifest:
        """The manifest of the current state."""
        hashes = bytearray(self.hashes)
        for index, told in changes.files.items():
            hashes[CONTENT * index : CONTENT * index + CONTENT] = told
        return Manifest(self.paths, changes.numbers or self.numbers, bytes(hashes))


def made(seen: Mapping[str, Stamp | None], known: Mapping[str, bytes], began: int) -> Manifest | None:
    """The manifest of the paths `seen` in a check that `began` at a time in nanoseconds. `known`: the digests of files
    that are in memory. None if something has changed since."""
    paths: list[str] = []
    numbers: array[int] = array("q")
    hashes: list[bytes] = []
    listed = {path for path, was in seen.items() if was is not None and was.size == _FOLDER}
    there: dict[str, bool] = {}
    for path in sorted(seen):
        was = seen[path]
        if was is None:
            if _is_told_by_a_list(path, listed, there):
                continue
            found, told = (0, 0, _ABSENT), _UNKNOWN
        else:
            told = known.get(path) or _told(path, was)
            if stamp(path) != was and path not in known:
                return None
            racy = max(was.modified, was.changed) >= began - RACY
            found = (-1, -1, was.size) if racy else was
        paths.append(path)
        numbers.extend(found)
        hashes.append(told)
    return Manifest(paths, numbers, b"".join(hashes))


def _told(path: str, was: Stamp) -> bytes:
    if was.size == _FOLDER:
        return _list(path)
    try:
        return content(read_unseen(path, ANY))
    except UnreadableFile:
        return _UNKNOWN


def _list(folder: str) -> bytes:
    """The digest of the names of the relevant files and folders in a folder."""
    kept = _TOLD | _ALSO_TOLD.get(os.path.basename(folder), frozenset())
    names: list[str] = []
    count = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _IDLE:
                        names.append(entry.name + "/")
                else:
                    extension = os.path.splitext(entry.name)[1]
                    if not extension or extension in kept:
                        names.append(entry.name)
    except OSError:
        return _UNKNOWN
    names.sort()
    return content("\0".join((str(count > _CROWDED), *names)).encode("utf-8", "surrogateescape"))


def _is_told_by_a_list(path: str, listed: set[str], there: dict[str, bool]) -> bool:
    """Whether a missing path, if created, would change the recorded list of a folder."""
    folder, name = os.path.split(path)
    while folder != os.path.dirname(folder):
        if folder not in there:
            there[folder] = os.path.lexists(folder)
        if there[folder]:
            return folder in listed and name not in _IDLE and os.path.splitext(name)[1] in (*_TOLD, "")
        folder, name = os.path.split(folder)
    return False


class Changes(NamedTuple):
    """The differences from the manifest: the indices of `files` with changed content (and the new digest of each),
    whether anything `else_` changed (the list of a folder, a path that was missing), and, if a time has changed, the
    current `numbers`."""

    files: dict[int, bytes]
    else_: bool
    numbers: array[int] | None


def changes(manifest: Manifest, now: int) -> Changes:
    """Compare everything with the manifest. `now` is the current time in nanoseconds."""
    numbers: array[int] = array("q", manifest.numbers)
    files: dict[int, bytes] = {}
    else_ = renewed = False
    look = os.stat
    triples = zip(*[iter(manifest.numbers)] * 3, strict=True)
    for index, (path, (modified, changed, size)) in enumerate(zip(manifest.paths, triples, strict=True)):
        try:
            found = look(path)
        except (OSError, ValueError):
            else_ = else_ or size != _ABSENT
            continue
        if found.st_mtime_ns == modified and found.st_ctime_ns == changed:
            if found.st_size == size or size == _FOLDER:
                continue
        is_folder = S_ISDIR(found.st_mode)
        if size == _ABSENT or is_folder != (size == _FOLDER):
            else_ = True
            continue
        was = Stamp(found.st_mtime_ns, found.st_ctime_ns, _FOLDER if is_folder else found.st_size)
        told = _told(path, was)
        if told == _UNKNOWN or told != manifest.hash(index):
            if is_folder:
                else_ = True
            else:
                files[index] = told
        renewed = True
        racy = max(was.modified, was.changed) >= now - RACY
        numbers[3 * index : 3 * index + 3] = array("q", (-1, -1, was.size) if racy else was)
    return Changes(files, else_, numbers if renewed else None)


# --- as bytes ---------------------------------------------------------------------------------------------------------


def packed(parts: Sequence[bytes | bytearray]) -> bytes:
    """Join several byte strings into one."""
    lengths = array("q", map(len, parts)).tobytes()
    return len(parts).to_bytes(2, "little") + lengths + b"".join(parts)


def unpacked(data: bytes) -> list[bytes]:
    """Split what `packed` joined. Raises ValueError for other bytes."""
    count = int.from_bytes(data[:2], "little")
    lengths: array[int] = array("q")
    lengths.frombytes(data[2 : 2 + 8 * count])
    at = 2 + 8 * count
    if len(lengths) != count or sum(lengths) != len(data) - at or any(length < 0 for length in lengths):
        raise ValueError("not packed so")
    parts = []
    for length in lengths:
        parts.append(data[at : at + length])
        at += length
    return parts


def dumped(manifest: Manifest) -> list[bytes]:
    """The parts of a manifest."""
    paths = "\0".join(manifest.paths).encode("utf-8", "surrogateescape")
    return [paths, manifest.numbers.tobytes(), manifest.hashes]


def loaded(paths: bytes, numbers: bytes, hashes: bytes) -> Manifest:
    """The manifest from the three parts of `dumped`. Raises ValueError for other bytes."""
    names = paths.decode("utf-8", "surrogateescape").split("\0")
    found: array[int] = array("q")
    found.frombytes(numbers)
    if len(found) != 3 * len(names) or len(hashes) != CONTENT * len(names):
        raise ValueError("no manifest")
    return Manifest(names, found, hashes)
