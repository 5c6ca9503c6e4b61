"""Both parsers give each node the same anchor and the same place."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from loaderlint.facts.lower import lowered
from loaderlint.sources.open_file import OpenFile
from loaderlint.syntax import anchors, positions
from loaderlint.syntax.anchors import are_alike, preorder, spans
from loaderlint.syntax.bare_tree import Tree, bare
from loaderlint.syntax.cutter import Kind, Piece, cut
from loaderlint.syntax.libcst_to_bare import stripped
from loaderlint.syntax.libcst_tree import parse_piece
from loaderlint.syntax.places import places
from loaderlint.syntax.positions import lossless
from loaderlint.syntax.source import LineIndex
from loaderlint.syntax.span import Span
from tests.syntax import corpus

#: Each construct, and what makes its number or its place differ between the two trees. All is read by Python 3.10.
CODE = r'''
x = ((a), b), (((a, b))), ( a , b , ), (  # c (
  (a) , # )
  ((b)) , # ) (
 ), (a, (b)), ((a), (b)), ((a), (b),), ( ), (
), (  # c
), ((  ))
x = (a), b,   # c
x = (a),
x = ((a),), (((a)),)
x = f((a), *(b), c=(d), **(e)), f( ( x for x in y ) ), f( x for x in (y) ), f(( (x) for x in (y) if (z) ) )
x = ( # c )
  x for x in y # c )
  if z # )
)
x = (x for x in (y) if (z)), (x for (x) in ((y))), (((x for x in (a, b)))), (x for x in (a for a in b))
x = (a) and (b) and (c) or ((d) or (e)) and ( f ) # c
x = ((a) and ( b # )
  ) and # c
  c)
x = a and \
  ( b \
  ) \
  and c
for (a), in (b), : pass
for a, in b, (c): pass
for a, b, in c: pass
del (a), b
del a,
del (a),
del (a)
del ((a), b)
del (a, # c
  b),
with (a): pass
with (a) as (b): pass
with (a) as (b), ((c)) as ((d)): pass
with ((a) as (b), ((c)) as ((d))): pass
with (a, b): pass
with (a, b) as c: pass
with ((a, b) as c): pass
with ( # c
  a # (
  as # (
  b, # c
  (c) as d): pass
with (yield) as b, c() as (d, e): pass
with a() as b.c, d as e[f], (g) as [h]: pass
with (open(x)) as f, y: pass
with (x for x in y) as (a, b): pass
with ((x for x in y)) as ((a, b)): pass
with a as (b)   , c: pass
lambda: (a)
lambda a=(1), *, b=((2)), **c: (a)
lambda * a, ** b: a
lambda a, /, b=c, *d, e, f=g, **h: (a, b)
def f( * a, ** b): pass
def f(a, /, b, *, c=(1), d: int=(2), **e: (x)) -> (int): pass
def   f (a): pass
def \
   f(a): pass
async   def g(a): pass
async \
 def g(a): pass
@a
@b . c ( d )
class   A ( B ) : pass
class A(*E, C=D, **F): pass
class A(): x = 1;
class A:
    x = 1;  # c
    y = 2
if a: b;
if a: b; c;  # d
if a:
    b;
elif c: d;
else: e;
if a:
    b
else:
    if c: d
    elif e: f
    else:
        g; h
        i;
if (a
  ): b
if (a
 ):
 b
if a: # c
    b
    # d
# e
if a:

    # c
    b
try: a
except (B): c
except (B) as d: c
except ((B, (C))) as d: c
except (B, ) as d: c
except   B   as   d  : c
except (B
  ) as \
  d: c
except B.c(d) as é: f
except: raise
else: g;
finally: h;
while (a): b;
else: c;
for x in a: b
else: c
async def f():
    async with (a) as b, c: d;
    async for x in (y): z;
    else: w
    return (await x), await (y)
x = a[1:2], a[ 1 : 2 ], a[1 : ], a[ : 1], a[1:2, ...], a[(1):(2)], a[::], a[:: ], a[(1, 2)], a[(1), 2], a[(1), ]
x = a[((1), 2)], a[1:2,], a[()], a[(),], a[(), ()], a[lambda: 1], a[x := 1], a[b][c], a[(b)[c]], a[ : , : ]
x = a[(1, 2), 3], a[(1, 2):3], a[b:c:d][e]
x = (a := (1)), f(a := 1), [a := 1, (b := 2)]
x = a < (b) <= (c) != ((d)), not (a), - (a), ~ (a), not a, (not a), not a in b, a not in b, a is not b
x = (a) if (b) else (c), ((a) if b else c)
x = (a).b, (a)(b), (a)[b], a . b . c, (a
 ).b, (a.
  b), "é".join(b), "é" "ü".x(a), ("é"
 "ü" # c
 'x').y(b)
x = 'a' 'b' 'c', ("a" # "
  'b'
  """c'"""), ('a')if 0 else 1
