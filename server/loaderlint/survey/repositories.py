"""Finds the repositories that a survey reads, and notices changes in them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from loaderlint.files import reading
from loaderlint.files.project_roots import MARKERS
from loaderlint.files.reading import UnreadableFile
from loaderlint.sources.discovery import SKIPPED, python_files
from loaderlint.survey.results import Repository

_SOURCES = (".py", ".ipynb")


class Ambiguous(ValueError):
    """Two repositories have the same name; the message says what to do."""


def repositories(folders: Iterable[Path]) -> list[Repository]:
    """The repositories of some folders, sorted by name: the folder itself if it contains a project file, a `.git` or
    Python files, else each folder directly in it (except hidden ones and such as `node_modules`).

    Raises Ambiguous, and OSError for a folder that cannot be listed."""
    return _distinct(one for folder in folders for one in _found(folder.resolve()))


def listed(lines: Iterable[str], directory: Path) -> list[Repository]:
    """The repositories in a list with one path per line, relative to `directory`. The name of each is the path as
    written.

    Raises Ambiguous."""
    names = dict.fromkeys(line.strip() for line in lines)
    return _distinct(Repository(name, str((directory / name).resolve())) for name in names if name)


def shard(found: Sequence[Repository], number: int, count: int) -> list[Repository]:
    """The repositories of shard `number` (from 1) of `count`. The shard of a repository depends only on its name, so
    the shards of one list never overlap and together cover all of it, wherever they run."""
    return [one for one in found if _digest(one.name) % count == number - 1]


def content_key(root: Path) -> str:
    """A key that changes when a source file, or a file directly in the repository's folder (settings, requirements),
    changes. It is made of sizes and times, without reading the files."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted({*python_files(root).files, *_files_in(root)}):
        try:
            about = path.stat()
        except OSError:
            continue
        digest.update(f"{path.relative_to(root)}\0{about.st_size}\0{about.st_mtime_ns}\0".encode(errors="replace"))
    return digest.hexdigest()


def commit(root: Path) -> str:
    """The commit that is checked out, from git's files without running git; '' if they do not say."""
    git = root / ".git"
    head = _text(git / "HEAD")
    if not head.startswith("ref: "):
        return head
    name = head[5:]
    return _text(git / name) or _packed(_text(git / "packed-refs"), name)


def _packed(text: str, name: str) -> str:
    lines = (line.split(" ", 1) for line in text.splitlines() if " " in line)
    return next((commit for commit, ref in lines if ref == name), "")


def _text(path: Path) -> str:
    try:
        return reading.read_unseen(path, reading.GIT_DATA).decode("utf-8", "replace").strip()
    except UnreadableFile:
        return ""


def _found(folder: Path) -> Iterator[Repository]:
    names = sorted(os.listdir(folder))
    if any(name in MARKERS or name.endswith(_SOURCES) for name in names):
        yield Repository(folder.name, str(folder))
        return
    for name in names:
        if not name.startswith(".") and name not in SKIPPED and (folder / name).is_dir():
            yield Repository(name, str(folder / name))


def _distinct(found: Iterable[Repository]) -> list[Repository]:
    by_name: dict[str, Repository] = {}
    for one in found:
        other = by_name.setdefault(one.name, one)
        if other.path != one.path:
            raise Ambiguous(
                f"two repositories are called {one.name}: {other.path} and {one.path}; name them by their paths in a"
                " list (--repositories-from)"
            )
    return sorted(by_name.values(), key=lambda one: one.name)


def _files_in(root: Path) -> Iterator[Path]:
    try:
        with os.scandir(root) as entries:
            yield from (root / entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(errors="surrogateescape"), digest_size=8).digest(), "big")
