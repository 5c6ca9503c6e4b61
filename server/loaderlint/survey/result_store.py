"""Stores results as JSON lines that are only ever appended, so that finished results survive however a survey ends."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from loaderlint import __version__
from loaderlint.survey.results import NotAResult, Result, from_line, to_line


class Unusable(ValueError):
    """A file that contains something other than results; the message says what to do."""


class Kept:
    """The results in a file, the last one of each repository. `add` writes at once. Without a path, they are in memory
    only."""

    def __init__(self, path: Path | None) -> None:
        """Raises OSError and Unusable."""
        self._path = path
        self._results: dict[str, Result] = {}
        if path is not None:
            path.touch()
            self._results = {one.name: one for one in read(path)}
            _drop_torn_line(path)

    def get(self, name: str) -> Result | None:
        """The earlier result of this version of loaderlint for the repository; None if there is none."""
        found = self._results.get(name)
        return found if found is not None and found.loaderlint == __version__ else None

    def add(self, result: Result) -> None:
        """Store a result. Raises OSError."""
        self._results[result.name] = result
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(to_line(result))


def read(path: Path) -> list[Result]:
    """The results in a file; an incomplete last line (its writer was killed) is left out.

    Raises OSError and Unusable."""
    results = []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            results.append(from_line(line))
        except NotAResult as error:
            raise Unusable(f"{path}: line {number} {error}; name another file with --results") from error
    return results


def merged(paths: Iterable[Path]) -> list[Result]:
    """The results of several files, sorted by name; for a repository in several files, the last one.

    Raises OSError, and Unusable if they are of different versions of loaderlint."""
    found: dict[str, Result] = {}
    versions: dict[str, Path] = {}
    for path in paths:
        for one in read(path):
            found[one.name] = one
            versions.setdefault(one.loaderlint, path)
    if len(versions) > 1:
        listed = ", ".join(f"{version} ({path.name})" for version, path in sorted(versions.items()))
        raise Unusable(f"the results are of different versions of loaderlint: {listed}; survey again with one")
    return sorted(found.values(), key=lambda one: one.name)


def _drop_torn_line(path: Path) -> None:
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
