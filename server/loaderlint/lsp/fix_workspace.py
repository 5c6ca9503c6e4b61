"""`loaderlint/fixWorkspace`: make all safe fixes in all files of the workspace, with one edit that the client applies.

Notebooks that are not open are skipped: the editor does not know their cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.custom_requests import NOT_ANSWERED, Refusal
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.fix_all import fix_all
from loaderlint.lsp.protocol import ContentModified
from loaderlint.lsp.workspace_edits import Change, NotMade, Outdated, change
from loaderlint.syntax.notebook import SUFFIX

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

FIX = "loaderlint/fixWorkspace"
LABEL = "Fix all loaderlint findings in the workspace"


async def fix_workspace(ls: Server, _: Any) -> dict[str, object]:
    """Apply the fixes; `{files, message}` says how many files were edited. Raises Refusal if the client does not apply
    edits, or not this one, and ContentModified if a file is edited meanwhile."""
    if not ls.client.applies_edits:
        raise Refusal("this editor does not apply a server's edits; run: loaderlint check --fix")
    await ls.analysis.begun.wait()
    await ls.analysis.settled()
    snapshots, client = ls.shown.snapshots(), ls.client
    try:
        made = await ls.engine.ask(lambda workspace: _fixes(workspace, snapshots, client))
    except Outdated as outdated:
        ls.analysis.touched([snapshot.path for snapshot in snapshots])
        raise ContentModified() from outdated
    except NotMade as refused:
        raise Refusal(str(refused)) from refused
    except Exception as error:
        ls.engine.unanswered(error)
        raise Refusal(NOT_ANSWERED) from error
    if made is None:
        return {"files": 0, "message": "loaderlint: no finding in the workspace has a safe fix"}
    if not made.holds(ls.documents):
        raise ContentModified()
    answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit=made.edit, label=LABEL))
    if not answer.applied:
        raise Refusal(f"the editor did not apply the fixes: {answer.failure_reason or 'it gave no reason'}")
    files = "1 file" if made.files == 1 else f"{made.files} files"
    return {"files": made.files, "message": f"loaderlint: all safe fixes are applied; {files} edited"}


def _fixes(workspace: Workspace, snapshots: Sequence[Snapshot], client: Client) -> Change | None:
    """The edit with all safe fixes; None if there are none. Runs on the worker's thread."""
    is_open = {snapshot.path for snapshot in snapshots}
    found = [path for path, findings in workspace.check().items() if findings]
    paths = [path for path in found if path.suffix != SUFFIX or path in is_open]
    return change(fix_all(workspace, paths, snapshots, None), workspace, snapshots, client, None)


def register(server: Server) -> None:
    """Offer the request."""
    server.feature(FIX)(fix_workspace)
