"""Facts are the same whether they come from Python's own tree or from libcst's; where the parsers may differ, libcst
decides."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from hypothesis import given, settings

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import find_anchors, lower, piece_facts
from loaderlint.syntax.bare_tree import bare
from loaderlint.syntax.cutter import Kind, Piece, cut
from loaderlint.syntax.libcst_tree import parse_piece
from tests.syntax import corpus

#: Every kind of syntax, and what one of the trees tells and the other does not. All are read by Python 3.10.
CODE = r"""
-(1), -1, -1.5, -2j, - - 1, +1, ~1, not 1, -True
0xff, 0o17, 0b1, 1_000, 1e999, 1j, 10**70, None, True, ..., __debug__
a[1,], a[1], a[1, 2], a[(1, 2)], a[1:2, ...], a[:], a[::2], a[b:c:d], a[x := 1], a[(yield)]
f(a, *b, c=d, *e, **g, h=i), f(*a, b), f(x for x in y), f(**a, b=1), f((yield)), f(a)(b)(c)
'a' 'b', 'a' "b" r'\c', b'a' b'b', 'a' f'{b}' 'c', f'{a}' f'{b:{c}}', f'', f'a', f'{a!r:>{w}.{p}}', f'{a=}', f'{{}}'
'\N{BULLET}\x41\
next', '\d', b'\xff', u'u', '''long
string''', 'é', 'ﬁ', "\ud800"
a and b and c or d and not e, (a and b) and c, a and (b and c), a or b if c else d or e
a < b <= c != d is not e not in f, a is b in c
a + b - c * d @ e // f % g << h >> i & j | k ^ m ** n, (a + b) + c, a + (b + c)
[*a, b], (*a,), {*a, b}, {**a, 'b': c}, (), [], {}, (a,), a,
[x for x in y if x if z for (u, *v), w in x], {x for x in y}, {x: y async for x in z}, (i for i, in a)
lambda: 0, lambda a, /, b=1, *c, d, e=2, **f: (a, b), lambda *, a: a, lambda *a: (yield)
x = y = z, w = a, b = c
a.b.c, a[b].c, d, *e = [f, *g], (h, [i]) = 1, 2
x: int = 3
x: 'a.b'
a.b: c = 1
a[b]: c
a += 1; a.b -= 2; a[b] *= 3; a @= b; a //= c; a **= d; a >>= e; a <<= f; a &= g; a ^= h; a |= i; a %= j; a /= k
del a, b.c, d[e]
del (a, b), [c]
import a, b.c, d.e as f
from . import a
from ..b.c import (d, e as f,)
from g import *
assert a, b(c)
assert (a, b)
assert False
'docstring' 'in two'
b'no docstring'
a; b(); c
if (n := f(1)) and (m := n): print(n)
global a, b
raise
raise A from b
raise A(b)
if a: b
elif c: d
elif e:
    f
else:
    if g: h
    else: i
for a, *b in c, *d:
    if a: break
    elif b: continue
    a = b
else:
    a = c
while True:
    x = f(x)
    if x: break
while a: pass
else: b
with a as b, c as (d, e), f: g
with (a as b, c as d,): e
with suppress(A), contextlib.suppress(B): x = 1
try: a
except A: b
except (C, D) as e: f(e)
except: g
else: h
finally: i
try: a = b
finally:
    for x in y:
        try: continue
        finally: z = 1
def f(a, b: c = d, /, e=g, *h: i, j, k=l, **m: n) -> o:
    'doc'
    nonlocal_ = a
    def inner():
        nonlocal a
        a = 1
        return lambda: a
    yield
    x = yield a
    y = yield from b
    return x, *y
@a
@b.c(d)
async def f(self, *, a=(z := 1)):
    async with a as b: await c
    async for d in e: await f
    return [await g async for g in h if await i]
@a
class A(B, *C, D[E], metaclass=M, **k):
    x: int
    y = [x for _ in z]
    class Inner: pass
    def f(self): return __class__, super().f
