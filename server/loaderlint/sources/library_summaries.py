"""Summaries of libraries, which come with loaderlint and stand in where a library is not installed.

A summary holds the modules of one release as far as loaderlint asks about them: imports, names, bases, signatures, and
the effects of functions, in the notation of Python (`scripts/reduced_code.py` makes them). They are read, cut and
lowered as the files of an installed library are. `index.json` lists the releases; the data of one is read when a module
of it is asked for. Data that cannot be read costs the summaries of that release.
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
#: No summary has more characters.
_MOST = 20_000_000
_CHECKSUM = 8


class Release(Struct, frozen=True):
    """One summarised release. `tops`: the top-level packages that it brings; `distributions`: the names under which a
    project may declare it; `archive`, `digest`: the file that was read, with its SHA-256; `checksum`: of `file`."""

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
    """The data of a summary, or their index, is not what was written. The message says what is missing."""


def checksum(data: bytes) -> str:
    """What an index says of data."""
    return hashlib.blake2b(data, digest_size=_CHECKSUM).hexdigest()


def packed(modules: Mapping[str, str]) -> bytes:
    """The text of each module by its path, as data."""
    import msgspec

    return zlib.compress(msgspec.json.encode(dict(sorted(modules.items()))), 9)


def unpacked(data: bytes) -> dict[str, str]:
    """What `packed` was given. Raises ValueError."""
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
    """The releases that are summarised. Raises BrokenSummary."""
    import msgspec

    try:
        return tuple(msgspec.json.decode(reading.read_unseen(FOLDER / INDEX, _INDEX), type=list[Release]))
    except (UnreadableFile, ValueError) as error:
        raise BrokenSummary(f"the summaries of libraries cannot be read ({error}); reinstall loaderlint") from error


@cache
def _known(_folder: Path) -> tuple[tuple[Release, ...], str]:
    """The releases, and what is wrong with them."""
    try:
        return releases(), ""
    except BrokenSummary as error:
        return (), str(error)


def read(release: Release) -> dict[str, str]:
    """The text of each module of a release by its path. Raises BrokenSummary."""
    try:
        data = reading.read_unseen(FOLDER / release.file, _DATA)
        if checksum(data) != release.checksum:
            raise ValueError("damaged")
        return unpacked(data)
    except (UnreadableFile, ValueError) as error:
        what = f"the summary of {release.library} {release.version} cannot be read ({error})"
        raise BrokenSummary(f"{what}: this library is unknown; reinstall loaderlint") from error


def names() -> tuple[str, ...]:
    """The top-level packages of which a summary may be asked, sorted: those that the tables do not describe."""
    return _names(FOLDER)


@cache
def _names(folder: Path) -> tuple[str, ...]:
    found = {top for one in _known(folder)[0] for top in one.tops}
    return tuple(sorted(top for top in found if not is_measured_library(top)))


class LibrarySummaries:
    """The summaries that fit a project. `chosen`: the releases, the newest of each library first; `tell` is told once
    what cannot be read."""

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
        """Where the module with a dotted name would be: a path below the data of the newest release that has it."""
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
        """'mmcv 1.7.1 (mmcv/utils/parrots_wrapper.py)', for people. Lines of summaries say nothing."""
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
    """Of each library the releases whose version a project admits, the newest first. Where it admits none of them, the
    one of the same main version that is nearest to what it declares."""
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
    """Of the releases of a library, the newest first, the one that is nearest to versions that are none of them."""
    from packaging.version import Version

    bounds = [bound for each in wanted for one in each.ranges for bound in (one.high, one.low) if bound is not None]
    alike = [one for one in some if any(_main(Version(one.version)) == _main(bound) for bound in bounds)]
    older = [one for one in alike if Version(one.version) <= bounds[0]]
    return older[:1] or alike[-1:]


def _main(version: Version) -> tuple[int, ...]:
    """The part of a version that changes with what breaks: 1 of 1.7.1, 0.4 of 0.4.12."""
    return version.release[: 1 if version.release[0] else 2]
