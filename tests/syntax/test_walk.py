"""The fixed order of nodes."""

from __future__ import annotations

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from loaderlint.syntax.walk import preorder

#: Every kind of construct at least once.
EVERYTHING = """
@decorator
async def f[T: int, *Ts, **P](a: int, /, b=1, *args: str, c: int = 2, d, **kw: dict) -> list[int]:
    global g
    async with a as b, c() as (d, e):
        pass
    async for x, *y in z:
        await x
    else:
        return
    return (yield), (yield x), (yield from y)

class A(B, *C, metaclass=M, **kw):
    nonlocal_ = 1

def g(a, *, b):
    nonlocal h
    del a, b[0]
    assert a, "no"
    raise A from b

try:
    import a.b as c, d
    from ..e import f as g, h
    from i import *
except (A, B) as error:
    pass
except C:
    x: int = 1
    y: str
else:
    z += 1
finally:
    z @= 2
try:
    pass
except* E as group:
    pass
for i in range(3):
    continue
else:
    break
while a < b <= c is not d not in e:
    if a: b
    elif c: d
    else: e
x = y = [1, 2.0, 3j, *a, ...], (1,), {1, *b}, {1: 2, **c}
s = "a" f"b{c!r:>{width}}" r'd', rb"d"
s = f"{a=}"
t = [a for b in c if d async for e in f], {a for b in c}, {a: b for c in d}, (a for b in c)
u = lambda a, *b, c=1, **d: a if not b else -c ** ~d
v = a[1:2:3, ..., *b], a.b.c(d, *e, f=g, **h), (w := 1) and x or y
type Alias[T] = list[T]
match a, b:
    case [1, *rest] | {"k": v, **others} | Point(x, y=0) as p if p:
        pass
    case -1 | None | "s" | a.b | _:
        pass
    case (a, b):
        pass
"""

_PUNCTUATION = (cst.BaseParenthesizableWhitespace, cst.EmptyLine, cst.TrailingWhitespace, cst.Newline, cst.Comment)


def test_children_follow_in_the_order_of_the_text() -> None:
    module = cst.parse_module(EVERYTHING)
    places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    numbers = {id(node): number for number, node in enumerate(preorder(module))}
    kinds = set()
    for node in preorder(module):
        kinds.add(type(node).__name__)
        children = [child for child in node.children if id(child) in numbers]
        children.sort(key=lambda child: numbers[id(child)])
        starts = [(places[child].start.line, places[child].start.column) for child in children]
        assert starts == sorted(starts), node
    assert len(kinds) > 90


def test_no_node_with_a_meaning_is_left_out() -> None:
    module = cst.parse_module(EVERYTHING)
    known = {id(node) for node in preorder(module)}
    left_out = set()
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        if id(node) not in known:
            left_out.add(type(node))
        stack += node.children
    operators = (cst.BaseBinaryOp, cst.BaseBooleanOp, cst.BaseUnaryOp, cst.BaseCompOp, cst.BaseAugOp)
    rest = {kind.__name__ for kind in left_out if not issubclass(kind, (*_PUNCTUATION, *operators))}
    assert rest == {
        *("AssignEqual", "Asynchronous", "BitOr", "Colon", "Comma", "Dot", "LeftCurlyBrace", "LeftParen"),
        *("LeftSquareBracket", "ParamSlash", "ParamStar", "RightCurlyBrace", "RightParen", "RightSquareBracket"),
    } - {"BitOr"}


def test_parents_come_before_children_and_no_node_twice() -> None:
    nodes = preorder(cst.parse_module(EVERYTHING))
    numbers = {id(node): number for number, node in enumerate(nodes)}
    assert len(numbers) == len(nodes)
    for node in nodes:
        assert all(numbers[id(node)] < numbers.get(id(child), len(nodes)) for child in node.children)


@pytest.mark.parametrize("other", ["f( a,b )  # why\n", "\n# why\nf(\n    a,  # one\n    b,\n)\n", "(f)((a), b)\n"])
def test_layout_and_comments_do_not_change_anchors(other: str) -> None:
    kinds = [type(node) for node in preorder(cst.parse_module("f(a, b)\n"))]
    assert [type(node) for node in preorder(cst.parse_module(other))] == kinds


def test_deep_trees_need_no_recursion() -> None:
    node: cst.BaseExpression = cst.Name("a")
    for _ in range(5000):
        node = cst.Attribute(node, cst.Name("b"))
    assert len(preorder(node)) == 10_001
