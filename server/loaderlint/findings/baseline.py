"""Baselines: findings that a project keeps for later. What is in its baseline is not reported.

A finding is the kept one if it has its file and fingerprint, which stays when lines move; else, if its rule and message
are those of a kept one of the same file (its def was rewritten) or of a file that is gone (it was renamed). One that
has become louder than the kept one is reported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import MissingFile, UnreadableFile
from loaderlint.findings.finding import Severity

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

_VERSION = 1


class BadBaseline(Exception):
    """The file is no baseline that can be used; the message says why, and what to do."""


class Entry(NamedTuple):
    """A kept finding. `path` is relative to the baseline's folder, with `/`. In the order in which they are sorted, so
    that a file changes where findings come or go, not where lines move."""

    path: str
    code: str
    name: str
    message: str
    severity: Severity
    fingerprint: str


class Baseline(Struct, frozen=True, dict=True):  # `dict`: a cached property needs it
    """A baseline file and what it keeps."""

    path: Path
    entries: tuple[Entry, ...]

    def file_of(self, entry: Entry) -> Path:
        """The file that an entry is about; it need not exist any more."""
        return Path(os.path.normpath(self.path.parent / entry.path))

    def split(self, path: Path, found: Sequence[Diagnostic]) -> tuple[tuple[Diagnostic, ...], Kept]:
        """Those findings of the file at `path` that are to be reported, and what is kept of it."""
        known = self._known(path, found)
        pairs = zip(found, known, strict=True)
        shown = tuple(d for d, entry in pairs if entry is None or _louder(d.severity, entry))
        return shown, Kept(self, frozenset(entry for entry in known if entry is not None), len(found) - len(shown))

    def _known(self, path: Path, found: Sequence[Diagnostic]) -> list[Entry | None]:
        """For each finding the entry that keeps it."""
        own = {entry.fingerprint: entry for entry in self._by_file.get(path, ())}
        known = [own.pop(d.fingerprint, None) for d in found]
        if None not in known:
            return known
        others = sorted(own.values()) + self._moved
        for index, diagnostic in enumerate(found):
            if known[index] is None:
                same = (e for e in others if (e.code, e.message) == (diagnostic.code, diagnostic.message))
                known[index] = entry = next(same, None)
                if entry is not None:
                    others.remove(entry)
        return known

    @cached_property
    def _by_file(self) -> dict[Path, list[Entry]]:
        grouped: dict[Path, list[Entry]] = {}
        for entry in self.entries:
            grouped.setdefault(self.file_of(entry), []).append(entry)
        return grouped

    @cached_property
    def _moved(self) -> list[Entry]:
        """The entries of files that are gone."""
        return [entry for file, entries in self._by_file.items() if not _exists(file) for entry in entries]


def _exists(file: Path) -> bool:
    file_accesses.saw(file)
    return os.path.exists(file)


class Kept(NamedTuple):
    """What a baseline did in a check: its entries that were found again, and how many findings are hidden by it (those
    that have become louder are not)."""

    baseline: Baseline
    entries: frozenset[Entry]
    hidden: int

    def with_(self, other: Kept) -> Kept:
        """What it did in both of two files."""
        return Kept(self.baseline, self.entries | other.entries, self.hidden + other.hidden)


def read(path: Path) -> Baseline:
    """The baseline in the file at `path`. Raises BadBaseline."""
    try:
        document = json.loads(reading.read(path, reading.BASELINE))
    except MissingFile:
        raise BadBaseline("there is no such baseline; write it with: loaderlint check --write-baseline") from None
    except UnreadableFile as error:
        raise BadBaseline(f"{error}; its findings are reported") from error
    except (ValueError, RecursionError) as error:
        raise BadBaseline(f"is not a baseline ({error}); {_AGAIN}") from error
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > _VERSION:
        raise BadBaseline("was written by a newer loaderlint; update loaderlint, or write the baseline again")
    if version != _VERSION or not isinstance(document.get("findings"), list):
        raise BadBaseline(f"is not a baseline (no version and findings in it); {_AGAIN}")
    return Baseline(path, tuple(_entry(number, item) for number, item in enumerate(document["findings"], 1)))


_AGAIN = "name another file, or delete this one and write it with: loaderlint check --write-baseline"


def _entry(number: int, item: object) -> Entry:
    if not isinstance(item, dict):
        raise BadBaseline(f"finding {number} in it is not an object; {_AGAIN}")
    try:
        texts = {key: item[key] for key in Entry._fields}
        if not all(isinstance(text, str) for text in texts.values()):
            raise ValueError("its values must be strings")
        return Entry(**{**texts, "severity": Severity(texts["severity"])})
    except (KeyError, ValueError) as error:
        raise BadBaseline(f"finding {number} in it cannot be read ({error}); {_AGAIN}") from error


def entries_of(diagnostics: Iterable[Diagnostic], folder: Path) -> list[Entry]:
    """What a baseline in `folder` keeps of these findings: hints count for nothing, so they are left out."""
    return [
        Entry(_relative(d.path, folder), d.code, d.name, d.message, d.severity, d.fingerprint)
        for d in diagnostics
        if d.severity is not Severity.HINT
    ]


def text_of(entries: Iterable[Entry]) -> str:
    """The text of a baseline file: sorted, one line a finding."""
    lines = ",\n".join(f"  {json.dumps(entry._asdict())}" for entry in sorted(set(entries)))
    listed = f"[\n{lines}\n ]" if lines else "[]"
    return f'{{\n "version": {_VERSION},\n "findings": {listed}\n}}\n'


def _relative(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        return path.as_posix()


def _louder(severity: Severity, entry: Entry) -> bool:
    order = list(Severity)
    return order.index(severity) < order.index(entry.severity)
