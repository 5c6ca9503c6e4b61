"""Lines of new functions and methods that would be too long."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import InsertMethod
from loaderlint.fixes.long_calls import broken_call, comment_above, on_few
from tests.fixes.fixing import fixed, place

BROKEN = [
    ("    x = f(a, g(b), k=c)", 22, ["    x = f(", "        a, g(b), k=c", "    )"]),
    ("x = f(a, g(b), k=c)", 12, ["x = f(", "    a,", "    g(b),", "    k=c,", ")"]),
    ("return f(*a, **b)", 10, ["return f(", "    *a,", "    **b,", ")"]),
    ("f(a)(b, c)", 7, ["f(a)(", "    b,", "    c,", ")"]),
    ('f(a, ")(")', 9, ["f(", "    a,", '    ")(",', ")"]),
]


@pytest.mark.parametrize(("line", "length", "expected"), BROKEN)
def test_a_long_call_is_broken(line: str, length: int, expected: list[str]) -> None:
    assert broken_call(line, length) == expected


FILLED = [
    ("x = f(a, g(b), k=c)", 14, ["x = f(", "    a, g(b),", "    k=c", ")"]),
    ("x = f(a, g(b), k=c)", 12, ["x = f(", "    a, g(b),", "    k=c", ")"]),
    ("x = f(a, g(b), k=c)", 11, ["x = f(", "    a,", "    g(b),", "    k=c", ")"]),
    ("    return f(*a, **b)", 14, ["    return f(", "        *a,", "        **b", "    )"]),
    ("f(longer_than_a_line, b)", 10, ["f(", "    longer_than_a_line,", "    b", ")"]),
    ("x = f(a, g(b), k=c)", 18, ["x = f(", "    a, g(b), k=c", ")"]),
]


@pytest.mark.parametrize(("line", "length", "expected"), FILLED)
def test_a_long_call_may_have_several_arguments_on_a_line(line: str, length: int, expected: list[str]) -> None:
    assert broken_call(line, length, on_few) == expected


@pytest.mark.parametrize(
    "line",
    [
        "f()",
        "x = f(a) + g(b)",
        "x = (a, b)",
        "if f(a):",
        "with f(a) as b:",
        '"""Prose that ends so (a)"""',
        "Prose (that is, a word)",
        "# f(a, b)",
        "f(a, b)  # c",
        "f(x for x in y)",
        "f('é', b)",
        "f(a); g(b)",
    ],
)
def test_other_lines_stay(line: str) -> None:
    assert broken_call(line, 4) == [line]


def test_a_method_keeps_to_the_lines_of_its_file() -> None:
    text = "class A:\n    pass\n"
    names = ", ".join(f"argument_{number}" for number in range(5))
    intent = InsertMethod(
        place(text, "class A", cst.ClassDef), "f", f"def {{name}}(self):\n    return gathered({names})"
    )
    expected = f"class A:\n    pass\n\n    def f(self):\n        return gathered(\n            {names}\n        )\n"
    assert fixed(text, [intent]) == expected


_GATHER = "def {name}(self):\n    return gathered(" + ", ".join(f"argument_{number}" for number in range(8)) + ")"
_ONE_EACH = "".join(f"            argument_{number},\n" for number in range(8))
_FILLED_LINES = (
    "            argument_0, argument_1, argument_2, argument_3, argument_4,\n"
    "            argument_5, argument_6, argument_7\n"
)


@pytest.mark.parametrize(
    ("body", "length", "lines"),
    [
        ("    x = f(a,\n          b)\n", None, _FILLED_LINES),
        ("    x = f(\n        a,\n        b\n    )\n", None, _FILLED_LINES),
        ("    x = [\n        a,\n        b,\n    ]\n", None, _FILLED_LINES),
        # The file has one argument on each line, as formatters write them.
        ("    x = f(\n        a,\n        b,\n    )\n", None, _ONE_EACH),
        ("    x = f(\n        a,\n        b,  # why\n    )\n", None, _ONE_EACH),
        # The project has a formatter; one that did not format this file, or only checks it.
        ("    x = f(a)\n", 79, _ONE_EACH),
        ("    x = f(a,\n          b)\n", 79, _FILLED_LINES),
        ('    """As in f(a,\n    b)."""\n', 79, _ONE_EACH),
    ],
)
def test_a_long_call_is_broken_as_those_of_its_file(body: str, length: int | None, lines: str) -> None:
    text = f"class A:\n{body}"
    edited = fixed(text, [InsertMethod(place(text, "class A", cst.ClassDef), "f", _GATHER)], length)
    assert f"        return gathered(\n{lines}        )\n" in edited


ABOVE = [
    ("    x = y  # why", ("    # why", "    x = y")),
    ('x["a"] = None  # why', ("# why", 'x["a"] = None')),
    ("    # why", None),
    ("x = '# no comment'", None),
    ('x = "a  # no comment"', None),
    ("x = y", None),
]


@pytest.mark.parametrize(("line", "expected"), ABOVE)
def test_a_comment_goes_above_its_line(line: str, expected: tuple[str, str] | None) -> None:
    assert comment_above(line) == expected


@pytest.mark.parametrize(
    ("length", "lines"),
    [
        (60, "        x = gathered(argument)  # why\n"),
        (30, "        # why\n        x = gathered(argument)\n"),
        (26, "        # why\n        x = gathered(\n            argument\n        )\n"),
    ],
)
def test_a_comment_goes_above_a_line_that_is_too_long(length: int, lines: str) -> None:
    text = "class A:\n    pass\n"
    source = "def {name}(self):\n    x = gathered(argument)  # why"
    edited = fixed(text, [InsertMethod(place(text, "class A", cst.ClassDef), "f", source)], length)
    assert edited.endswith(f"    def f(self):\n{lines}")
