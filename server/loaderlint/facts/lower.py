"""From the tree of a piece to its facts."""

from __future__ import annotations

import libcst as cst

from loaderlint.facts.digest import digest
from loaderlint.facts.frame import Frame, Tables
from loaderlint.facts.ir import NONE, Context, DefIR, Evaluate, Opaque, PieceAnchors, PieceFacts, PieceIR
from loaderlint.facts.names import Bindings, collect
from loaderlint.facts.settle import settle
from loaderlint.facts.statements import STATEMENTS, block, except_clause
from loaderlint.syntax.parse import ParsedPiece
from loaderlint.syntax.walk import preorder


def lower(parsed: ParsedPiece) -> PieceFacts:
    """The facts of the piece `parsed`. Reads the tree once and keeps nothing of it; raises nothing.

    A tree that is nested deeper than Python can recurse gives one `Opaque` with the reason 'nested too deep'."""
    try:
        return _lower(parsed.node)
    except RecursionError:
        return _too_deep()


def _lower(node: cst.CSTNode) -> PieceFacts:
    nodes = preorder(node)
    tables = Tables(nodes)
    classes = set(map(type, nodes))
    if cst.NamedExpr in classes:
        _find_walrus(nodes, tables)
    if cst.Nonlocal in classes:
        tables.rebound = {item.name.value for found in nodes if isinstance(found, cst.Nonlocal) for item in found.names}
    frame = Frame(tables, None, tables.reserve(-1, -1), is_function=False)
    if node.__class__ in STATEMENTS:
        found = Bindings(tables.walrus.get(0, ()))
        collect((node,), found)
        frame.bindings = found
        block(frame, (node,))
    elif isinstance(node, cst.ExceptHandler | cst.ExceptStarHandler):
        except_clause(frame, node)
    elif isinstance(node, cst.Finally):
        frame.inside(Context(0, "finally", NONE, False))
    body = DefIR(
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
    tables.defs[0] = body
    tables.step_anchors[0] = tuple(frame.step_anchors)
    return settle(tables)


def _find_walrus(nodes: list[cst.CSTNode], tables: Tables) -> None:
    """Note the names that `:=` binds under the `id` of the def whose body holds it, 0 for the piece's own body."""
    owners = {id(node): 0 for node in nodes}
    for node in nodes:
        # Inner defs come later and take their nodes over.
        if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            for inside in preorder(node.body):
                owners[id(inside)] = id(node)
    for node in nodes:
        if isinstance(node, cst.NamedExpr) and isinstance(node.target, cst.Name):
            tables.walrus.setdefault(owners[id(node)], []).append(node.target.value)
    tables.has_walrus = True


def _too_deep() -> PieceFacts:
    steps = (Evaluate(0, 0),)
    body = DefIR("body", "", -1, (), (), (), (), (Context(-1, "body", NONE, False),), steps, True, False)
    ir = PieceIR((Opaque("nested too deep"),), (body,), ())
    return PieceFacts(ir, PieceAnchors((-1,), ((-1,),), ((-1, -1),)), digest(ir))
