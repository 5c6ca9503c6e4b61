"""Names that are added to an import that is there: `from data import Crops` becomes `from data import Crops, Flips`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import libcst as cst

from loaderlint.fixes.draft import EXPRESSION, Draft, NewImport
from loaderlint.fixes.file_edits import Change
from loaderlint.fixes.name_scopes import dotted
from loaderlint.fixes.piece_tree import Tree


def extensions(new: Sequence[NewImport], draft: Draft, before: int) -> Iterator[tuple[NewImport, tuple[Change, ...]]]:
    """The new imports of names for which a `from` import of their module stands at module level, above `before`. Each
    comes with changes, those of one statement with its first one: the names are added there, or are imported on lines
    directly below it where its line would become too long."""
    wanted: dict[str, list[NewImport]] = {}
    for one in new:
        if one.meaning.name is not None:
            wanted.setdefault(one.meaning.module, []).append(one)
    for piece, written in enumerate(draft.pieces):
        if not wanted or written.start >= before:
            return
        tree = draft.known_tree(piece) if written.parent == -1 and written.text.startswith("from") else None
        node = _import_of(tree) if tree is not None else None
        found = wanted.pop(_module(node), []) if node is not None else []
        if found and tree is not None and node is not None:
            changes = _extension(node, [_binding(one) for one in found], tree, draft)
            if changes is None:
                lines = "".join(one.statement + draft.newline for one in found)
                changes = (draft.insert_lines(draft.piece_end(piece), lines),)
            yield found[0], changes
            yield from ((one, ()) for one in found[1:])


def _import_of(tree: Tree) -> cst.ImportFrom | None:
    """The statement of a piece that is nothing but one import of names."""
    body = tree.node.body if isinstance(tree.node, cst.SimpleStatementLine) else ()
    only = body[0] if len(body) == 1 and tree.exact else None
    return only if isinstance(only, cst.ImportFrom) and not isinstance(only.names, cst.ImportStar) else None


def _module(node: cst.ImportFrom) -> str:
    return "." * len(node.relative) + (dotted(node.module) if node.module is not None else "")


def _binding(new: NewImport) -> str:
    """'Crops' or 'Crops as Cuts'."""
    return new.statement.rpartition(" import ")[2]


def _extension(node: cst.ImportFrom, new: Sequence[str], tree: Tree, draft: Draft) -> tuple[Change, ...] | None:
    """The changes that add names to an import, in its order if it has one; None where comments stand between its names,
    or its line would become too long."""
    assert not isinstance(node.names, cst.ImportStar)
    places = [(tree.start(alias), tree.end(alias)) for alias in node.names]
    gaps = [draft.text[end:start] for (_, end), (start, _) in pairwise(places)]
    gap = gaps[0] if gaps else _first_gap(places[0][0], draft)
    if any("#" in one for one in gaps):
        return None
    if "\n" not in gap and "\r" not in gap:
        start, end = draft.line_start(places[0][0]), places[-1][1]  # without a comment, which may be long
        length = end - start + sum(len(gap) + len(name) for name in new)
        if length > draft.original.import_length(end - start):
            return None
    names = [draft.text[start:end] for start, end in places]
    texts: dict[int, str] = {}
    for name, position in sorted(_positions(names, new).items()):
        offset = places[position - 1][1] if position else places[0][0]
        texts[offset] = texts.get(offset, "") + (gap + name if position else name + gap)
    return tuple(Change(offset, offset, text, EXPRESSION) for offset, text in texts.items())


def _first_gap(first: int, draft: Draft) -> str:
    """What parts the only name of an import from a second one."""
    start = draft.line_start(first)
    indent = draft.text[start:first]
    return ", " if indent.strip() else f",{draft.newline}{indent}"


def _positions(names: Sequence[str], new: Sequence[str]) -> Mapping[str, int]:
    """Before which of the names each new one goes: at the end, if they are in no order."""
    for key in (_by_type, str.casefold):
        keys = [key(name) for name in names]
        if all(first <= second for first, second in pairwise(keys)):
            return {one: _count_below(keys, key, one) for one in new}
    return dict.fromkeys(new, len(names))


def _count_below(keys: Sequence[str], key: Callable[[str], str], new: str) -> int:
    return sum(one <= key(new) for one in keys)


def _by_type(name: str) -> str:
    """isort's usual order: constants, classes, functions."""
    rank = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return f"{rank} {name}"
