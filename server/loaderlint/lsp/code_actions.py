"""Code actions: the fixes of a finding, fix all, 'suppress here', its rule's page, and refactorings of a loader.

The client's diagnostics are never trusted: some editors send ranges in other units than agreed. Findings are looked up
again from the requested range; the id that a diagnostic carries can only confirm one. Edits are made for one version of
the document and are refused for any other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from loaderlint.findings.insert_suppressions import Suppressing
from loaderlint.lsp import rule_page
from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.documents import Document, Notebook, Snapshot
from loaderlint.lsp.fix_all import fix_all
from loaderlint.lsp.protocol import ContentModified
from loaderlint.lsp.protocol_diagnostics import Report
from loaderlint.lsp.text_positions import Place, Span, touches
from loaderlint.lsp.workspace_edits import Change, Edit, FileEdit, NotMade, Outdated, change, one_edit

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.findings.finding import Fix
    from loaderlint.fixes.file_edits import Repair
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

REFACTOR = types.CodeActionKind.RefactorRewrite.value
QUICK_FIX = types.CodeActionKind.QuickFix.value
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.loaderlint"

#: Clients request the kind above cell by cell, but a notebook is fixed as a whole.
NOTEBOOK_FIX_ALL = f"notebook.{FIX_ALL}"


class NotPossible(JsonRpcException):
    """The offered action turns out to be impossible."""

    CODE = types.LSPErrorCodes.RequestFailed.value
    MESSAGE = "this fix cannot be made here"


async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Fixes, fix all, suppressions and refactorings for a range of a document; None if nothing is known about this
    version of it."""
    report = await ls.analysis.settled_report(params.text_document.uri)
    document = ls.documents.get(params.text_document.uri)
    if report is None or document is None:
        return None
    wanted = _Wanted(params.context.only)
    actions: list[types.CodeAction] = []
    if wanted(QUICK_FIX):
        actions += _quick_fixes(ls, report, _meant(report, params, ls.documents.encoding))
    all_here = FIX_ALL if report.snapshot.cells is None else NOTEBOOK_FIX_ALL
    if wanted(all_here) and any(_safe(finding) for finding in report.findings):
        edited = _edits_elsewhere(report, map(_safe_fix, report.findings))
        title = f"Fix all loaderlint findings that have a safe fix{edited}"
        actions.append(_lazy(report, title, all_here, {"all": True}))
    if wanted(REFACTOR):
        actions += await _refactorings(ls, report, params)
    if ls.client.resolves_edits:
        return actions
    return [action for action in actions if await _can_be_filled(ls, document, report, action)]


async def resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    """Fill in the edit of an action. Raises ContentModified if its document has changed, NotPossible if the engine
    cannot compute the edit."""
    data = action.data
    if not isinstance(data, Mapping):
        return action
    document = ls.documents.get(str(data.get("uri")))
    if document is None or document.at != tuple(data.get("at") or ()):
        raise ContentModified()
    report = await ls.analysis.settled_report(document.uri)
    if report is None:
        raise ContentModified()
    if not await _filled(ls, document, report, action):
        raise NotPossible()
    return action


async def _can_be_filled(ls: Server, document: Document | Notebook, report: Report, action: types.CodeAction) -> bool:
    """Like `_filled`, but also False if the edit would do harm."""
    try:
        return await _filled(ls, document, report, action)
    except NotPossible:
        return False


async def _filled(ls: Server, document: Document | Notebook, report: Report, action: types.CodeAction) -> bool:
    """Fill in the edit of an action, if it has none yet. False if there is no edit. Raises NotPossible if the edit
    would do harm, ContentModified if a file has changed."""
    if action.edit is not None or action.command is not None:
        return True
    data: Any = action.data
    snapshots = ls.shown.snapshots(report.snapshot)
    client, title = ls.client, action.title

    def question(workspace: Workspace) -> Change | None:
        files, confirm = _files(workspace, report, snapshots, data)
        return change(files, workspace, snapshots, client, title if confirm else None)

    try:
        made = await ls.engine.ask(question)
    except Outdated as outdated:
        logger.info("no fix: %s", outdated)
        ls.analysis.touched([snapshot.path for snapshot in snapshots])
        raise ContentModified() from outdated
    except NotMade as refused:
        raise NotPossible(str(refused)) from refused
    except Exception as error:
        ls.engine.unanswered(error)
        return False
    if made is None:
        return False
    if document.at != report.snapshot.at or not made.holds(ls.documents):
        raise ContentModified()
    action.edit = made.edit
    return True


