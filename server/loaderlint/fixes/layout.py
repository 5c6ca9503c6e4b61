"""Where statements begin, and what goes with them."""

from __future__ import annotations

import re

from loaderlint.fixes.draft import Draft

#: Keywords of clauses that go on with a statement.
GOES_ON = ("elif", "else", "except", "finally")
#: Comments for tools: they are about the line or the statement that they stand behind, and go with it.
DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pylint:|ruff:|pyright:|mypy:|loaderlint:|pragma:|nosec|fmt:|isort:)", re.I)


def above_comments(draft: Draft, offset: int) -> int:
    """The start of the first of the comment lines that stand directly above the line at `offset`: they are about it."""
    while offset > 0:
        above = draft.line_start(offset - 1)
        if not draft.text[above:offset].lstrip().startswith("#"):
            break
        offset = above
    return offset
