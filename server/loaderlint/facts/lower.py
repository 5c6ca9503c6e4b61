"""From the tree of a piece to its facts."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from loaderlint.facts.bound_names import Bindings, collect
from loaderlint.facts.finish_lowering import settle
from loaderlint.facts.ir import NONE, Context, DefIR, PieceAnchors, PieceFacts, PieceIR
from loaderlint.facts.lower_statements import block, except_clause
from loaderlint.facts.lowering_state import Frame, Tables
from loaderlint.syntax.bare_tree import Anchors, Tree, bare
from loaderlint.syntax.cutter import Kind, Piece
from loaderlint.syntax.numbered_tree import numbered

if TYPE_CHECKING:
    from loaderlint.syntax.libcst_tree import ParsedPiece

_NO_ANCHORS = Anchors({}, {}, {})


def piece_facts(piece: Piece) -> PieceFacts | None:
    """The facts of `piece`, None if it does not parse or is nested too deep (see `loaderlint.syntax.nesting_depth`).
    Its anchors are looked for when they are first asked for."""
    ir = said(piece.kind, piece.keyword, piece.text)
    return _of_concrete(piece) if ir is None else PieceFacts(ir, piece)


@lru_cache(256)
def said(kind: Kind, keyword: str, text: str) -> PieceIR | None:
    """What a piece says; None if libcst has to tell. Remembered, because code is copied: a sixth of what is lowered in
    transformers was lowered just before."""
    tree = bare(Piece(kind, keyword, text, 0, 0, -1, 0))
    return None if tree is None else _lower(tree, _NO_ANCHORS)[0]


def find_anchors(piece: Piece, facts: PieceFacts) -> PieceAnchors:
    """The anchors of `facts`, which are those of `piece`: -1 everywhere if libcst does not read it as Python does."""
    counted = numbered(piece)
    if counted is not None:
        return _lower(counted.tree, counted.anchors)[1]
    found = _of_concrete(piece)
    if found is not None and found.digest == facts.digest:
        return found.anchors
    defs = facts.ir.defs
    steps = tuple([(-1,) * len(one.steps) for one in defs])
    return PieceAnchors((-1,) * len(facts.ir.exprs), steps, ((-1, -1),) * len(defs))


def _of_concrete(piece: Piece) -> PieceFacts | None:
    """The facts as libcst's tree has them, with their anchors."""
    from loaderlint.syntax.libcst_tree import parse_piece

    parsed = parse_piece(piece)
    return lower(parsed) if parsed is not None else None


def lower(parsed: ParsedPiece) -> PieceFacts:
    """The facts of the piece `parsed`, with their anchors. Reads the tree once and keeps nothing of it."""
    from loaderlint.syntax.libcst_to_bare import stripped

    ir, anchors = _lower(*stripped(parsed.node))
    return PieceFacts(ir, anchors)


def _lower(tree: Tree, anchors: Anchors) -> tuple[PieceIR, PieceAnchors]:
    tables = Tables(anchors)
    if tree.rebinds:
        _find_rebound(tree, tables)
    frame = Frame(tables, None, tables.reserve(-1, -1), is_function=False)
    if tree.part == "statements":
        found = Bindings(tables.walrus.get(0, ()))
        collect(tree.nodes, found)
        frame.bindings = found
        block(frame, tree.nodes)
    elif tree.part == "finally":
        frame.inside(Context(0, "finally", NONE, False))
    for node in tree.nodes:
        if isinstance(node, ast.ExceptHandler):
            except_clause(frame, node)
    tables.defs[0] = DefIR(
        "body",
        "",
        -1,
        (),
        (),
        (),
        (),
        tuple(frame.contexts),
        tuple(frame.steps),
        frame.live,
        frame.is_generator,
    )
    tables.step_anchors[0] = tuple(frame.step_anchors)
    return settle(tables)


def _find_rebound(tree: Tree, tables: Tables) -> None:
    """Note the names that are declared nonlocal anywhere, and those that `:=` binds, under the `id` of the def whose
    body holds it, 0 for the piece's own body."""
    stack: list[tuple[ast.AST, int]] = [(node, 0) for node in reversed(tree.nodes)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, ast.Nonlocal):
            tables.rebound.update(node.names)
        elif isinstance(node, ast.NamedExpr):
            tables.has_walrus = True
            if isinstance(node.target, ast.Name):
                tables.walrus.setdefault(owner, []).append(node.target.id)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
            inside = set(map(id, body))
            inner = [(child, id(node) if id(child) in inside else owner) for child in ast.iter_child_nodes(node)]
        else:
            inner = [(child, owner) for child in ast.iter_child_nodes(node)]
        stack += reversed(inner)
