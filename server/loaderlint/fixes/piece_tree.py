"""A piece's nodes with their places in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import libcst as cst

from loaderlint.runtime.call_stack import with_room
from loaderlint.syntax.anchors import Node, are_alike, preorder
from loaderlint.syntax.bare_tree import bare
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_to_bare import stripped
from loaderlint.syntax.libcst_tree import ParsedPiece, parse_piece
from loaderlint.syntax.positions import generate, lossless

_LAYOUT = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Comma,
    cst.Semicolon,
    cst.Dot,
    cst.LeftParen,
    cst.RightParen,
)


class Tree:
    """The tree of one piece. All offsets are characters in the file."""

    def __init__(self, piece: Piece, parsed: ParsedPiece) -> None:
        self.piece = piece
        self.node = parsed.node
        self.module = parsed.module
        tree, sources = stripped(parsed.node)
        nodes = preorder(tree)
        #: The node of each anchor; None for one that libcst does not have.
        self.by_anchor = [sources.of(node) for node in nodes]
        #: Whether the tree gives the text back, and has the anchors of Python's own tree. If not, places are wrong and
        #: only names may be read from it.
        self.exact = lossless(piece, parsed) and _has_anchors(piece, nodes)
        #: Kept here for `name_scopes`: what the piece binds, by scope.
        self.scopes: dict[object, Any] | None = None
        self._shift = piece.start - parsed.start
        self._places = generate(parsed.module)

    @cached_property
    def nodes(self) -> list[cst.CSTNode]:
        """All nodes but those of the layout, in the order of the text, parents before children."""
        inside = {id(self.node)}
        found = [self.node]
        for node in self._places.nodes:
            if id(self._places.parents.get(id(node))) in inside and not isinstance(node, _LAYOUT):
                inside.add(id(node))
                found.append(node)
        return found

    @cached_property
    def simple_statements(self) -> list[cst.SimpleStatementLine]:
        """The lines of simple statements, in order."""
        return [node for node in self.nodes if isinstance(node, cst.SimpleStatementLine)]

    @cached_property
    def functions(self) -> list[tuple[cst.FunctionDef, cst.FunctionDef | cst.ClassDef | None]]:
        """The functions, each with the one or the class that it stands in."""
        kinds = (cst.FunctionDef, cst.ClassDef)
        functions = (node for node in self.nodes if isinstance(node, cst.FunctionDef))
        return [
            (one, next((above for above in self.above(one) if isinstance(above, kinds)), None)) for one in functions
        ]

    def at(self, anchor: int) -> cst.CSTNode | None:
        """The node with the number `anchor`; the whole piece's for -1; None if there is none."""
        if anchor == -1:
            return self.node
        node = self.by_anchor[anchor] if 0 <= anchor < len(self.by_anchor) else None
        # The body that was put behind the head of a class or clause is not in the file.
        return node if node is not None and self.start(node) < self.piece.start + len(self.piece.text) else None

    def start(self, node: cst.CSTNode) -> int:
        """Where `node` begins, its own parentheses left out."""
        return self._places.spans[id(node)][0] + self._shift

    def end(self, node: cst.CSTNode) -> int:
        """Where `node` ends (exclusive), its own parentheses left out."""
        return self._places.spans[id(node)][1] + self._shift

    def whole(self, node: cst.CSTNode) -> tuple[int, int]:
        """From where to where `node` goes with its own parentheses."""
        start, end = self.start(node), self.end(node)
        if isinstance(node, cst.BaseExpression) and node.lpar:
            start = self._places.extents[id(node.lpar[0])][0] + self._shift
            end = self._places.extents[id(node.rpar[-1])][1] + self._shift
        return start, end

    def extent(self, node: cst.CSTNode) -> tuple[int, int]:
        """From where to where `node` goes with everything that libcst counts to it (whitespace, comments, commas)."""
        start, end = self._places.extents[id(node)]
        return start + self._shift, end + self._shift

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node directly above; None above the piece's own node."""
        return None if node is self.node else self._places.parents.get(id(node))

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above `node`, nearest first, up to the piece's own node."""
        upper = self.parent(node)
        while upper is not None:
            yield upper
            upper = self.parent(upper)


def _has_anchors(piece: Piece, nodes: Sequence[Node]) -> bool:
    """Whether the anchors of `nodes` are those of the facts of `piece`."""
    told = bare(piece)
    return told is None or are_alike(preorder(told), nodes)


def grow(piece: Piece) -> Tree | None:
    """The tree of `piece`; None if it does not parse."""
    return with_room(lambda: _grown(piece))


def _grown(piece: Piece) -> Tree | None:
    parsed = parse_piece(piece)
    return None if parsed is None else Tree(piece, parsed)
