"""The facts of one piece: lowered from its tree, with anchors computed on demand.

Lowering is imported where it is needed, because the facts of all pieces may come from the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from loaderlint.facts.digest import digest as digest_of
from loaderlint.facts.ir import PieceAnchors, PieceIR
from loaderlint.facts.loops import heads_of_cycles
from loaderlint.runtime.call_stack import with_room
from loaderlint.syntax.cutter import Piece

if TYPE_CHECKING:
    from loaderlint.syntax.libcst_tree import ParsedPiece


class PieceFacts:
    """The facts of one piece text.

    `beside` are the anchors, or the piece from which they are computed on demand: most pieces never need them, and they
    cost as much as the facts."""

    __slots__ = ("_beside", "_digest", "_heads", "ir")

    def __init__(self, ir: PieceIR, beside: PieceAnchors | Piece, digest: str = "") -> None:
        self.ir = ir
        self._digest = digest
        self._beside = beside
        self._heads: Mapping[int, tuple[int, ...]] | None = None

    @property
    def heads(self) -> Mapping[int, tuple[int, ...]]:
        """The expressions that are evaluated before one that depends on itself (see `heads_of_cycles`)."""
        if self._heads is None:
            self._heads = heads_of_cycles(self.ir.exprs)
        return self._heads

    @property
    def digest(self) -> str:
        """Equal if and only if `ir` is equal (comments, layout and anchors do not affect it). Computed on demand: a
        check without a cache compares few."""
        if not self._digest:
            self._digest = digest_of(self.ir)
        return self._digest

    @property
    def anchors(self) -> PieceAnchors:
        """The anchors, computed on demand."""
        beside = self._beside
        if isinstance(beside, Piece):
            piece = beside
            beside = self._beside = with_room(lambda: find_anchors(piece, self))
        return beside

    @property
    def known_anchors(self) -> PieceAnchors | None:
        """The anchors if they are known; they are if anything depends on them."""
        return None if isinstance(self._beside, Piece) else self._beside

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PieceFacts):
            return NotImplemented
        return self.digest == other.digest and self.ir == other.ir and self.anchors == other.anchors

    def __hash__(self) -> int:
        return hash(self.digest)


def piece_facts(piece: Piece) -> PieceFacts | None:
    """The facts of `piece`, None if it does not parse or is nested too deep (see `loaderlint.syntax.nesting_depth`).
    Its anchors are computed on demand."""
    from loaderlint.facts.lower import said

    ir = said(piece.kind, piece.keyword, piece.text)
    return _of_concrete(piece) if ir is None else PieceFacts(ir, piece)


def find_anchors(piece: Piece, facts: PieceFacts) -> PieceAnchors:
    """The anchors of `facts`, the facts of `piece`."""
    from loaderlint.facts.lower import anchors_of
    from loaderlint.syntax.bare_tree import bare

    tree = bare(piece)
    if tree is not None:
        return anchors_of(tree)
    found = _of_concrete(piece)
    if found is not None:
        return found.anchors
    defs = facts.ir.defs
    steps = tuple([(-1,) * len(one.steps) for one in defs])
    return PieceAnchors((-1,) * len(facts.ir.exprs), steps, ((-1, -1),) * len(defs))


def _of_concrete(piece: Piece) -> PieceFacts | None:
    """The facts from libcst's tree, with their anchors."""
    from loaderlint.syntax.libcst_tree import parse_piece

    parsed = parse_piece(piece)
    return lower(parsed) if parsed is not None else None


def lower(parsed: ParsedPiece) -> PieceFacts:
    """The facts of the piece `parsed`, with their anchors. Walks the tree once and keeps nothing of it."""
    from loaderlint.facts.lower import lowered
    from loaderlint.syntax.anchors import anchors, preorder
    from loaderlint.syntax.libcst_to_bare import stripped

    tree = stripped(parsed.node)[0]
    return PieceFacts(*lowered(tree, anchors(preorder(tree))))
