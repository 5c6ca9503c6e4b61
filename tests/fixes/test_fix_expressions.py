"""Wrapping and replacing expressions, with parentheses where they are needed and nowhere else."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import Replace, Wrap
from tests.fixes.fixing import fixed, place, refused

WRAP = [
    ("x = y\n", "y", "f(", ")", "x = f(y)\n"),
    ("x = a + b\n", "a + b", "f(", ")", "x = f(a + b)\n"),
    ("x = (a + b)\n", "a + b", "f(", ")", "x = f(a + b)\n"),
    ("x = a + b\n", "a + b", "", ".copy()", "x = (a + b).copy()\n"),
    ("x = (a + b)\n", "a + b", "", ".copy()", "x = (a + b).copy()\n"),
    ("x = a[1:]\n", "a[1:]", "", ".copy()", "x = a[1:].copy()\n"),
    ("x = 1\n", "1", "", ".bit_length()", "x = (1).bit_length()\n"),
    ("f(1)\n", "1", "", " + y", "f(1 + y)\n"),
    ("x = 1.5 * z\n", "1.5", "", " + y", "x = (1.5 + y) * z\n"),
    ("x = lambda: 0\n", "lambda: 0", "f(", ")", "x = f(lambda: 0)\n"),
    ("x = await y\n", "await y", "", ".copy()", "x = (await y).copy()\n"),
    ("def f():\n    return a, b\n", "a, b", "g(", ")", "def f():\n    return g((a, b))\n"),
    ("def f():\n    return (a, b)\n", "a, b", "g(", ")", "def f():\n    return g((a, b))\n"),
    ("def f():\n    x = yield 1\n", "yield 1", "g(", ")", "def f():\n    x = g((yield 1))\n"),
    ("def f():\n    return(a)\n", "a", "g(", ")", "def f():\n    return g(a)\n"),
    ("s = a\n", "a", "", " % 2**32", "s = a % 2**32\n"),
    ("s = a * b\n", "a", "", " % 2**32", "s = (a % 2**32) * b\n"),
    ("s = a + b\n", "a + b", "", " % 2**32", "s = (a + b) % 2**32\n"),
    ("s = a / (b - c)\n", "b - c", "", " + 1e-8", "s = a / ((b - c) + 1e-8)\n"),
    ("f(*a)\n", "a", "", " or ()", "f(*(a or ()))\n"),
    ("f(k=a)\n", "a", "", " or ()", "f(k=a or ())\n"),
    ("x = a.b.c\n", "a.b", "f(", ")", "x = f(a.b).c\n"),
    ("x = 4\n", "4", "max(", ", 1)", "x = max(4, 1)\n"),
    ("f(x for x in y)\n", "x for x in y", "list(", ")", "f(list(x for x in y))\n"),
    ("x = (\n    a  # first\n    + b\n)\n", "a  # first\n    + b", "f(", ")", "x = f(\n    a  # first\n    + b\n)\n"),
    ("é = '🎲' + ñ  # ü\r\n", "ñ", "f(", ")", "é = '🎲' + f(ñ)  # ü\r\n"),
    ("class A:\n\t@d(a)\n\tdef f(self, b=a): ...\n", "a", "g(", ")", "class A:\n\t@d(g(a))\n\tdef f(self, b=a): ...\n"),
    ("if a:\n    pass\n", "a", "f(", ")", "if f(a):\n    pass\n"),
    ("x = y", "y", "f(", ")", "x = f(y)"),
    ("x = list(f(y))\n", "f(y)", "sorted(", ")", "x = sorted(f(y))\n"),
    ("x = list(  # c\n    f(y),\n)\n", "f(y)", "sorted(", ", key=k)", "x = sorted(  # c\n    f(y), key=k,\n)\n"),
    ("x = list(f(y))[0]\n", "f(y)", "sorted(", ")", "x = sorted(f(y))[0]\n"),
    # no list of this alone, and another function of that name
    ("x = list(*f(y))\n", "f(y)", "sorted(", ")", "x = list(*sorted(f(y)))\n"),
    ("x = set(f(y))\n", "f(y)", "sorted(", ")", "x = set(sorted(f(y)))\n"),
    ("x = list(f(y))\n", "f(y)", "g(", ")", "x = list(g(f(y)))\n"),
    ("from m import list\nx = list(f(y))\n", "f(y)", "sorted(", ")", "from m import list\nx = list(sorted(f(y)))\n"),
    ("def g(list):\n    return list(f(y))\n", "f(y)", "sorted(", ")", "def g(list):\n    return list(sorted(f(y)))\n"),
]


@pytest.mark.parametrize(("text", "code", "before", "after", "expected"), WRAP)
def test_an_expression_is_wrapped(text: str, code: str, before: str, after: str, expected: str) -> None:
    assert fixed(text, [Wrap(place(text, code, cst.BaseExpression), before, after)]) == expected


REPLACE = [
    ("x = y\n", "y", "z", "x = z\n"),
    ("x = (y)\n", "y", "z", "x = z\n"),
    ("x = (y)\n", "y", "a + b", "x = (a + b)\n"),
    ("x = y * 2\n", "y", "a + b", "x = (a + b) * 2\n"),
    ("x = y\n", "y", "a + b", "x = a + b\n"),
    ("x = y * 2\n", "y", "4", "x = 4 * 2\n"),
    ("f(y)\n", "y", "a, b", "f((a, b))\n"),
    ("x = y.z\n", "y", "1", "x = (1).z\n"),
    ("if(y)in z: pass\n", "y", "a", "if a in z: pass\n"),
    ("np.random.seed(0)  # seed\n", "np.random.seed", "f", "f(0)  # seed\n"),
    ("x = (a\n     .b)\n", "a\n     .b", "c", "x = c\n"),
]


@pytest.mark.parametrize(("text", "code", "new", "expected"), REPLACE)
def test_an_expression_is_replaced(text: str, code: str, new: str, expected: str) -> None:
    assert fixed(text, [Replace(place(text, code, cst.BaseExpression), new)]) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = y\n", "x"),
        ("x.y = 1\n", "x.y"),
        ("del x\n", "x"),
        ("for x in y: pass\n", "x"),
        ("def f(a): pass\n", "a"),
        ("def f(a): pass\n", "f"),
        ("import a\n", "a"),
        ("import a as b\n", "a as b"),
        ("try: pass\nexcept A as b: pass\n", "b"),
        ("with a as b: pass\n", "b"),
        ("x: int = 1\n", "int"),
        ("f'{x}'\n", "x"),
        ("a, b = c\n", "b"),
        ("(a := b)\n", "a"),
        ("x = 1\n", "x = 1"),
    ],
)
def test_what_is_not_read_is_not_wrapped(text: str, code: str) -> None:
    assert refused(text, [Wrap(place(text, code, cst.CSTNode), "f(", ")")])


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("for x, *y in z: pass\n", "for x, *y in z: pass", "for x, *y in f(z): pass\n"),
        ("def f():\n    yield from a.b\n", "yield from a.b", "def f():\n    yield from f(a.b)\n"),
        (
            "def f():\n    yield from (x for x in y)\n",
            "yield from (x for x in y)",
            "def f():\n    yield from f(x for x in y)\n",
        ),
    ],
)
def test_what_a_statement_goes_over_is_wrapped(text: str, code: str, expected: str) -> None:
    assert fixed(text, [Wrap(place(text, code, cst.CSTNode), "f(", ")")]) == expected


def test_strings_that_stand_together_are_one() -> None:
    text = "x = 'a' 'b' 'c'\n"  # without parentheses, 'c' alone would be asked
    assert fixed(text, [Wrap(place(text, "'a' 'b' 'c'"), "", ".f()")]) == "x = ('a' 'b' 'c').f()\n"


def test_several_indices_are_no_expression() -> None:
    text = "x[a, b]\n"  # `x[f(a, b)]` would pass two arguments
    assert refused(text, [Wrap(place(text, "a", cst.SubscriptElement), "f(", ")")]) == "this is not an expression"


def test_a_wrap_that_is_there() -> None:
    text = "x = np.copy(y)\n"
    assert refused(text, [Wrap(place(text, "y", cst.Name), "np.copy(", ")")]) == "nothing is left to change"


def test_conflicts_are_refused() -> None:
    text = "x = y\n"
    assert refused(text, [Wrap(place(text, "y"), "f(", ")"), Wrap(place(text, "y"), "g(", ")")])
    assert refused(text, [Replace(place(text, "y"), "a"), Replace(place(text, "y"), "b")])
    assert refused(text, [Replace(place(text, "y"), "a"), Wrap(place(text, "y"), "f(", ")")])


def test_equal_intents_count_once() -> None:
    text = "x = y\n"
    wrap = Wrap(place(text, "y"), "f(", ")")
    assert fixed(text, [wrap, wrap]) == "x = f(y)\n"


def test_what_does_not_parse_is_refused() -> None:
    text = "x = y\n"
    assert refused(text, [Replace(place(text, "y"), "a b")])
    assert refused(text, [Replace(place(text, "x = y", cst.Assign), "x = = y")])
