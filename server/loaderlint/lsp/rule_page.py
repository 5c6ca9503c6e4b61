"""Shows the page of a finding's rule: a client that supports `loaderlint.showPage` requests the text by
`loaderlint/page` and shows it; a client that can show documents opens it in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loaderlint import rule_url
from loaderlint.lsp.custom_requests import Refusal, answer

if TYPE_CHECKING:
    from loaderlint.lsp.client_capabilities import Client
    from loaderlint.lsp.server import Server

PAGE = "loaderlint/page"
#: The client's command, and the server's.
SHOW, OPEN = "loaderlint.showPage", "loaderlint.openPage"


def shown(rule: str, client: Client) -> types.Command | None:
    """The command that shows the page of a rule; None if the client cannot show pages."""
    command = SHOW if client.knows(SHOW) else OPEN if client.shows_documents else None
    if command is None:
        return None
    return types.Command(title=f"Show the page of {rule}", command=command, arguments=[rule])


async def page(ls: Server, params: Any) -> dict[str, object]:
    """The page (Markdown) of `rule`. Raises Refusal if there is no such rule."""
    return answer([_known(ls, getattr(params, "rule", None))], None)


async def open_page(ls: Any, rule: str) -> None:  # pygls evaluates the annotations at run time: no `Server` here
    """Let the client open the page of a rule in the browser. Raises Refusal if there is no such rule."""
    _known(ls, rule)
    await ls.window_show_document_async(types.ShowDocumentParams(uri=rule_url(rule), external=True))


def _known(ls: Server, rule: object) -> str:
    text = ls.engine.pages.get(str(rule))
    if text is None:
        raise Refusal(f"there is no rule {rule}; `loaderlint rules` lists them")
    return text.rstrip("\n")


def register(server: Server) -> None:
    """Offer the request and the command."""
    server.feature(PAGE)(page)
    server.command(OPEN)(open_page)
