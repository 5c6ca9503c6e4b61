"""Hover: the rule's page on a finding, with the versions that the project is assumed to run on, and on a rule's name in
a suppression comment; the loader that a line creates, and the loaders for which a function runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.markdown import about_line
from loaderlint.lsp.text_formats import plain
from loaderlint.lsp.text_positions import Place, Span, content, touches

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

#: Seconds that a hover waits for the analysis of the last edit.
_PATIENCE = 1.0
_IGNORE = re.compile(r"#\s*loaderlint:\s*ignore(?:-file)?\s*\[(?P<names>[^\]]*)\]?")
_NAME = re.compile(r"[\w-]+")
#: A block of code, whose comments look like headings, or the mark of a heading.
_HEADING = re.compile(r"^```.*?^```$|^(#+) ", re.MULTILINE | re.DOTALL)


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """The hover at a position: the page of the rule for a finding or a name in a suppression, what a loader starts, or
    for which loaders a function runs; None if there is nothing to show."""
    state = ls.shown.state(params.text_document.uri)
    if state is None or not state.document.analysed:
        return None
    snapshot = state.document.snapshot()
    at = snapshot.place(params.text_document.uri, params.position, ls.documents.encoding)
    if at is None:
        return None
    line, column = at
    place = Place(line, column, line, column)
    named = _name_at(content(snapshot.lines[line]), column)
    if named is not None:
        name, start, end = named
        return _hover(ls, pages([name], ls.engine.pages), Place(line, start, line, end), snapshot)
    if state.found is None and not await ls.analysis.settles_within(_PATIENCE):
        return None
    report = state.found
    if report is None or report.snapshot.at != snapshot.at:
        return None
    found = [finding for finding in report.findings if touches(finding.span, place)]
    if found:
        text = pages(dict.fromkeys(finding.name for finding in found), ls.engine.pages)
        return _hover(ls, with_environment(text, report.environment), found[0].span, snapshot)
    if not await ls.analysis.settles_within(_PATIENCE) or state.document.at != snapshot.at:
        return None
    told = await ls.engine.try_asking(lambda workspace: workspace.answer(about_line, snapshot.path, line))
    return _hover(ls, told or "", Place(line, 0, line, len(content(snapshot.lines[line]))), snapshot)


def _hover(ls: Server, text: str, span: Span, snapshot: Snapshot) -> types.Hover | None:
    if not text:
        return None
    if ls.client.markdown:
        contents = types.MarkupContent(kind=types.MarkupKind.Markdown, value=text)
    else:
        contents = types.MarkupContent(kind=types.MarkupKind.PlainText, value=plain(text))
    return types.Hover(
        contents=contents,
        range=snapshot.part_at(span.line).range(span, ls.client.encoding),
    )


def with_environment(page: str, environment: Sequence[str]) -> str:
    """A rule's page with the versions and platforms that the rule assumed, below its heading."""
    if not page or not environment:
        return page
    heading, _, rest = page.partition("\n")
    return f"{heading}\n\nHere: {'; '.join(environment)}.\n{rest}"


def pages(names: Iterable[str], known: Mapping[str, str]) -> str:
    """The pages of the rules `names`, one after the other, with headings that suit a hover; unknown names are left
    out."""
    return "\n\n---\n\n".join(_smaller(known[name].strip()) for name in names if name in known)


def _smaller(page: str) -> str:
    return _HEADING.sub(lambda found: f"##{found[0]}" if found[1] else found[0], page)


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
