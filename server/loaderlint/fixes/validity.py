"""Whether changed code is still valid, asked of the changed statements alone where that is enough.

Thousands of findings may have fixes in one def. To parse the def for each of them would cost minutes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

import libcst as cst

from loaderlint.fixes.draft import COMMENT, Draft
from loaderlint.fixes.file_edits import Change
from loaderlint.fixes.piece_tree import Tree
from loaderlint.syntax.cutter import Piece, recut_changes
from loaderlint.syntax.libcst_tree import is_block, parse_piece

#: Characters of a file that are cut into pieces in the time that one of them is parsed in.
_RECUT = 15
#: Characters of a file behind a change that are passed over in that time.
_MOVED = 750
#: Changes with as many characters between them lie far apart; if they lie in too many places, all is cut again.
_FAR = 5000
_MANY = 8
#: What it costs to find the statement of a change, and to begin to parse it.
_CHANGE = 32
#: A shorter piece is parsed as a whole.
_LONG = 2000
#: The indentation of the first line that is neither empty nor a comment.
_FIRST = re.compile(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*(?P<indent>[ \t\f]*)(?P<code>[^\s#])?")


def is_valid(draft: Draft, changes: Sequence[Change]) -> bool:
    """Whether all of the file that parses would still do so with these changes, which are sorted."""
    code = [change for change in changes if change.rank != COMMENT]
    return _statements_are_valid(draft, code) or _pieces_are_valid(draft, changes)


def changed(text: str, changes: Iterable[Change], start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with these changes in it, which are sorted; their offsets are those of the whole text."""
    parts = []
    for change in changes:
        parts += [text[start : change.start], change.text]
        start = change.end
    return "".join([*parts, text[start:end]])


def _pieces_are_valid(draft: Draft, changes: Sequence[Change]) -> bool:
    within = _changed_within(draft, changes)
    known = draft.original.known
    for piece in _recut(draft, changes):
        code = (piece.kind, piece.keyword, piece.text)
        if code in known or code in within:
            continue
        draft.spend(len(piece.text))
        if parse_piece(piece) is None:
            return False
        if len(piece.text) < _LONG:  # a function that thousands of fixes add; long ones would fill the memory
            known.add(code)
    return True


def _recut(draft: Draft, changes: Sequence[Change]) -> list[Piece]:
    """The pieces of the changed file that are cut again. Changes that lie far apart (an import and a call) are made one
    after the other: what lies between them is not cut again."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].end < _FAR:
            groups[-1].append(change)
        else:
            groups.append([change])
    if len(groups) > _MANY:
        groups = [list(changes)]
    pieces, text = draft.pieces, draft.text
    anew: list[Piece] = []
    while groups:
        group = groups.pop()
        draft.spend(len(text) / _MOVED + (group[-1].end - group[0].start) / _RECUT)
        after = changed(text, group)
        found = recut_changes(pieces, text, after)
        anew = [*found.pieces, *(piece for piece in anew if piece.start >= found.rest)]
        if groups:
            pieces, text = found.all_pieces(), after
    return anew


def _changed_within(draft: Draft, changes: Sequence[Change]) -> frozenset[tuple[str, str, str]]:
    """The pieces that only change within simple statements and are valid afterwards, as `parse_piece` sees them."""
    inside: dict[int, list[Change]] = {}
    for change in changes:
        inside.setdefault(bisect_right(draft.original.starts, change.start) - 1, []).append(change)
    found = set()
    for number, some in inside.items():
        piece = draft.pieces[number] if number >= 0 else None
        if piece is None or len(piece.text) < _LONG or some[-1].end > (end := piece.start + len(piece.text)):
            continue
        if _statements_are_valid(draft, some):
            found.add((piece.kind, piece.keyword, changed(draft.text, some, piece.start, end)))
    return frozenset(found)


def _statements_are_valid(draft: Draft, changes: Sequence[Change]) -> bool:
    """Whether each change stands in a simple statement, with lines of its own, that is still valid by itself or gone
    from a block that keeps others. If so, the code around it means what it meant. Else that cannot be told here."""
    statements: dict[tuple[int, int], list[Change]] = {}
    nodes: dict[tuple[int, int], tuple[Tree, cst.SimpleStatementLine]] = {}
    draft.spend(_CHANGE * len(changes))
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
        draft.spend(end - start)
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
