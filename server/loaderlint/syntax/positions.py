"""Anchors to places in the text, and edits to a text.

Needed where `loaderlint.syntax.numbered_tree` does not know a place. The places are those of libcst's
`PositionProvider`: the code of one piece is generated, and the start and end of the wanted nodes are recorded."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import libcst as cst
from libcst._nodes.internal import CodegenState

from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import ParsedPiece
from loaderlint.syntax.source import LineIndex
from loaderlint.syntax.span import Span as Span
from loaderlint.syntax.span import TextEdit as TextEdit
from loaderlint.syntax.walk import preorder

_NO_CONTEXT = nullcontext()


def spans(parsed: ParsedPiece, anchors: Collection[int]) -> dict[int, Span]:
    """The places of the nodes `preorder(parsed.node)[anchor]`, relative to the piece: line 0 is its first line.

    If the tree does not give the text back, so that a place cannot be known for certain, it is the whole piece. Raises
    IndexError for an anchor that is none."""
    if not anchors:
        return {}
    nodes = preorder(parsed.node)
    wanted = {anchor: nodes[anchor] for anchor in anchors}
    code, found = _generate(parsed.module, wanted.values())
    index = LineIndex(parsed.source)
    offsets = _aligned(code, parsed.source)
    result = {}
    for anchor, node in wanted.items():
        start, end = found[id(node)]
        if offsets is None:
            start, end = parsed.start, parsed.end
        elif offsets:
            start, end = offsets[start], offsets[end]
        # The body that was put behind the head of a class or clause is not in the file.
        line, column = index.position(min(start, parsed.end))
        end_line, end_column = index.position(min(end, parsed.end))
        result[anchor] = Span(line - parsed.first_line, column, end_line - parsed.first_line, end_column)
    return result


def lossless(piece: Piece, parsed: ParsedPiece) -> bool:
    """Whether the tree gives exactly the text of `piece` back; only then may edits be built from its code."""
    return parsed.source[parsed.start : parsed.end] == piece.text and parsed.module.code == parsed.source


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """`text` after all `edits`, whose spans are places in `text` as it is now.

    Edits may come in any order; insertions at one place keep theirs. Raises ValueError if two edits overlap."""
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
class _Recorder(CodegenState):
    """Notes between which tokens the wanted nodes lie; the first note of a node counts, as in libcst's provider."""

    wanted: set[int] = field(default_factory=set)
    begun: dict[int, int] = field(default_factory=dict)
    found: dict[int, tuple[int, int]] = field(default_factory=dict)

    def before_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            self.begun[id(node)] = len(self.tokens)

    def after_codegen(self, node: cst.CSTNode) -> None:
        key = id(node)
        if key in self.begun and key not in self.found:
            self.found[key] = (self.begun[key], len(self.tokens))

    def record_syntactic_position(  # type: ignore[override]  # libcst names contextmanager's own class
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> AbstractContextManager[None]:
        if id(node) not in self.wanted:
            return _NO_CONTEXT
        return self._record(node, start_node, end_node)

    @contextmanager
    def _record(
        self, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> Iterator[None]:
        # The nodes that lend their start and end are generated inside the context: they are wanted from here on.
        self.wanted.update(id(lender) for lender in (start_node, end_node) if lender is not None)
        start = len(self.tokens)
        yield
        end = len(self.tokens)
        if start_node is not None:
            start = self.found[id(start_node)][0]
        if end_node is not None:
            end = self.found[id(end_node)][1]
        self.found[id(node)] = (start, end)


def _generate(module: cst.Module, nodes: Collection[cst.CSTNode]) -> tuple[str, dict[int, tuple[int, int]]]:
    """The code of `module`, and the offsets in it at which each of `nodes` (by id) begins and ends."""
    state = _Recorder(
        default_indent=module.default_indent,
        default_newline=module.default_newline,
        wanted={id(node) for node in nodes},
    )
    module._codegen(state)
    offsets = [0, *itertools.accumulate(map(len, state.tokens))]
    last = len(offsets) - 1  # a missing final newline is generated and taken away again
    found = {key: (offsets[min(a, last)], offsets[min(b, last)]) for key, (a, b) in state.found.items()}
    return "".join(state.tokens), found


def _aligned(code: str, source: str) -> Sequence[int] | None:
    """For each offset in `code` the one in `source`; an empty sequence if they are the same; None if unknown.

    libcst loses some form feeds; where that is all that differs, the other characters still tell their places."""
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
