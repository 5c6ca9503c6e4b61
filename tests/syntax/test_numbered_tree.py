"""Anchors and places without libcst are those that libcst's tree gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from loaderlint.facts.lower import lowered
from loaderlint.facts.piece_facts import find_anchors, piece_facts
from loaderlint.sources.store import OpenFile
from loaderlint.syntax.cutter import Kind, Piece, cut
from loaderlint.syntax.libcst_to_bare import stripped
from loaderlint.syntax.libcst_tree import parse_piece
from loaderlint.syntax.numbered_tree import numbered
from loaderlint.syntax.positions import spans
from loaderlint.syntax.walk import preorder
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

#: Read by `bare`, left to libcst: several strings where the text does not tell them, names of characters, lines that go
#: on behind a backslash, what libcst does not read, and what only some versions of Python have.
LEFT = r"""
x = f'{a[1, 2]}'
x = f'{a["b" "c"]}'
x = f'{f"{a}"}'
x = f'\N{BULLET}{a}'
x = f'{a:{{}}}'
x = f'{a:\n}'
x = '%s'
if a: \
    b
if a:
    b; \
    c
if a:
    b \
      ; c
class A(B, C=D, *E): pass
(x): int
(x.y): int = 1
match a:
    case 1: b
""".replace("%s", "é" * 6000)


def piece(text: str, kind: Kind = "statement", keyword: str = "") -> Piece:
    return Piece(kind, keyword, text, 0, 0, -1, len(text))


def compared(one: Piece) -> Counter[str]:
    """How many pieces were counted, or left to libcst; how many anchors there are, and places among them. Fails if
    anything is not as in libcst's tree."""
    counted, concrete = numbered(one), parse_piece(one)
    if counted is None:
        return Counter(left=1)
    assert concrete is not None, one.text
    assert not counted.tree.nodes or counted.count == len(preorder(concrete.node)), one.text
    expected = lowered(*stripped(concrete.node))
    assert lowered(counted.tree, counted.anchors) == expected, one.text
    anchors = {anchor for steps in expected[1].steps for anchor in steps}
    anchors.update(expected[1].exprs, *expected[1].defs)
    anchors.discard(-1)
    found = counted.spans(anchors)
    wanted = spans(concrete, anchors)
    assert found == {anchor: wanted[anchor] for anchor in found}, one.text
    return Counter(counted=1, anchors=len(anchors), places=len(found))


PIECES = cut(CODE)


@pytest.mark.parametrize("one", PIECES, ids=lambda one: one.text[:40])
def test_each_construct(one: Piece) -> None:
    assert compared(one)["counted"]


@pytest.mark.parametrize("one", PIECES, ids=lambda one: one.text[:40])
def test_each_construct_in_other_surroundings(one: Piece) -> None:
    """In a method, behind tabs and signs of several bytes, with line ends of Windows."""
    lines = one.text.splitlines()
    if one.kind == "statement" and '"""' not in one.text and "\\" not in one.text:
        assert compared(piece("    async def f(self):\n" + "".join(f"        {line}\n" for line in lines)))["counted"]
        assert compared(piece("if ü and 'ö':\n" + "".join(f"\t{line}\n" for line in lines)))["counted"]
    assert compared(piece(one.text.replace("\n", "\r\n"), one.kind, one.keyword))["counted"]


@pytest.mark.parametrize(("kind", "keyword", "text"), CLAUSES)
def test_heads_and_clauses(kind: Kind, keyword: str, text: str) -> None:
    assert compared(piece(text, kind, keyword))["counted"]


@pytest.mark.parametrize("one", cut(LEFT), ids=lambda one: one.text[:40])
def test_what_is_not_certain_is_left_to_libcst(one: Piece) -> None:
    assert compared(one)["left"]
    facts = piece_facts(one)
    assert facts is not None
    concrete = parse_piece(one)
    if concrete is not None:
        assert find_anchors(one, facts) == lowered(*stripped(concrete.node))[1]


def test_a_place_that_is_not_certain_is_libcsts() -> None:
    """Inside a formatted string, where Python before 3.12 tells wrong places."""
    (one,) = cut("x = 'é', f'ab {call(1)}', y\n")
    counted, concrete, facts = numbered(one), parse_piece(one), piece_facts(one)
    assert counted is not None and concrete is not None and facts is not None
    anchors = sorted({anchor for anchor in facts.anchors.exprs if anchor >= 0})
    unknown = set(anchors) - counted.spans(anchors).keys()
    assert len(unknown) == 3
    opened = OpenFile(Path("a.py"), one.text.encode(), (one,))
    assert opened.find_spans(one, anchors) == spans(concrete, anchors)


def test_real_files() -> None:
    counts: Counter[str] = Counter()
    for path in corpus.files(130)[-40:]:
        for one in cut(corpus.text(path)):
            counts += compared(one)
    assert counts["counted"] > 500 and counts["anchors"] > 20_000
    assert counts["left"] <= counts["counted"] // 50
    assert counts["places"] >= counts["anchors"] * 0.99


@settings(max_examples=200, deadline=None)
@given(corpus.half_typed(CODE))
def test_half_typed_code(text: str) -> None:
    """Lines of all syntax in any order, with a few signs taken out or put in."""
    for one in cut(text):
        if parse_piece(one) is not None:
            compared(one)
