"""The places of libcst's nodes, and edits to a text.

The places are those of libcst's `PositionProvider`: the code of one piece is generated, recording where the nodes begin
and end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import libcst as cst
from libcst._nodes.internal import CodegenState

from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import ParsedPiece
from loaderlint.syntax.source import LineIndex
from loaderlint.syntax.span import Span as Span
from loaderlint.syntax.span import TextEdit as TextEdit

_COMPOUND = (cst.BaseCompoundStatement, cst.ExceptHandler, cst.ExceptStarHandler)
_SEMICOLON = re.compile(r"(?:[ \t]*;)?")


def spans(parsed: ParsedPiece, wanted: Mapping[int, cst.CSTNode]) -> dict[int, Span]:
    """The places of nodes as Python's parser would give them, relative to the piece: line 0 is its first line.

    If the tree does not reproduce the text, so that a place is uncertain, it is the whole piece."""
    if not wanted:
        return {}
    places = generate(parsed.module)
    index = LineIndex(parsed.source)
    code = parsed.module.code
    offsets = _aligned(code, parsed.source)
    result = {}
    for anchor, node in wanted.items():
        start, end = _as_python(places, node, code)
        if offsets is None:
            start, end = parsed.start, parsed.end
        elif offsets:
            start, end = offsets[start], offsets[end]
        # The body that was added after the head of a class or clause is not in the file.
        line, column = index.position(min(start, parsed.end))
        end_line, end_column = index.position(min(end, parsed.end))
        result[anchor] = Span(line - parsed.first_line, column, end_line - parsed.first_line, end_column)
    return result


def _as_python(places: Places, node: cst.CSTNode, code: str) -> tuple[int, int]:
    """The offsets of a node. Python includes the parentheses of tuples and generator expressions, and a semicolon at
    the end of compound statements."""
    if isinstance(node, cst.Tuple | cst.GeneratorExp | cst.MatchTuple) and node.lpar:
        return places.extents[id(node.lpar[-1])][0], places.extents[id(node.rpar[0])][1]
    if isinstance(node, cst.GeneratorExp):
        call = places.parents[id(places.parents[id(node)])]
        if isinstance(call, cst.Call):  # the parentheses of the call
            return places.extents[id(call.whitespace_before_args)][0] - 1, places.spans[id(call)][1]
    start, end = places.spans[id(node)]
    if isinstance(node, cst.Slice) and node.step is None:
        colon = node.second_colon if isinstance(node.second_colon, cst.Colon) else node.first_colon
        if colon is node.second_colon or node.upper is None:
            end = places.extents[id(colon.whitespace_before)][1] + 1
    if isinstance(node, cst.SubscriptElement):  # the first of several, which are a tuple
        subscript = places.parents[id(node)]
        assert isinstance(subscript, cst.Subscript)
        end = places.spans[id(subscript.slice[-1])][1]
    if isinstance(node, cst.MatchStar) and node.name is not None:
        end = places.spans[id(node.name)][1]
    if isinstance(node, _COMPOUND):
        end = _SEMICOLON.match(code, end).end()  # type: ignore[union-attr]  # matches always
    return start, end


def lossless(piece: Piece, parsed: ParsedPiece) -> bool:
    """Whether the tree reproduces the text of `piece` exactly; only then may edits be built from its code."""
    return parsed.source[parsed.start : parsed.end] == piece.text and parsed.module.code == parsed.source


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """`text` after all `edits`, whose spans are places in the unedited `text`.

    Edits may be in any order; insertions at one place keep their order. Raises ValueError if two edits overlap."""
    index = LineIndex(text)
    ranges = sorted(
        (
            (index.offset(edit.span.line, edit.span.column), index.offset(edit.span.end_line, edit.span.end_column))
            + (number, edit.text)
        )
        for number, edit in enumerate(edits)
    )
    parts = []
    done = 0
    for start, end, _, new in ranges:
        if start < done or end < start:
            raise ValueError("edits overlap")
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


@dataclass
class Places(CodegenState):
    """Where the code of each node (by `id`) begins and ends, and which node is above it.

    `extents` include whitespace, comments and commas of a node, `spans` do not, nor a node's own parentheses. `nodes`
    are in the order of the text, parents before children."""

    position: int = 0
    stack: list[tuple[cst.CSTNode, int]] = field(default_factory=list)
    nodes: list[cst.CSTNode] = field(default_factory=list)
    extents: dict[int, tuple[int, int]] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    parents: dict[int, cst.CSTNode] = field(default_factory=dict)

    def add_indent_tokens(self) -> None:
        self.position += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.position += len(value)

    def pop_trailing_newline(self) -> None:
        """Do nothing: only places are recorded."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        if self.stack:
            self.parents[id(node)] = self.stack[-1][0]
        self.stack.append((node, self.position))
        self.nodes.append(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        _, start = self.stack.pop()
        self.extents[id(node)] = (start, self.position)
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


def generate(module: cst.Module) -> Places:
    """The places of all nodes of a module in its code."""
    places = Places(default_indent=module.default_indent, default_newline=module.default_newline)
    module._codegen(places)
    return places


def _aligned(code: str, source: str) -> Sequence[int] | None:
    """For each offset in `code` the offset in `source`; an empty sequence if they are the same; None if unknown.

    libcst loses some form feeds; if that is the only difference, the other characters still have known places."""
    if code == source:
        return ()
    kept = [offset for offset, sign in enumerate(source) if sign != "\f"]
    if code.replace("\f", "") != "".join(source[offset] for offset in kept):
        return None
    kept.append(len(source))
    offsets = []
    passed = 0
    for sign in code:
        offsets.append(kept[passed])
        passed += sign != "\f"
    return [*offsets, len(source)]
