"""Hover: the rule's page on a finding, with what the project is taken to run on, and on a rule's name in a suppression
comment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp.diagnostics import Report
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.text import Place, Span, content, touches

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

_IGNORE = re.compile(r"#\s*loaderlint:\s*ignore(?:-file)?\s*\[(?P<names>[^\]]*)\]?")
_NAME = re.compile(r"[\w-]+")


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """What is to be said about a position; None if nothing."""
    document = ls.documents.get(params.text_document.uri)
    if document is None or not document.analysed:
        return None
    snapshot = document.snapshot()
    line, column = snapshot.place(params.text_document.uri, params.position, ls.documents.encoding)
    place = Place(line, column, line, column)
    named = _name_at(content(snapshot.lines[line]), column)
    if named is not None:
        name, start, end = named
        return _hover(ls, [name], Place(line, start, line, end), snapshot)
    # No waiting: a hover is about what is shown now.
    report = ls.analysis.report(document)
    return None if report is None else _on_finding(ls, report, place)


def _on_finding(ls: Server, report: Report, place: Place) -> types.Hover | None:
    found = [finding for finding in report.findings if touches(finding.span, place)]
    if not found:
        return None
    names = list(dict.fromkeys(finding.name for finding in found))
    return _hover(ls, names, found[0].span, report.snapshot, report.environment)


def _hover(
    ls: Server, names: Sequence[str], span: Span, snapshot: Snapshot, environment: Sequence[str] = ()
) -> types.Hover | None:
    text = with_environment(pages(names, ls.analysis.pages), environment)
    if not text:
        return None
    kind = types.MarkupKind.Markdown if ls.client.markdown else types.MarkupKind.PlainText
    return types.Hover(
        contents=types.MarkupContent(kind=kind, value=text),
        range=snapshot.part_at(span.line).range(span, ls.client.encoding),
    )


def with_environment(page: str, environment: Sequence[str]) -> str:
    """A page with the facts that its rule was asked with, below its heading."""
    if not page or not environment:
        return page
    heading, _, rest = page.partition("\n")
    return f"{heading}\n\nHere: {'; '.join(environment)}.\n{rest}"


def pages(names: Sequence[str], known: Mapping[str, str]) -> str:
    """The pages of the rules `names` one below the other; unknown names are left out."""
    return "\n\n---\n\n".join(known[name].strip() for name in names if name in known)


def _name_at(line: str, column: int) -> tuple[str, int, int] | None:
    """The rule name in a suppression comment at `column`, with where it starts and ends."""
    for comment in _IGNORE.finditer(line):
        for name in _NAME.finditer(line, *comment.span("names")):
            if name.start() <= column <= name.end():
                return name[0], name.start(), name.end()
    return None


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
