"""Converts findings to the protocol's diagnostics, on the worker's thread. They are published on the event loop."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace

from loaderlint import rule_url
from loaderlint.findings.causes import by_cause, short_message
from loaderlint.findings.finding import Severity
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.text_positions import Span

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

SOURCE = "loaderlint"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}

#: Rules whose findings are about code without effect (shown faded) or outdated code (struck out).
TAGS: Mapping[str, tuple[types.DiagnosticTag, ...]] = {}


class Places(Protocol):
    """Converts a span of a file to a location for the client."""

    def __call__(self, path: Path, span: Span) -> types.Location: ...


class Report(Struct, frozen=True):
    """The findings in one version of a document. `shown[i]` is `findings[i]` as the client's diagnostic, in the
    document or cell `uris[i]`. `environment`: the versions and platforms that the code is assumed to run on, one per
    line, each with its source."""

    snapshot: Snapshot
    findings: tuple[Diagnostic, ...]
    shown: tuple[types.Diagnostic, ...]
    uris: tuple[str, ...]
    environment: tuple[str, ...] = ()

    def shown_in(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics of the document, however the client spells its name, or of one cell of a notebook."""
        return [one for index, one in enumerate(self.shown) if self.shows(index, uri)]

    def shows(self, index: int, uri: str) -> bool:
        """Whether the finding at `index` is in the document, or in this cell of the notebook."""
        return self.snapshot.cells is None or self.uris[index] == uri

    def with_unsure(self, numbers: Sequence[int], other: Report) -> Report:
        """The report plus findings of another report of the same text, by their `numbers`, that it does not contain.
        The added ones have no fixes."""
        known = {finding.fingerprint for finding in self.findings}
        new = [number for number in numbers if other.findings[number].fingerprint not in known]
        findings = [
            replace(one, fixable=False, finding=replace(one.finding, fixes=()))
            for one in map(other.findings.__getitem__, new)
        ]
        return replace(
            self,
            findings=(*self.findings, *findings),
            shown=(*self.shown, *(other.shown[number] for number in new)),
            uris=(*self.uris, *(other.uris[number] for number in new)),
        )

    def messages(self) -> list[types.PublishDiagnosticsParams]:
        """The diagnostics of one version of a document, for clients that do not pull: a notification for each text that
        the client edits (the cells of a notebook)."""
        return [
            types.PublishDiagnosticsParams(uri=part.uri, version=part.version, diagnostics=self.shown_in(part.uri))
            for part in self.snapshot.parts
        ]


def report_of(
    snapshot: Snapshot, findings: Sequence[Diagnostic], environment: tuple[str, ...], places: Places, client: Client
) -> Report:
    """The report of the findings in `snapshot`."""
    made = all_shown(findings, places, client)
    uris = tuple(snapshot.part_at(finding.span.line).uri for finding in findings)
    return Report(snapshot, tuple(findings), tuple(made), uris, environment)


def result_id(shown: Sequence[types.Diagnostic]) -> str:
    """The result id of diagnostics. A client sends it in its next request, so that equal diagnostics are not sent
    again."""
    return hashlib.blake2b(repr(tuple(shown)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def all_shown(findings: Sequence[Diagnostic], places: Places, client: Client) -> list[types.Diagnostic]:
    """The findings of one document as the client's diagnostics. If several have one cause, the data of all name it: the
    id of the first. Only this one has the full text; the others are short and point to it. It does not point to them,
    because clients list all findings of a file together."""
    firsts = {id(one): group[0] for group in by_cause(findings) if len(group) > 1 for one in group}
    return [_shown(finding, firsts.get(id(finding)), places, client) for finding in findings]


def _shown(finding: Diagnostic, cause: Diagnostic | None, places: Places, client: Client) -> types.Diagnostic:
    """A finding; `cause`: the first finding with the same cause, None if it is the only one."""
    first = None if cause is finding else cause
    related = [
        types.DiagnosticRelatedInformation(location=places(note.path, note.span), message=note.message)
        for note in finding.evidence
    ]
    if first is not None:
        related.insert(0, types.DiagnosticRelatedInformation(places(first.path, first.span), first.message))
    message = finding.message if first is None else short_message(finding)
    if finding.audit:
        message += f"\nConfirmed: {finding.audit}"
    tags = [tag for tag in TAGS.get(finding.name, ()) if tag in client.tags]
    return types.Diagnostic(
        range=places(finding.path, finding.span).range,
        message=message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(href=rule_url(finding.name)) if client.code_description else None,
        source=SOURCE,
        tags=tags or None,
        related_information=(related or None) if client.related_information else None,
        data=_data(finding, cause) if client.diagnostic_data else None,
    )


def _data(finding: Diagnostic, cause: Diagnostic | None) -> dict[str, str]:
    data = {"id": finding.fingerprint}
    return data if cause is None else {**data, "cause": cause.fingerprint}


def cleared(uri: str) -> types.PublishDiagnosticsParams:
    """The notification that removes all diagnostics of a document."""
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
