"""The places of the nodes of a piece, from Python's parser or, if it does not give them, from libcst."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from loaderlint.syntax.anchors import Node, are_alike, preorder, spans
from loaderlint.syntax.bare_tree import bare
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.span import Span


def places(piece: Piece, anchors: Collection[int]) -> dict[int, Span]:
    """The places of those anchors that have one, relative to the piece: line 0 is its first line; columns are
    characters."""
    tree = bare(piece)
    if tree is None:
        return _concrete(piece, anchors, None)
    nodes = preorder(tree)
    anchors = [anchor for anchor in anchors if anchor < len(nodes)]
    found = spans(piece, nodes, anchors)
    left = [anchor for anchor in anchors if anchor not in found]
    return found | _concrete(piece, left, nodes) if left else found


def _concrete(piece: Piece, anchors: Collection[int], nodes: Sequence[Node] | None) -> dict[int, Span]:
    """The places from libcst's tree; none if its nodes differ from `nodes`, those of Python's tree."""
    from loaderlint.syntax import positions
    from loaderlint.syntax.libcst_to_bare import stripped
    from loaderlint.syntax.libcst_tree import parse_piece

    parsed = parse_piece(piece)
    if parsed is None:
        return {}
    tree, sources = stripped(parsed.node)
    own = preorder(tree)
    if nodes is not None and not are_alike(nodes, own):
        return {}
    made_from = {anchor: sources.of(own[anchor]) for anchor in anchors if anchor < len(own)}
    return positions.spans(parsed, {anchor: node for anchor, node in made_from.items() if node is not None})
