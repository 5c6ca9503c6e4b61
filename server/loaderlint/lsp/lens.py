"""One code lens a loader: how many workers it has, how much runs in them, and what is copied into each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.text import Span

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server
    from loaderlint.worker_map import MappedLoader

#: What a client that knows this command does when the lens is clicked; for others it is a line of text.
SHOW = "loaderlint.showWorkerMap"


async def code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """One lens at each loader of a document or cell; None if nothing is known about this version of it."""
    report = await ls.analysis.settled_report(params.text_document.uri)
    if report is None:
        return None
    snapshot = report.snapshot
    found = await ls.analysis.ask(lambda workspace: titles(workspace, snapshot.path))
    lenses = []
    for span, title in found:
        part = snapshot.part_at(span.line)
        if part.uri == params.text_document.uri:
            command = types.Command(title=title, command=SHOW if ls.client.knows(SHOW) else "", arguments=[part.uri])
            lenses.append(types.CodeLens(range=part.range(span, ls.client.encoding), command=command))
    return lenses


def titles(workspace: Workspace, path: Path) -> list[tuple[Span, str]]:
    """The places of the loaders in a file, each with what is said of it. For the worker's thread."""
    places: dict[Span, list[MappedLoader]] = {}
    for loader in workspace.worker_map([path]).loaders:
        span = workspace.locate(loader.place) if loader.place is not None else None
        if span is not None:
            places.setdefault(span, []).append(loader)
    return [(span, title(loaders)) for span, loaders in places.items()]


def title(loaders: Sequence[MappedLoader]) -> str:
    """'num_workers=4: 9 functions run in its workers, 6 objects are copied into each'. A call that makes a loader in
    several ways (it stands in a function that is called from several places) is summed up by the one with workers."""
    order = {"yes": 0, "maybe": 1, "no": 2}
    loader = min(loaders, key=lambda one: (order[one.starts_workers], -len(one.functions)))
    ways = f" ({len(loaders)} ways to get here)" if len(loaders) > 1 else ""
    functions = _count({one.name for one in loader.functions}, "function")
    if loader.starts_workers == "no":
        return f"{loader.workers}: {functions} in the main process{ways}"
    copied = _count([one for one in loader.objects if not one.plain], "object")
    return f"{loader.workers}: {functions} in its workers, {copied} copied into each{ways}"


def _count(things: Iterable[object], word: str) -> str:
    number = len(list(things))
    return f"{number} {word}{'' if number == 1 else 's'}"


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))(code_lens)
