"""Baselines: findings that a project keeps for later. They are not reported.

A finding matches an entry if it has the same file and fingerprint, which does not change when lines move. Otherwise it
matches an entry with the same rule and message in the same file (its def was rewritten), or in a file that no longer
exists (it was renamed). A finding that has become more severe than its entry is reported.
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
    """The file is not a usable baseline; the message says why, and what to do."""


class Entry(NamedTuple):
    """An entry of a baseline: a kept finding. `path` is relative to the baseline's folder, with `/`. Entries are sorted
    by these fields in this order, so that the file changes only where findings come or go, not where lines move."""

    path: str
    code: str
    name: str
    message: str
    severity: Severity
    fingerprint: str


class Baseline(Struct, frozen=True, dict=True):  # `dict`: a cached property needs it
    """A baseline file and its entries."""

    path: Path
    entries: tuple[Entry, ...]

    def file_of(self, entry: Entry) -> Path:
        """The file that an entry is about; it may no longer exist."""
        return Path(os.path.normpath(self.path.parent / entry.path))

    def split(self, path: Path, found: Sequence[Diagnostic]) -> tuple[tuple[Diagnostic, ...], Kept]:
        """The findings of the file at `path` that are to be reported, and what the baseline keeps of the others."""
        known = self._known(path, found)
        pairs = zip(found, known, strict=True)
        shown = tuple(d for d, entry in pairs if entry is None or _louder(d.severity, entry))
        return shown, Kept(self, frozenset(entry for entry in known if entry is not None), len(found) - len(shown))

    def _known(self, path: Path, found: Sequence[Diagnostic]) -> list[Entry | None]:
        """For each finding the entry that it matches, or None."""
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
        """The entries of files that no longer exist."""
        return [entry for file, entries in self._by_file.items() if not _exists(file) for entry in entries]


def _exists(file: Path) -> bool:
    file_accesses.saw(file)
    return os.path.exists(file)


class Kept(NamedTuple):
    """The effect of a baseline in a check: the entries that were found again, and the number of findings that it hides
    (those that have become more severe are not hidden)."""

    baseline: Baseline
    entries: frozenset[Entry]
    hidden: int

    def with_(self, other: Kept) -> Kept:
        """The effects on two files together."""
        return Kept(self.baseline, self.entries | other.entries, self.hidden + other.hidden)


def read(path: Path) -> Baseline:
    """Read the baseline at `path`. Raises BadBaseline if there is none or it cannot be used."""
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
    """The entries for these findings in a baseline in `folder`. Hints are left out, because they never affect the exit
    code."""
    return [
        Entry(_relative(d.path, folder), d.code, d.name, d.message, d.severity, d.fingerprint)
        for d in diagnostics
        if d.severity is not Severity.HINT
    ]


def text_of(entries: Iterable[Entry]) -> str:
    """The text of a baseline file: sorted, one line per finding."""
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
