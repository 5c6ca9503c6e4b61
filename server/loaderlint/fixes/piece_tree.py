"""A piece's nodes with their places in the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from loaderlint.runtime.call_stack import with_room
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import ParsedPiece, parse_piece
from loaderlint.syntax.numbered_tree import numbered
from loaderlint.syntax.positions import lossless
from loaderlint.syntax.walk import preorder


class Tree:
    """The tree of one piece. All offsets are characters in the file."""

    def __init__(self, piece: Piece, parsed: ParsedPiece) -> None:
        self.piece = piece
        self.node = parsed.node
        #: Whether the tree gives the text back, and is counted as Python's own tree is, which told the places. If not,
        #: places are wrong and only names may be read from it.
        self.exact = lossless(piece, parsed) and self._is_counted_alike()
        self.module = parsed.module
        #: Kept here for `names`: what the piece binds, by scope.
        self.scopes: dict[object, Any] | None = None
        self._shift = piece.start - parsed.start
        self._recorder = _Recorder(
            default_indent=parsed.module.default_indent, default_newline=parsed.module.default_newline
        )
        parsed.module._codegen(self._recorder)

    @cached_property
    def nodes(self) -> list[cst.CSTNode]:
        """All numbered nodes; the index is the anchor."""
        return preorder(self.node)

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

    def _is_counted_alike(self) -> bool:
        counted = numbered(self.piece)
        return counted is None or not counted.tree.nodes or counted.count == len(self.nodes)

    def at(self, anchor: int) -> cst.CSTNode | None:
        """The node with the number `anchor`; the whole piece's for -1; None if there is none."""
        if anchor == -1:
            return self.node
        if not 0 <= anchor < len(self.nodes):
            return None
        # The body that was put behind the head of a class or clause is not in the file.
        node = self.nodes[anchor]
        return node if self.start(node) < self.piece.start + len(self.piece.text) else None

    def start(self, node: cst.CSTNode) -> int:
        """Where `node` begins, its own parentheses left out."""
        return self._recorder.spans[id(node)][0] + self._shift

    def end(self, node: cst.CSTNode) -> int:
        """Where `node` ends (exclusive), its own parentheses left out."""
        return self._recorder.spans[id(node)][1] + self._shift

    def whole(self, node: cst.CSTNode) -> tuple[int, int]:
        """From where to where `node` goes with its own parentheses."""
        start, end = self.start(node), self.end(node)
        if isinstance(node, cst.BaseExpression) and node.lpar:
            start = self._recorder.all[id(node.lpar[0])][0] + self._shift
            end = self._recorder.all[id(node.rpar[-1])][1] + self._shift
        return start, end

    def extent(self, node: cst.CSTNode) -> tuple[int, int]:
        """From where to where `node` goes with everything that libcst counts to it (whitespace, comments, commas)."""
        start, end = self._recorder.all[id(node)]
        return start + self._shift, end + self._shift

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node directly above; None above the piece's own node."""
        return None if node is self.node else self._recorder.parents.get(id(node))

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above `node`, nearest first, up to the piece's own node."""
        upper = self.parent(node)
        while upper is not None:
            yield upper
            upper = self.parent(upper)


def grow(piece: Piece) -> Tree | None:
    """The tree of `piece`; None if it does not parse."""
    return with_room(lambda: _grown(piece))


def _grown(piece: Piece) -> Tree | None:
    parsed = parse_piece(piece)
    return None if parsed is None else Tree(piece, parsed)


@dataclass
class _Recorder(CodegenState):
    """Notes for every node where its code begins and ends and which node is above it."""

    position: int = 0
    stack: list[tuple[cst.CSTNode, int]] = field(default_factory=list)
    all: dict[int, tuple[int, int]] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    parents: dict[int, cst.CSTNode] = field(default_factory=dict)

    def add_indent_tokens(self) -> None:
        self.position += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.position += len(value)

    def pop_trailing_newline(self) -> None:
        """Nothing to take back: only places are kept."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        if self.stack:
            self.parents[id(node)] = self.stack[-1][0]
        self.stack.append((node, self.position))

    def after_codegen(self, node: cst.CSTNode) -> None:
        _, start = self.stack.pop()
        self.all[id(node)] = (start, self.position)
        self.spans.setdefault(id(node), (start, self.position))

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        start = self.position
        yield
        end = self.position
        if start_node is not None:
            start = self.spans[id(start_node)][0]
        if end_node is not None:
            end = self.spans[id(end_node)][1]
        self.spans[id(node)] = (start, end)
