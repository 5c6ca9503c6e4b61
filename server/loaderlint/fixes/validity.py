"""Whether changed code is still valid, asked of the changed statements alone where that is enough.

Thousands of findings may have fixes in one def. To parse the def for each of them would cost minutes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

import libcst as cst

from loaderlint.fixes.draft import Draft
from loaderlint.fixes.edits import Change
from loaderlint.fixes.tree import Tree
from loaderlint.syntax.cutter import recut
from loaderlint.syntax.parse import is_block, parse_piece

#: The indentation of the first line that is neither empty nor a comment.
_FIRST = re.compile(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*(?P<indent>[ \t\f]*)(?P<code>[^\s#])?")


def is_valid(draft: Draft, changes: Sequence[Change]) -> bool:
    """Whether all of the file that parses would still do so with these changes, which are sorted."""
    return _statements_are_valid(draft, changes) or _pieces_are_valid(draft, changes)


def changed(text: str, changes: Iterable[Change], start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with these changes in it, which are sorted; their offsets are those of the whole text."""
    parts = []
    for change in changes:
        parts += [text[start : change.start], change.text]
        start = change.end
    return "".join([*parts, text[start:end]])


def _pieces_are_valid(draft: Draft, changes: Sequence[Change]) -> bool:
    text = changed(draft.text, changes)
    known = draft.original.known
    return not any(
        (piece.kind, piece.keyword, piece.text) not in known and parse_piece(piece) is None
        for piece in recut(draft.pieces, draft.text, text)
    )


def _statements_are_valid(draft: Draft, changes: Sequence[Change]) -> bool:
    """Whether each change stands in a simple statement, with lines of its own, that is still valid by itself or gone
    from a block that keeps others. If so, the code around it means what it meant. Else that cannot be told here."""
    statements: dict[tuple[int, int], list[Change]] = {}
    nodes: dict[tuple[int, int], tuple[Tree, cst.SimpleStatementLine]] = {}
    for change in changes:
        found = _statement_around(draft, change)
        if found is None:
            return False
        tree, node = found
        lines = (draft.line_start(tree.start(node)), tree.extent(node)[1])
        statements.setdefault(lines, []).append(change)
        nodes[lines] = found
    gone: Counter[int] = Counter()
    for (start, end), inside in statements.items():
        tree, node = nodes[start, end]
        text = changed(draft.text, inside, start, end)
        first = _FIRST.match(text)
        if first is None or not first["code"]:
            block = tree.parent(node)
            if not isinstance(block, cst.IndentedBlock) or (text and text[-1] not in "\r\n"):
                return False
            gone[id(block)] += 1
            if gone[id(block)] >= len(block.body):
                return False
        elif first["indent"] != draft.text[start : tree.start(node)] or not is_block(text):
            return False
    return True


def _statement_around(draft: Draft, change: Change) -> tuple[Tree, cst.SimpleStatementLine] | None:
    """The simple statement whose lines hold the change; None if it is not known for certain."""
    number = bisect_right(draft.original.starts, change.start) - 1
    if number < 0:
        return None
    tree = draft.known_tree(number)
    if tree is None or not tree.exact:
        return None
    statements = tree.simple_statements
    at = bisect_right(statements, change.start, key=lambda node: draft.line_start(tree.start(node))) - 1
    if at < 0:
        return None
    node = statements[at]
    end = tree.extent(node)[1]
    if change.end > end or (change.start == end and draft.text[end - 1 : end] in ("\r", "\n")):
        return None
    start = tree.start(node)
    if start >= tree.piece.start + len(tree.piece.text) or not draft.begins_line(start):
        return None
    return tree, node
