"""Lowers the bare tree of a piece to its facts and their anchors."""

from __future__ import annotations

import ast
from functools import lru_cache

from loaderlint.facts.bound_names import Bindings, collect
from loaderlint.facts.finish_lowering import settle
from loaderlint.facts.ir import NONE, Context, DefIR, PieceAnchors, PieceIR
from loaderlint.facts.lower_statements import block, except_clause
from loaderlint.facts.lowering_state import Frame, Tables
from loaderlint.syntax.anchors import Anchors, anchors, preorder
from loaderlint.syntax.bare_tree import Tree, bare
from loaderlint.syntax.cutter import Kind, Piece

_NO_ANCHORS = Anchors({}, {})


@lru_cache(256)
def said(kind: Kind, keyword: str, text: str) -> PieceIR | None:
    """The facts of a piece; None if libcst has to parse it. Memoised, because code is copied: a sixth of the pieces of
    transformers repeats an earlier one."""
    tree = bare(Piece(kind, keyword, text, 0, 0, -1, 0))
    return None if tree is None else lowered(tree, _NO_ANCHORS)[0]


def anchors_of(tree: Tree) -> PieceAnchors:
    """The anchors of the facts of the piece of this tree."""
    return lowered(tree, anchors(preorder(tree)))[1]


def lowered(tree: Tree, numbers: Anchors) -> tuple[PieceIR, PieceAnchors]:
    """The facts of the piece of this tree, and their anchors, given those of the nodes."""
    tables = Tables(numbers)
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
    """Record the names that are declared nonlocal anywhere, and those that `:=` binds, by the `id` of the def whose
    body contains it, 0 for the piece's own body."""
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