x = r'\'', b'a' b'b', u'a', R"\"", rb'\'', Rb"""\""" ""\"""", 'a\
b' 'c'
x = f'a', f'', f'{a}', f'{a}b', f'{a}{b}', f'a{b!r}', f'a{b!r:>{c}}', f'{a:>{w}.{p}f}', f'{a!s:x}', f'{{', f'}}'
x = f'{{a}}', f'{{{a}}}', f'{a}}}', f'{ a }', f'{a=}', f'{a = }', f'{a=!r:x}', f'{(lambda: 1)}', f'{a:%H:%M}'
x = f'{a if b else c}', f'{d["k"]}', f'{d["k"]:>{e["w"]}}', f'{a != b}', f'{a == b}', f'{ {1: 2}[1] }', f'{(a, b)}'
x = f'{a, b}', f'{a[1:2]}', f'{a(b, *c, d=e)}', f'{x!r}\n\'', f"{'a' if b else 'c'}", f"{', '.join(a for a in b)}"
x = F"{a}", rf"\d{a}", Rf'{a}\'', f'{a["é"]}é', f'é{a}', f'{a}'; y = é
x = f'a' 'b', 'a' f'b{c}' 'd', f'{a}' f'{b}' f'{c}', ('a' f'{b}' # {x}
   f'c{d:e}' "{"), 'a{' f'{b}', f(f'{a}', b), f'{a}' .b(c)
x = f"""{
a} {
  b + c }""", y
