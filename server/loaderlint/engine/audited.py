"""Compares findings with the audits of their project: confirmed or refuted. Audits are read when the first finding is
shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packaging.version import InvalidVersion, Version

from loaderlint.cache import audit_results
from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.finding_positions import Places
from loaderlint.files import reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.findings.audits import Audit, Audits, Confirmed, Line, Refuted
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.project.versions.environment import VersionSet
from loaderlint.sources.store import Store


class Audited:
    """The audits of one project."""

    def __init__(self, store: Store, configuration: Configuration, places: Places) -> None:
        self._store = store
        self._configuration = configuration
        self._places = places
        self._audits: Audits | None = None
        self._same: dict[tuple[str, str], bool] = {}

    def begin(self) -> None:
        """Begin a check: audits and files may have changed."""
        self._audits = None
        self._same.clear()

    def verdict(self, diagnostic: Diagnostic) -> Confirmed | Refuted | None:
        """The verdict of the audits on a finding; None if there is none."""
        if self._audits is None:
            known = audit_results.recorded(self._configuration.root) if self._configuration.asks_audits else ()
            self._audits = Audits(known, self._holds)
        if not self._audits.known:
            return None
        return self._audits.verdict(diagnostic, self._loaders(diagnostic))

    def _loaders(self, diagnostic: Diagnostic) -> Iterator[Line]:
        for place in diagnostic.finding.loaders:
            span = self._places.span(place)
            yield str(place.path), span.line + 1 if span is not None else 0

    def _holds(self, audit: Audit) -> bool:
        """Whether an audit is still valid: no file has changed, and the project runs on the audited versions."""
        environment = self._configuration.environment(Path(audit.made[0][0]) if audit.made else self._store.root)
        versions = ((environment.torch, audit.torch), (environment.python, audit.python))
        return all(_admits(*one) for one in versions) and all(map(self._is_same, audit.files.items()))

    def _is_same(self, file: tuple[str, str]) -> bool:
        if file not in self._same:
            path, digest = file
            text = self._store.overlay(Path(path))
            try:
                data = reading.read(path, reading.ANY) if text is None else text.encode("utf-8", "surrogatepass")
                self._same[file] = audit_results.content_digest(data) == digest
            except UnreadableFile:
                self._same[file] = False
        return self._same[file]


def _admits(versions: VersionSet, version: str) -> bool:
    try:
        return versions.admits(Version(version))
    except InvalidVersion:
        return False
