"""Changes inside comments."""

from __future__ import annotations

from loaderlint.findings.finding import EditComment
from loaderlint.fixes.draft import COMMENT, EXPRESSION, Draft
from loaderlint.fixes.file_edits import Change, Refused


def edit_comment(intent: EditComment, draft: Draft) -> None:
    """Plan the change. Raises Refused if the comment does not stand there."""
    index = draft.original.lines
    start = index.line_start(intent.line) + intent.column
    end = start + len(intent.before)
    before = intent.before.lstrip()
    if draft.text[start:end] != intent.before or not before.startswith("#"):
        raise Refused("the comment no longer exists")
    if not intent.after and not draft.text[index.line_start(intent.line) : start].strip():
        start, end = index.line_start(intent.line), index.line_start(intent.line + 1)
        draft.change(Change(start, end, "", EXPRESSION))  # a line may matter, after a backslash for instance
        return
    draft.change(Change(start, end, intent.after, COMMENT))
