"""`loaderlint/symptom`: the cause of a line that a program printed. Clients ask about lines in their terminals, to turn
them into links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from loaderlint.knowledge.symptoms import LONGEST_LINE, Symptom, main_ones, seen_in
from loaderlint.lsp.custom_requests import answer

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

SYMPTOM = "loaderlint/symptom"


async def symptom(ls: Server, params: Any) -> dict[str, object] | None:
    """The explanation of the message in `text`, one line that a program printed: its cause and cure, and the pages
    (Markdown) of the rules that find it; null if loaderlint does not know the line. It reads no file of the project.
    Raises JsonRpcInvalidParams if `text` is missing."""
    line = getattr(params, "text", None)
    if not isinstance(line, str):
        raise JsonRpcInvalidParams("'text' is missing")
    line = line[:LONGEST_LINE]
    for match in main_ones(seen_in([line])):
        await ls.analysis.begun.wait()  # the pages come from the engine
        return answer(_told(line.strip(), match.symptom, ls), None)
    return None


def _told(message: str, known: Symptom, ls: Server) -> Iterator[str]:
    yield "# What causes this message"
    yield from ("", *(f"    {message}".splitlines()), "")
    yield f"- Cause: {known.cause}."
    yield f"- What helps: {known.cure_with('`{}`')}."
    yield "- To find the line: `loaderlint diagnose` reads your program's whole output."
    for rule in known.rules:
        if page := ls.engine.pages.get(rule):
            yield from ("", page.rstrip("\n"))


def register(server: Server) -> None:
    """Offer the request."""
    server.feature(SYMPTOM)(symptom)
