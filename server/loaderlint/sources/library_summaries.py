"""Summaries of libraries, which are part of loaderlint and replace libraries that are not installed.

A summary contains the modules of one release, reduced to what loaderlint asks about: imports, names, bases, signatures,
and the effects of functions, written as Python code (by `scripts/reduced_code.py`). They are read, cut and lowered like
the files of an installed library. `index.json` lists the releases; the data of a release is read when one of its
modules is needed. If the data cannot be read, only the summary of that release is missing.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from loaderlint import knowledge
from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.knowledge.measured_libraries import is_measured_library

if TYPE_CHECKING:
    from packaging.version import Version

    from loaderlint.project.versions.environment import VersionSet

FOLDER = Path(knowledge.__file__).parent / "library_summaries"
INDEX = "index.json"
_INDEX = reading.Limit("the index of summaries", 1_000_000)
_DATA = reading.Limit("a summary", 2_000_000)
#: The maximum number of characters of a summary.
_MOST = 20_000_000
_CHECKSUM = 8


class Release(Struct, frozen=True):
    """One summarised release. `tops`: its top-level packages; `distributions`: the names under which a project may
    declare it; `archive`, `digest`: the file that was summarised, with its SHA-256; `checksum`: that of `file`."""

    library: str
    version: str
    tops: tuple[str, ...]
    distributions: tuple[str, ...]
    archive: str
    digest: str
    modules: int
    file: str
    checksum: str


class BrokenSummary(Exception):
    """The data of a summary, or the index, is damaged. The message says what is missing."""


def checksum(data: bytes) -> str:
    """The checksum of data that the index contains."""
    return hashlib.blake2b(data, digest_size=_CHECKSUM).hexdigest()


def packed(modules: Mapping[str, str]) -> bytes:
    """The text of each module by its path, packed into bytes."""
    import msgspec

    return zlib.compress(msgspec.json.encode(dict(sorted(modules.items()))), 9)


def unpacked(data: bytes) -> dict[str, str]:
    """The inverse of `packed`. Raises ValueError for other bytes."""
    import msgspec

    try:
        reader = zlib.decompressobj()
        text = reader.decompress(data, _MOST)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not reader.eof or reader.unused_data:
        raise ValueError("cut short, or too long")
    return msgspec.json.decode(text, type=dict[str, str])


def releases() -> tuple[Release, ...]:
    """The summarised releases. Raises BrokenSummary if the index is damaged."""
    import msgspec

    try:
        return tuple(msgspec.json.decode(reading.read_unseen(FOLDER / INDEX, _INDEX), type=list[Release]))
    except (UnreadableFile, ValueError) as error:
        raise BrokenSummary(f"the summaries of libraries cannot be read ({error}); reinstall loaderlint") from error


@cache
def _known(_folder: Path) -> tuple[tuple[Release, ...], str]:
    """The releases, and the problem with the index, '' if there is none."""
    try:
        return releases(), ""
    except BrokenSummary as error:
        return (), str(error)


def read(release: Release) -> dict[str, str]:
    """The text of each module of a release by its path. Raises BrokenSummary if the data is damaged."""
    try:
        data = reading.read_unseen(FOLDER / release.file, _DATA)
        if checksum(data) != release.checksum:
            raise ValueError("damaged")
        return unpacked(data)
    except (UnreadableFile, ValueError) as error:
        what = f"the summary of {release.library} {release.version} cannot be read ({error})"
        raise BrokenSummary(f"{what}: this library is unknown; reinstall loaderlint") from error


def names() -> tuple[str, ...]:
    """The top-level packages whose summaries may be used, sorted: those that no table describes."""
    return _names(FOLDER)


@cache
def _names(folder: Path) -> tuple[str, ...]:
    found = {top for one in _known(folder)[0] for top in one.tops}
    return tuple(sorted(top for top in found if not is_measured_library(top)))


class LibrarySummaries:
    """The summaries that match a project. `chosen`: the releases, the newest of each library first; `tell` is called
    once about each summary that cannot be read."""

    def __init__(self, chosen: Iterable[Release], tell: Callable[[str], None]) -> None:
        self._tops: dict[str, list[Release]] = {}
        for release in chosen:
            for top in release.tops:
                self._tops.setdefault(top, []).append(release)
        self._tell = tell
        self._read: dict[Release, dict[str, str]] = {}
        self._found: dict[Path, tuple[Release, str]] = {}
        if wrong := _known(FOLDER)[1]:
            tell(wrong)

    def has(self, top: str) -> bool:
        """Whether a top-level package is summarised."""
        return top in self._tops

    def module(self, name: str) -> Path | None:
        """The virtual path of the module with a dotted name, below the data of the newest release that contains it;
        None if none does."""
        stem = name.replace(".", "/")
        for release in self._tops.get(name.partition(".")[0], ()):
            modules = self._modules(release)
            for path in (f"{stem}/__init__.py", f"{stem}.py"):
                if path in modules:
                    found = FOLDER / release.file / path
                    self._found[found] = release, path
                    return found
        return None

    def text(self, path: Path) -> bytes | None:
        """The text of a module that was found; None for other files."""
        found = self._found.get(path)
        return self._modules(found[0])[found[1]].encode() if found is not None else None

    def place(self, path: Path) -> str:
        """'mmcv 1.7.1 (mmcv/utils/parrots_wrapper.py)', for users. The lines of a summary are meaningless."""
        release, inside = self._found[path]
        return f"{release.library} {release.version} ({inside})"

    def _modules(self, release: Release) -> dict[str, str]:
        if release not in self._read:
            self._read[release] = {}
            try:
                self._read[release] = read(release)
            except BrokenSummary as error:
                self._tell(str(error))
        return self._read[release]


def fitting(declared: Mapping[str, VersionSet]) -> tuple[Release, ...]:
    """For each library the releases whose version the project allows, the newest first. If it allows none of them, the
    release of the same main version that is nearest to what it declares."""
    from packaging.version import Version

    by_library: dict[str, list[Release]] = {}
    for one in _known(FOLDER)[0]:
        by_library.setdefault(one.library, []).append(one)
    found: list[Release] = []
    for some in by_library.values():
        some.sort(key=lambda one: Version(one.version), reverse=True)
        wanted = [declared[name] for name in some[0].distributions if name in declared]
        admitted = [one for one in some if all(each.admits(Version(one.version)) for each in wanted)]
        found += admitted or _nearest(some, wanted)
    return tuple(found)


def _nearest(some: list[Release], wanted: list[VersionSet]) -> list[Release]:
    """Of a library's releases (the newest first), the one that is nearest to `wanted`, which contains none of them."""
    from packaging.version import Version

    bounds = [bound for each in wanted for one in each.ranges for bound in (one.high, one.low) if bound is not None]
    alike = [one for one in some if any(_main(Version(one.version)) == _main(bound) for bound in bounds)]
    older = [one for one in alike if Version(one.version) <= bounds[0]]
    return older[:1] or alike[-1:]


def _main(version: Version) -> tuple[int, ...]:
    """The part of a version that breaking changes increase: 1 of 1.7.1, 0.4 of 0.4.12."""
    return version.release[: 1 if version.release[0] else 2]
