"""The command `loaderlint.whatIf`: what another version, platform or start method would change, like `loaderlint check
--compare`, but with the texts in the editor.

Takes the changes (`python=3.14,torch=2.9`) and optionally the word `markdown`; answers `{text, folder}`. A second
engine does the comparison with the state of the first one, which would otherwise have to link its projects again with
other settings, and could not answer meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from loaderlint.lsp.custom_requests import NOT_ANSWERED, Refusal, answer, base_of, cells_of
from loaderlint.lsp.text_formats import as_markdown

if TYPE_CHECKING:
    from loaderlint.lsp.backend import Backend
    from loaderlint.lsp.documents import Snapshot
    from loaderlint.lsp.engine_jobs import Setup
    from loaderlint.lsp.server import Server
    from loaderlint.settings.changes import Change

WHAT_IF = "loaderlint.whatIf"


async def what_if(ls: Any, *given: Any) -> dict[str, object]:  # no `Server` here, as in `rule_page.open_page`
    """The findings that some changes would add, remove or make more severe, in all files of the workspace. Can be
    cancelled. Raises JsonRpcInvalidParams if no changes are named, Refusal if no folder is open, if a change is not
    possible, or if an internal error occurs."""
    changes, wants_markdown = _changes(given), "markdown" in given[1:]
    if not ls.folders:
        raise Refusal("no folder is open; open one first")
    await ls.analysis.begun.wait()
    lines = await _outline(ls, changes)
    return answer(["# What if", "", *as_markdown(lines)] if wants_markdown else lines, base_of(None, ls.folders))


def _changes(given: Sequence[object]) -> tuple[Change, ...]:
    """The changes that the first argument names."""
    from loaderlint.settings.changes import NotSupposed, changes_of

    if not given or not isinstance(given[0], str):
        raise JsonRpcInvalidParams("the first argument must name the changes, such as 'python=3.14,torch=2.9'")
    try:
        return changes_of([given[0]])
    except NotSupposed as error:
        raise Refusal(str(error)) from error


async def _outline(ls: Server, changes: Sequence[Change]) -> list[str]:
    stopped = threading.Event()
    load, setup, snapshots = ls.load, ls.setup(), ls.shown.snapshots()
    base = base_of(None, ls.folders) or Path("/")
    try:
        return await asyncio.to_thread(_compared, load, setup, snapshots, changes, base, stopped.is_set)
    except Exception as error:
        ls.engine.unanswered(error)
        raise Refusal(NOT_ANSWERED) from error
    finally:
        stopped.set()  # the caller may have been cancelled


def _compared(
    load: Callable[[], Backend],
    setup: Setup,
    snapshots: Sequence[Snapshot],
    changes: Sequence[Change],
    base: Path,
    stop: Callable[[], bool],
) -> list[str]:
    """The comparison by a separate engine, as lines with paths relative to `base`. Runs on a separate thread."""
    from loaderlint.engine.comparison import compared
    from loaderlint.report import comparison_report
    from loaderlint.report.locations import Spots

    backend = load()
    try:
        workspace = backend.workspace(setup.folders, setup.overrides)
        for snapshot in snapshots:
            workspace.set_text(snapshot.path, snapshot.text)
        told = compared(workspace, None, setup.overrides, changes, stop=stop)
        return list(comparison_report.outline(told, Spots(workspace, base, cells_of(snapshots))))
    finally:
        backend.close()


def register(server: Server) -> None:
    """Offer the command."""
    server.command(WHAT_IF)(what_if)
