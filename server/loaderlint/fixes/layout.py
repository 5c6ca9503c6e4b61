"""Where statements begin, and what goes with them."""

from __future__ import annotations

from loaderlint.fixes.draft import Draft

#: Keywords of clauses that go on with a statement.
GOES_ON = ("elif", "else", "except", "finally")


def above_comments(draft: Draft, offset: int) -> int:
    """The start of the first of the comment lines that stand directly above the line at `offset`: they are about it."""
    while offset > 0:
        above = draft.line_start(offset - 1)
        if not draft.text[above:offset].lstrip().startswith("#"):
            break
        offset = above
    return offset
