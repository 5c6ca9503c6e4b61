"""Anchors name the node that an expression, step or def stands at."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts, lower
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import ParsedPiece, parse_piece
from loaderlint.syntax.places import places
from loaderlint.syntax.source import LineIndex
from loaderlint.syntax.span import Span


def parsed(text: str, kind: str = "statement", keyword: str = "") -> ParsedPiece:
    result = parse_piece(Piece(kind, keyword, text, 0, 0, -1, len(text)))  # type: ignore[arg-type]
    assert result is not None, text
    return result


def marked(piece: Piece, anchors: Sequence[int]) -> list[str]:
    """What stands at anchors."""
    text = piece.text
    lines = LineIndex(text)
    found = places(piece, [anchor for anchor in anchors if anchor >= 0])
    spans = [found.get(anchor, Span(0, 0, 0, 0)) for anchor in anchors]
    return [text[lines.offset(*span[:2]) : lines.offset(*span[2:])] for span in spans]


def steps(text: str, kind: str = "statement", keyword: str = "") -> list[tuple[str, str]]:
    """For each step of each def: its class and the first line of the source at its anchor."""
    piece = Piece(kind, keyword, text, 0, 0, -1, len(text))  # type: ignore[arg-type]
    facts = lower(parsed(text, kind, keyword))
    return [
        (type(step).__name__, code.split("\n")[0])
        for definition, anchors in zip(facts.ir.defs, facts.anchors.steps, strict=True)
        for step, code in zip(definition.steps, marked(piece, anchors), strict=True)
    ]


def exprs(text: str) -> list[tuple[str, str]]:
    facts = lower(parsed(text))
    piece = Piece("statement", "", text, 0, 0, -1, len(text))
    codes = marked(piece, facts.anchors.exprs)
    return [(type(expr).__name__, code) for expr, code in zip(facts.ir.exprs, codes, strict=True)]


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
        ("Test", "elif x: pass"),
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
        ("Param", "a"),
        ("Param", "b"),
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
    text = "class A:\n    @d\n    def f(self): return lambda: 0\n"
    anchors = lower(parsed(text)).anchors.defs
    assert anchors[0] == (-1, -1)
    piece = Piece("statement", "", text, 0, 0, -1, len(text))
    whole = marked(piece, [node for node, _ in anchors[1:]])
    assert whole == [text.strip(), "def f(self): return lambda: 0", "lambda: 0"]
    assert marked(piece, [name for _, name in anchors[1:]]) == ["A", "f", "lambda: 0"]


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