def _files(
    workspace: Workspace, report: Report, snapshots: Sequence[Snapshot], data: Mapping[str, Any]
) -> tuple[Sequence[FileEdit], bool]:
    """The edits that an action's data describe, and whether edits of files that are not open need the user's consent.
    Only those of an unsafe fix do: a safe one is applied to all its files at once, like a rename. Runs on the worker's
    thread."""
    if "all" in data:
        return fix_all(workspace, [report.snapshot.path], snapshots, data.get("rules")), False
    repair = _repair(workspace, report, data)
    return (repair.files, repair.safety != "safe") if repair is not None else ((), False)


def _repair(workspace: Workspace, report: Report, data: Mapping[str, Any]) -> Repair | None:
    """The refactoring, or the fix of one finding, that an action's data describe."""
    if "refactoring" in data:
        known = workspace.refactorings(report.snapshot.path, int(data["line"]))
        fix = next((fix for fix in known if fix.title == data["refactoring"]), None)
        return workspace.repair(report.snapshot.path, fix) if fix is not None else None
    finding = _by_id(report, data)
    repairs = workspace.repairs(finding) if finding is not None else ()
    return next((repair for repair in repairs if repair.title == data.get("fix")), None)


def _by_id(report: Report, data: Mapping[str, Any]) -> Diagnostic | None:
    index = data.get("finding")
    if isinstance(index, int) and 0 <= index < len(report.findings):
        finding = report.findings[index]
        if finding.fingerprint == data.get("id"):
            return finding
    return next((finding for finding in report.findings if finding.fingerprint == data.get("id")), None)


# --- which findings, which actions ------------------------------------------------------------------------------------


class _Wanted:
    """Whether the client wants actions of a kind: 'source' asks for 'source.fixAll.loaderlint' as well."""

    def __init__(self, only: Sequence[types.CodeActionKind | str] | None) -> None:
        self._only = None if only is None else [getattr(kind, "value", kind) for kind in only]

    def __call__(self, kind: str) -> bool:
        if self._only is None:
            return True
        return any(not asked or kind == asked or kind.startswith(f"{asked}.") for asked in self._only)


def _meant(report: Report, params: types.CodeActionParams, encoding: Any) -> list[int]:
    """The indexes of the findings that touch the requested range. If the client names the id of a finding, a common
    line is enough, whatever the columns are."""
    uri = params.text_document.uri
    asked = report.snapshot.span(uri, params.range, encoding)
    if asked is None:
        return []
    named = {
        diagnostic.data.get("id") for diagnostic in params.context.diagnostics if isinstance(diagnostic.data, Mapping)
    }
    return [
        index
        for index, finding in enumerate(report.findings)
        if report.shows(index, uri)
        and (touches(finding.span, asked) or (finding.fingerprint in named and _shares_line(finding.span, asked)))
    ]


def _shares_line(first: Span, second: Span) -> bool:
    return first.line <= second.end_line and second.line <= first.end_line


def _safe(finding: Diagnostic) -> bool:
    return _safe_fix(finding) is not None


def _safe_fix(finding: Diagnostic) -> Fix | None:
    """The fix of a finding that 'fix all' applies."""
    return next((fix for fix in finding.finding.fixes if fix.safety == "safe"), None) if finding.fixable else None


def _edits_elsewhere(report: Report, fixes: Iterable[Fix | None]) -> str:
    """' (edits train.py)', for titles: the other files that fixes change, which may not be on the screen."""
    paths = {path for fix in fixes if fix is not None for path in fix.files} - {report.snapshot.path}
    if not paths:
        return ""
    first, *others = sorted(path.name for path in paths)
    more = f" and {len(others)} other file{'s' if len(others) > 1 else ''}" if others else ""
    return f" (edits {first}{more})"


