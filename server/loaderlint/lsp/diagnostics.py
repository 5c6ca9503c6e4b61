"""Findings as the protocol's diagnostics: made on the worker's thread, published on the event loop."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loaderlint import rule_url
from loaderlint.findings import Severity
from loaderlint.lsp.client import Client
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.text import to_range
from loaderlint.lsp.uris import uri_of

if TYPE_CHECKING:
    from loaderlint.engine import Diagnostic

SOURCE = "loaderlint"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}

#: Rules whose findings are about code that does nothing (shown faded) or that uses what is out of date (struck out).
TAGS: Mapping[str, tuple[types.DiagnosticTag, ...]] = {}

#: The lines of a file, with their ends.
Lines = Callable[[Path], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one version of a document. `shown[i]` is `findings[i]` in the client's words."""

    snapshot: Snapshot
    findings: tuple[Diagnostic, ...]
    shown: tuple[types.Diagnostic, ...]

    @property
    def result_id(self) -> str:
        """The same for the same diagnostics, whatever the version."""
        return result_id(self.shown)

    def same_version(self, other: Report) -> bool:
        """Whether both are about the very same text of the document."""
        ours, theirs = self.snapshot, other.snapshot
        return (ours.serial, ours.version) == (theirs.serial, theirs.version)

    def params(self) -> types.PublishDiagnosticsParams:
        """The notification that shows it."""
        return types.PublishDiagnosticsParams(
            uri=self.snapshot.uri, version=self.snapshot.version, diagnostics=list(self.shown)
        )


def result_id(shown: Sequence[types.Diagnostic]) -> str:
    """What a client tells in its next request, so that equal diagnostics need not be sent again."""
    return hashlib.blake2b(repr(shown).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def shown(finding: Diagnostic, lines: Lines, uris: Mapping[Path, str], client: Client) -> types.Diagnostic:
    """`finding` in the client's words. `uris` are the names that the client gave to the files it has open."""
    related = [_related(note, lines, uris, client) for note in finding.evidence]
    tags = [tag for tag in TAGS.get(finding.name, ()) if tag in client.tags]
    return types.Diagnostic(
        range=to_range(lines(finding.path), finding.span, client.encoding),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(href=rule_url(finding.name)) if client.code_description else None,
        source=SOURCE,
        tags=tags or None,
        related_information=(related or None) if client.related_information else None,
        data={"id": finding.fingerprint} if client.diagnostic_data else None,
    )


def _related(note: Any, lines: Lines, uris: Mapping[Path, str], client: Client) -> types.DiagnosticRelatedInformation:
    place = types.Location(
        uri=uris.get(note.path) or uri_of(note.path), range=to_range(lines(note.path), note.span, client.encoding)
    )
    return types.DiagnosticRelatedInformation(location=place, message=note.message)


def cleared(uri: str) -> types.PublishDiagnosticsParams:
    """The notification that takes all diagnostics of a document away."""
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