x = f"""a
"{b}"
""" f'{c}', y
x = f"""{a['b']}""", f'{a and b and c}{a or b}', f'{yield}', f'{(yield)}', f'{[*a]}', f'{a:=5}', f'{(a:=5)}'
x: int = (1)
x.y: 'int'
x[0]: int
x = y = (z)
x, (y) = z
(x) = (y) = z
[x, *y] = z
*x, y = z
(x, *y), z = w
x += (y)
x = (yield), (yield x), (yield from y)
yield x
assert (a), (b)
assert (a, b)
raise (a) from (b)
raise
global a, b
import a . b as c, d
from . import (a as b, c, )
from ... a . b import c
from .. import *
from a import *
print(a); print(b) ; print(c) ;
print('é', a, 'ü', b)
print("\U0001F600😀", a,
	"😀", b)
{**a, 'b': (c), **(d)}, {(a): (b) for c in d}, {*a, *(b)}, [*a, *(b), (c)], (*a, b), (*(a),), *a, b
[(a) for (b) in (c) if (d) if e for f in g], {a async for a in b}, {a: b for c in d for e in f if g}
a if b else lambda: c, lambda x: lambda y: z
a + (b) * ((c) - d) ** -e, (a + b) + c, a @ b
(
  a  # c
)
(yield)
((a)) ; (b)
a.b(c)(d)[e].f
...
x = 1_000, 0xff, 1j, 1.5, -1, None, True, __debug__
ﬁ.ﬁ(ﬁ=𝔘, µ=ª)
def ﬁ(ﬁ, *µ): import ﬁ.µ as ª; global ﬂ; del ﬁ
'''

CLAUSES: list[tuple[Kind, str, str]] = [
    ("clause", "if", "if g(a):\n"),
    ("clause", "if", "if (a) and b: b();\n"),
    ("clause", "if", "    if (a := g('é', b)):  # why\n"),
    ("clause", "elif", "elif g(a):\n"),
    ("clause", "elif", "    elif a: b()"),
    ("clause", "else", "else: g(a)\n"),
    ("clause", "for", "for a, b in g(c):\n"),
    ("clause", "async for", "async for (a), in b:"),
    ("clause", "while", "\twhile a:\n"),
    ("clause", "with", "with a as b, c(d) as (e, f):\r\n"),
    ("clause", "try", "  try: a = b()\n"),
    ("clause", "except", "except (A, b.C) as e:\n"),
    ("clause", "except", "except: g()\n"),
    ("clause", "except", "    except g(A):\n"),
    ("clause", "finally", "    finally: a()\n"),
    ("class", "", "class A(B, c=D):\n"),
    ("class", "", "    @a(b)\n    # c\n    class A:  # c\r\n"),
]


def piece(text: str, kind: Kind = "statement", keyword: str = "") -> Piece:
    return Piece(kind, keyword, text, 0, 0, -1, len(text))


def compared(one: Piece) -> Counter[str]:
    """How many pieces both parsers read, how many nodes there are, and how many Python itself tells the place of. Fails
    if the two differ."""
    tree, concrete = bare(one), parse_piece(one)
    if tree is None or concrete is None:
        return Counter()
    other, sources = stripped(concrete.node)
    nodes, others = preorder(tree), preorder(other)
    assert are_alike(nodes, others), one.text
    assert lowered(tree, anchors.anchors(nodes)) == lowered(other, anchors.anchors(others)), one.text
    found = spans(one, nodes, range(len(nodes)))
    made_from = {number: sources.of(node) for number, node in enumerate(others)}
    assert None not in made_from.values(), one.text
    if not lossless(one, concrete):
        return Counter(both=1)
    wanted = positions.spans(concrete, {number: node for number, node in made_from.items() if node is not None})
    for number, span in found.items():
        assert span == wanted[number] or _may_differ(nodes[number]), (one.text, nodes[number])
    return Counter(both=1, nodes=len(nodes), places=len(found))


def _may_differ(node: object) -> bool:
    """A comma and spaces behind several indices, the parentheses of a value in a pattern."""
    return isinstance(node, ast.Tuple | ast.MatchValue)


PIECES = cut(CODE)


@pytest.mark.parametrize("one", PIECES, ids=lambda one: one.text[:40])
def test_each_construct(one: Piece) -> None:
    assert compared(one)["both"]


@pytest.mark.parametrize("one", PIECES, ids=lambda one: one.text[:40])
def test_each_construct_in_other_surroundings(one: Piece) -> None:
    """In a method, behind tabs and signs of several bytes, with line ends of Windows."""
    lines = one.text.splitlines()
    if one.kind == "statement" and '"""' not in one.text and "\\" not in one.text:
        assert compared(piece("    async def f(self):\n" + "".join(f"        {line}\n" for line in lines)))["both"]
        assert compared(piece("if ü and 'ö':\n" + "".join(f"\t{line}\n" for line in lines)))["both"]
    assert compared(piece(one.text.replace("\n", "\r\n"), one.kind, one.keyword))["both"]


@pytest.mark.parametrize(("kind", "keyword", "text"), CLAUSES)
def test_heads_and_clauses(kind: Kind, keyword: str, text: str) -> None:
    assert compared(piece(text, kind, keyword))["both"]


def marked(text: str, kind: Kind = "statement", keyword: str = "") -> list[str]:
    """What stands at the places of all nodes of a piece, in their order."""
    one = piece(text, kind, keyword)
    tree = bare(one)
    assert tree is not None
    lines = LineIndex(text)
    found = places(one, range(len(preorder(tree))))
    return [text[lines.offset(*span[:2]) : lines.offset(*span[2:])] for _, span in sorted(found.items())]


def test_parents_come_before_children_and_children_in_the_order_of_the_text() -> None:
    assert marked("@d\ndef f(a: b = c, *e): return g if h else i\n") == [
        *("def f(a: b = c, *e): return g if h else i", "d", "f", "a", "b", "c", "e", "return g if h else i"),
        *("g if h else i", "g", "h", "i"),
    ]
    assert marked("f(a, b=c, *d, **{e: g})\n")[2:] == [*("f", "a", "c", "*d", "d", "{e: g}", "e", "g")]


def test_a_place_is_that_of_the_node() -> None:
    """With the parentheses that belong to a tuple or a generator expression, and without others."""
    assert marked("x = (a), (b, c), f(d for d in e)\n") == [
        *("x = (a), (b, c), f(d for d in e)", "x", "(a), (b, c), f(d for d in e)", "a", "(b, c)", "b", "c"),
        *("f(d for d in e)", "f", "(d for d in e)", "d", "d", "e"),
    ]
    assert marked("except (A) as é: f(e)\n", "clause", "except")[1:3] == ["A", "é"]


def test_places_inside_formatted_strings() -> None:
    """Python before 3.12 tells wrong ones."""
    assert marked("x = 'é', f'ab {call(1):{a.b}}' f'{c}', y\n")[3:] == [
        *("'é'", "f'ab {call(1):{a.b}}' f'{c}'", "call(1)", "call", "1", "a.b", "a", "c", "y"),
    ]


@pytest.mark.parametrize("text", ["x = \f(a), b\n", "x = " + "9" * 5000 + ", a\n"])
def test_places_in_what_python_does_not_read(text: str) -> None:
    one = piece(text)
    concrete = parse_piece(one)
    assert bare(one) is None and concrete is not None
    nodes = preorder(stripped(concrete.node)[0])
    found = places(one, range(len(nodes)))
    lines = LineIndex(text)
    names = {node.id: found[number] for number, node in enumerate(nodes) if isinstance(node, ast.Name)}
    assert "a" in names
    for name, span in names.items():
        assert text[lines.offset(*span[:2]) : lines.offset(*span[2:])] == name


def test_a_head_ends_where_its_text_ends() -> None:
    assert marked("class A:\n", "class")[:2] == ["class A:\n", "A"]


def test_layout_and_comments_do_not_change_anchors() -> None:
    kinds = [type(node) for node in preorder(bare(piece("f(a, b)\n")))]
    for other in ("f( a,b )  # why\n", "f(\n    a,  # one\n    b,\n)\n", "(f)((a), b)\n"):
        assert [type(node) for node in preorder(bare(piece(other)))] == kinds


def test_deep_trees_need_no_recursion() -> None:
    node: ast.expr = ast.Name("a")
    for _ in range(5000):
        node = ast.Attribute(node, "b")
    assert len(preorder(Tree("statements", (node,), False))) == 5001


def test_a_file_remembers_places() -> None:
    (one,) = cut("x = f(y)\n")
    opened = OpenFile(Path("a.py"), one.text.encode(), (one,))
    assert opened.find_spans(one, [-1, 2, 99]) == {-1: Span(0, 0, 0, 8), 2: Span(0, 4, 0, 8), 99: None}


def test_real_files() -> None:
    counts: Counter[str] = Counter()
    for path in corpus.files(130)[-40:]:
        for one in cut(corpus.text(path)):
            counts += compared(one)
    assert counts["both"] > 500 and counts["nodes"] > 30_000
    assert counts["places"] >= counts["nodes"] * 0.98


@settings(max_examples=200, deadline=None)
@given(corpus.half_typed(CODE))
def test_half_typed_code(text: str) -> None:
    """Lines of all syntax in any order, with a few signs taken out or put in."""
    for one in cut(text):
        compared(one)
