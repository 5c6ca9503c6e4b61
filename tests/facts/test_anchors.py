"""Anchors name the node that an expression, step or def stands at."""

from __future__ import annotations

import libcst as cst

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts, lower
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import ParsedPiece, parse_piece
from loaderlint.syntax.walk import preorder


def parsed(text: str, kind: str = "statement", keyword: str = "") -> ParsedPiece:
    result = parse_piece(Piece(kind, keyword, text, 0, 0, -1, len(text)))  # type: ignore[arg-type]
    assert result is not None, text
    return result


def code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node).strip().rstrip(",")


def steps(text: str, kind: str = "statement", keyword: str = "") -> list[tuple[str, str]]:
    """For each step of each def: its class and the first line of the source at its anchor."""
    piece = parsed(text, kind, keyword)
    nodes = preorder(piece.node)
    facts = lower(piece)
    return [
        (type(step).__name__, code(nodes[anchor]).split("\n")[0])
        for definition, anchors in zip(facts.ir.defs, facts.anchors.steps, strict=True)
        for step, anchor in zip(definition.steps, anchors, strict=True)
    ]


def exprs(text: str) -> list[tuple[str, str]]:
    piece = parsed(text)
    nodes = preorder(piece.node)
    facts = lower(piece)
    return [
        (type(expr).__name__, code(nodes[anchor]) if anchor >= 0 else "")
        for expr, anchor in zip(facts.ir.exprs, facts.anchors.exprs, strict=True)
    ]


def test_steps_stand_at_their_statement_and_calls_at_themselves() -> None:
    text = """\
def f(a):
    x, y.z = g(h(a))
    if k(x): return
    elif x: pass
    assert x
    for i in a: x += i
    with m() as c: del x
    try: pass
    except E as e: raise
    import n
    a.b[0] = yield
"""
    assert steps(text) == [
        ("Bind", "def f(a):"),
        ("Perform", "h(a)"),
        ("Perform", "g(h(a))"),
        ("Bind", "x, y.z = g(h(a))"),
        ("SetAttr", "x, y.z = g(h(a))"),
        ("Perform", "k(x)"),
        ("Test", "if k(x): return"),
        ("Return", "return"),
        ("Test", "if x: pass"),
        ("Test", "assert x"),
        ("Iterate", "for i in a: x += i"),
        ("Bind", "for i in a: x += i"),
        ("Augment", "x += i"),
        ("Bind", "x += i"),
        ("Perform", "m()"),
        ("Enter", "with m() as c: del x"),
        ("Bind", "with m() as c: del x"),
        ("Delete", "del x"),
        ("Bind", "except E as e: raise"),
        ("Raise", "raise"),
        ("Bind", "import n"),
        ("YieldStep", "a.b[0] = yield"),
        ("SetItem", "a.b[0] = yield"),
    ]


def test_reading_a_local_is_the_expression_that_was_bound() -> None:
    text = "def f(a: T = 1, *b):\n    x = g(a)\n    y = x.m\n    return y, np.n, [i for i, j in b]\n"
    assert exprs(text) == [
        ("Const", "1"),
        ("Global", "T"),
        ("Param", "a: T = 1"),
        ("Param", "*b"),
        ("Global", "g"),
        ("Call", "g(a)"),
        ("Attr", "x.m"),
        ("Global", "np"),
        ("Attr", "np.n"),
        ("Element", "i, j"),
        ("Unpack", "i"),
        ("Unpack", "j"),
        ("Comp", "[i for i, j in b]"),
        ("Seq", "y, np.n, [i for i, j in b]"),
        ("MakeDef", text.strip()),
    ]


def test_defs_have_the_anchors_of_their_node_and_name() -> None:
    piece = parsed("class A:\n    @d\n    def f(self): return lambda: 0\n")
    nodes = preorder(piece.node)
    anchors = lower(piece).anchors.defs
    assert anchors[0] == (-1, -1)
    places = [(type(nodes[node]).__name__, code(nodes[name])) for node, name in anchors[1:]]
    assert places == [("ClassDef", "A"), ("FunctionDef", "f"), ("Lambda", "lambda: 0")]


def test_anchors_of_an_indented_piece_count_from_its_node() -> None:
    text = "    def f(self):\n        g()\n"
    assert steps(text) == [("Bind", "def f(self):"), ("Perform", "g()"), ("Evaluate", "g()")]


def test_anchors_of_a_clause() -> None:
    assert steps("except g(E) as e:\n", "clause", "except") == [
        ("Perform", "g(E)"),
        ("Bind", "except g(E) as e:"),
    ]


def contexts(facts: PieceFacts) -> list[ir.Context]:
    return list(facts.ir.defs[0].contexts)


def test_first_context_of_a_clause_is_its_own() -> None:
    facts = lower(parsed("while a and g():\n", "clause", "while"))
    own = contexts(facts)[1]
    assert (own.parent, own.kind, own.negated) == (0, "while", False)
    assert isinstance(facts.ir.exprs[own.expr], ir.BoolOp)


def test_mentions() -> None:
    text = """\
def f(a, b=k):
    import p.q as r
    from s import t as u
    local = a.attribute
    local.stored = g(keyword=b)
    global shared
    shared = 1
    def inner(): pass
    match a:
        case Point(x=0): pass
"""
    assert lower(parsed(text)).ir.mentions == (
        *("Point", "attribute", "f", "g", "inner", "k", "keyword", "p", "q", "s", "shared", "stored", "t", "x"),
    )
    assert lower(parsed("x = y = a\n")).ir.mentions == ("a", "x", "y")
    assert lower(parsed("class A(B, metaclass=C): z: D\n")).ir.mentions == ("A", "B", "C", "D", "metaclass", "z")