def _quick_fixes(ls: Server, report: Report, indexes: Sequence[int]) -> Iterator[types.CodeAction]:
    for index in indexes:
        yield from _fixes(report, index)
    yield from _all_of_a_rule(report, indexes)
    if indexes:
        suppressing = Suppressing(report.snapshot.lines)
        yield from filter(None, (_suppress(ls, report, index, suppressing) for index in indexes))
    yield from _pages(ls, report, indexes)


def _fixes(report: Report, index: int) -> Iterator[types.CodeAction]:
    finding = report.findings[index]
    for number, fix in enumerate(finding.finding.fixes if finding.fixable else ()):
        safe = fix.safety == "safe"
        data = {"finding": index, "id": finding.fingerprint, "fix": fix.title}
        title = f"{fix.title}{'' if safe else ' (unsafe)'}{_edits_elsewhere(report, [fix])}"
        action = _lazy(report, title, QUICK_FIX, data)
        action.diagnostics = [report.shown[index]]
        action.is_preferred = True if safe and number == 0 else None
        yield action


def _all_of_a_rule(report: Report, indexes: Sequence[int]) -> Iterator[types.CodeAction]:
    for name in sorted({report.findings[index].name for index in indexes}):
        safe = [finding for finding in report.findings if finding.name == name and _safe(finding)]
        if len(safe) > 1:
            title = f"Fix all {name} findings in this file{_edits_elsewhere(report, map(_safe_fix, safe))}"
            action = _lazy(report, title, QUICK_FIX, {"all": True, "rules": [name]})
            # VS Code sorts actions without a finding to the end, below 'suppress'.
            action.diagnostics = [report.shown[index] for index in indexes if report.findings[index].name == name]
            yield action


def _pages(ls: Server, report: Report, indexes: Sequence[int]) -> Iterator[types.CodeAction]:
    for name in dict.fromkeys(report.findings[index].name for index in indexes):
        if (command := rule_page.shown(name, ls.client)) is not None:
            about = [report.shown[index] for index in indexes if report.findings[index].name == name]
            yield types.CodeAction(title=command.title, kind=QUICK_FIX, diagnostics=about, command=command)


async def _refactorings(ls: Server, report: Report, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The refactorings of the loader on the line where the range begins."""
    snapshot = report.snapshot
    place = snapshot.place(params.text_document.uri, params.range.start, ls.documents.encoding)
    if place is None:
        return []
    line, _ = place
    found = await ls.engine.try_asking(lambda workspace: workspace.refactorings(snapshot.path, line))
    return [
        _lazy(
            report,
            f"{fix.title}{_edits_elsewhere(report, [fix])}",
            REFACTOR,
            {"refactoring": fix.title, "line": line},
        )
        for fix in found or ()
    ]


def _lazy(report: Report, title: str, kind: str, data: dict[str, Any]) -> types.CodeAction:
    # No member may be null: Neovim 0.7 drops such members before it sends the data back.
    snapshot = report.snapshot
    data = {"uri": snapshot.uri, "at": list(snapshot.at), **data}
    return types.CodeAction(title=title, kind=kind, data=data)


def _suppress(ls: Server, report: Report, index: int, suppressing: Suppressing) -> types.CodeAction | None:
    finding, snapshot = report.findings[index], report.snapshot
    insertion = suppressing.insertion(finding.span, finding.name, finding.code)
    if insertion is None:
        return None
    place = Place(insertion.line, insertion.column, insertion.line, insertion.end_column)
    return types.CodeAction(
        title=f"Suppress {finding.name} here",
        kind=QUICK_FIX,
        diagnostics=[report.shown[index]],
        edit=one_edit(snapshot, Edit(place, insertion.text), ls.client),
    )


def register(server: Server) -> None:
    """Offer the feature."""
    options = types.CodeActionOptions(
        code_action_kinds=[QUICK_FIX, REFACTOR, FIX_ALL, NOTEBOOK_FIX_ALL], resolve_provider=True
    )
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(code_action)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve)