class A: a; b = 1
class A(): ...
match a:
    case 1 | -1 | 'a' 'b' | None | True | 1+2j | a.b: x
    case [b, *c, d] | (b, c, d): y
    case [*_]: z
    case {'k': [e, *f], g.h: i, **rest}: j
    case {**rest}: j
    case A.B(c, D(e), f=g, h=[i]) as k if k > c: m
    case (n): o
    case 1, *p: q
    case [[r, 2] as s, [t | t]]: u
    case _: v
match = case = type = 1; match[case]; type(match)
print(a, file=b) if c else (yield)
x = (
    # a comment
    a  # another

    + \
    b
)
if a:
	b = '''
tab'''
	c
é = ß + naïve.ключ(变量=1)
ﬁ.ﬁ(ﬁ=𝔘, µ=ª)
def ﬁ(ﬁ, *µ): import ﬁ.µ as ª; global ﬂ; del ﬁ
"""

#: Left to libcst, and read by it.
LEFT = ["x = 1\f\n", "if a:\r  b\r", "a; \\\n  b\n", "\fx = 1\n", "\ufeffx = 1\n"]
#: No piece, by either parser.
BROKEN = [
    *("x = (\n", "f(a b)\n", "def f(:\n    pass\n", "x = 1\n  y = 2\n", "# a comment\n", "\n", "print a\n", "a\nb\n"),
    *(
        "x = 'a\n",
        "if a: b\nelse c: d\n",
        "x = 1 +\n",
        "x = 1 \\",
        "x = \0\n",
        "return = 1\n",
        "a\x0cb\n",
    ),
]
#: Read by libcst only, on some Pythons at least: what is lowered is Python's next version, or not quite Python.
ONLY_LIBCST = ["f() = 1\n", "x = " + "9" * 5000 + "\n", "f(a for a in b, c)\n", "x = 'a' b'b'\n"]
#: Read by Python only.
ONLY_PYTHON = ["class A(x, k=1, *b):\n    def f(self): return g(1)\n", "(x): int = g(1)\n"]

CLAUSES: list[tuple[Kind, str, str]] = [
    ("clause", "if", "if g(a):\n"),
    ("clause", "if", "if a: b()\n"),
    ("clause", "if", "    if (a := g(b)):  # why\n"),
    ("clause", "elif", "elif g(a):\n"),
    ("clause", "elif", "    elif a: b()"),
    ("clause", "else", "else:\n"),
    ("clause", "else", "else: g(a)\n"),
    ("clause", "for", "for a, b in g(c):\n"),
    ("clause", "async for", "async for a in b:"),
    ("clause", "while", "\twhile a:\n"),
    ("clause", "with", "with a as b, c(d) as (e, f):\r\n"),
    ("clause", "try", "try:\n"),
    ("clause", "try", "  try: a = b()\n"),
    ("clause", "except", "except (A, b.C) as e:\n"),
    ("clause", "except", "except: g()\n"),
    ("clause", "except", "    except g(A):\n"),
    ("clause", "finally", "finally:\n"),
    ("clause", "finally", "    finally: a()\n"),
    ("class", "", "class A(B, c=D):\n"),
    ("class", "", "    @a(b)\n    class A:  # c\n"),
]
NO_CLAUSES: list[tuple[Kind, str, str]] = [
    ("class", "", "class A: pass\n"),
    ("class", "", "def f():\n"),
    ("clause", "else", "if a:\n"),
    ("clause", "except", "finally:\n"),
    ("clause", "finally", "except A:\n"),
    ("clause", "if", "if a:\n    pass\nb\n"),
]


def piece(text: str, kind: Kind = "statement", keyword: str = "") -> Piece:
    return Piece(kind, keyword, text, 0, 0, -1, len(text))


def compared(one: Piece) -> str:
    """Who reads a piece. Fails if the parsers read it differently."""
    facts, tree = piece_facts(one), parse_piece(one)
    concrete = lower(tree) if tree is not None else None
    if facts is None:
        assert concrete is None, one.text
        return "nobody"
    if facts.known_anchors is not None:
        assert facts == concrete
        return "libcst"
    if concrete is None:
        return "python"
    assert repr(facts.ir) == repr(concrete.ir), one.text
    assert facts.digest == concrete.digest
    assert find_anchors(one, facts) == facts.anchors == concrete.anchors, one.text
    return "both"


@pytest.mark.parametrize("one", cut(CODE), ids=lambda one: one.text[:40])
def test_all_syntax(one: Piece) -> None:
    assert compared(one) == "both"


@pytest.mark.parametrize("text", [one.text for one in cut(CODE) if one.kind == "statement"])
def test_all_syntax_in_a_function(text: str) -> None:
    inside = "    async def f(self, a, b):\n" + "".join(f"        {line}\n" for line in text.splitlines())
    assert compared(piece(inside)) in ("both", "nobody")  # a string's next lines are text


def test_all_syntax_with_line_ends_of_windows() -> None:
    counts = Counter(compared(one) for one in cut(CODE.replace("\n", "\r\n")))
    assert counts.keys() == {"both"}


@pytest.mark.parametrize(("kind", "keyword", "text"), CLAUSES)
def test_heads_and_clauses(kind: Kind, keyword: str, text: str) -> None:
    assert compared(piece(text, kind, keyword)) == "both"


@pytest.mark.parametrize(("kind", "keyword", "text"), NO_CLAUSES)
def test_heads_and_clauses_that_are_none(kind: Kind, keyword: str, text: str) -> None:
    assert compared(piece(text, kind, keyword)) == "nobody"


@pytest.mark.parametrize("text", LEFT)
def test_what_the_parsers_may_read_differently_is_left_to_libcst(text: str) -> None:
    assert bare(piece(text)) is None
    compared(piece(text))


@pytest.mark.parametrize("text", BROKEN)
def test_broken_code_is_broken(text: str) -> None:
    assert compared(piece(text)) == "nobody"


@pytest.mark.parametrize("text", ONLY_LIBCST)
def test_what_python_refuses_is_left_to_libcst(text: str) -> None:
    assert bare(piece(text)) is None
    compared(piece(text))


@pytest.mark.parametrize("text", ONLY_PYTHON)
def test_what_only_python_reads_has_facts_and_anchors(text: str) -> None:
    assert compared(piece(text)) == "python"
    facts = piece_facts(piece(text))
    assert facts is not None
    (call,) = (number for number, one in enumerate(facts.ir.exprs) if isinstance(one, ir.Call))
    assert facts.anchors.exprs[call] > 0


@pytest.mark.parametrize(
    "text",
    [
        "type X[T] = list[T]\n",
        "def f[T: int, *U, **V](a: T): return a\n",
        "class A[T](B): x: T\n",
        "try: a\nexcept* A as e: f(e)\nexcept* B: g\n",
        "x = f'{a['b']}' f'{f'{c}'}'\n",
        "x = a[*b, c], a[*d]\n",
    ],
)
def test_code_newer_than_python(text: str) -> None:
    assert compared(piece(text)) == ("both" if sys.version_info >= (3, 12) else compared(piece(text)))
    assert piece_facts(piece(text)) is not None


def test_warnings_of_the_authors_code_are_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    assert bare(piece("x = '\\d', 1if a else b, a is 1\n")) is not None
    assert not [one for one in recwarn if one.filename == "<loaderlint piece>"]


def test_pieces_of_real_files() -> None:
    counts: Counter[str] = Counter()
    for path in corpus.files(40):
        counts.update(compared(one) for one in cut(corpus.text(path)))
    assert counts["both"] > 500
    assert counts["libcst"] + counts["python"] <= counts["both"] // 200


@settings(max_examples=200, deadline=None)
@given(corpus.half_typed(CODE))
def test_half_typed_code(text: str) -> None:
    """Lines of all syntax in any order, with a few signs taken out or put in: the parsers agree, or one refuses."""
    for one in cut(text):
        compared(one)
