"""Adds functions that other files import to the `__all__` of their module."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from loaderlint.fixes.draft import EXPRESSION, Draft
from loaderlint.fixes.file_edits import Change
from loaderlint.fixes.piece_tree import Tree


def export_changes(draft: Draft) -> list[Change]:
    """The changes that add the plan's functions that nothing in the file uses to `__all__`, if that is a plain list."""
    names = [function.name for function in draft.plan.functions if function.before >= len(draft.pieces)]
    if not names or "__all__" not in draft.text:
        return []
    for piece in draft.original.module_level:
        tree = draft.known_tree(piece) if draft.pieces[piece].text.startswith("__all__") else None
        listed = _listed(tree) if tree is not None and tree.exact else ()
        if tree is not None and listed:
            return [_added(names, tree, listed[-1], draft)]
    return []


def _listed(tree: Tree) -> Sequence[cst.BaseElement]:
    """The items of the list or tuple in `__all__ = [...]`; empty if they are not all plain names."""
    line = tree.node
    only = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    value = only.value if isinstance(only, cst.Assign | cst.AnnAssign) else None
    if not isinstance(value, cst.List | cst.Tuple):
        return ()
    return value.elements if all(isinstance(one.value, cst.SimpleString) for one in value.elements) else ()


def _added(names: Sequence[str], tree: Tree, last: cst.BaseElement, draft: Draft) -> Change:
    """The change that adds names below the last one, or behind it if it does not begin its line."""
    start, end = tree.start(last.value), tree.end(last.value)
    quote = draft.text[end - 1]
    begins = draft.begins_line(start)
    gap = f",{draft.newline}{draft.text[draft.line_start(start) : start]}" if begins else ", "
    return Change(end, end, "".join(f"{gap}{quote}{name}{quote}" for name in names), EXPRESSION)
