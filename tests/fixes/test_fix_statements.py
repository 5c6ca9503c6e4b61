"""Inserting, replacing and deleting statements."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import DeleteStatement, InsertStatement, Place, Replace, Wrap
from tests.fixes.fixing import PATH, fixed, place, refused

DELETE = [
    ("a()\nb()\nc()\n", "b()", "a()\nc()\n"),
    ("a()\nb()", "b()", "a()\n"),
    ("def f():\n    a()\n    b()\n", "b()", "def f():\n    a()\n"),
    ("def f():\n    b()\n", "b()", "def f():\n    pass\n"),
    ("def f(): b()\n", "b()", "def f(): pass\n"),
    ("if x: b()  # c\n", "b()", "if x: pass  # c\n"),
    ("class A:\n    b()\n", "b()", "class A:\n    pass\n"),
    ("class A:\n    a = 1\n    b()\n", "b()", "class A:\n    a = 1\n"),
    ("a(); b()\n", "b()", "a()\n"),
    ("b(); a()\n", "b()", "a()\n"),
    ("a(); b(); c()  # d\n", "b()", "a(); c()  # d\n"),
    ("a(); b();\n", "b()", "a();\n"),
    ("if x: b(); c()\n", "b()", "if x: c()\n"),
    ("# above\nb()  # beside\n# below\nc()\n", "b()", "# above\n# beside\n# below\nc()\n"),
    ("def f():\n    b()  # why\n    c()\n", "b()", "def f():\n    # why\n    c()\n"),
    ("b()  # noqa: X\nc()\n", "b()", "c()\n"),
    ("a()\r\nb()\r\nc()\r\n", "b()", "a()\r\nc()\r\n"),
    ("def f():\n\tif x:\n\t\tb()\n\t\tc()\n", "b()", "def f():\n\tif x:\n\t\tc()\n"),
    ("try:\n    b()\nexcept E:\n    pass\n", "b()", "try:\n    pass\nexcept E:\n    pass\n"),
    ("b(\n    1,\n)\nc()\n", "b(\n    1,\n)", "c()\n"),
    ("b() ;\nc()\n", "b()", "c()\n"),
]


@pytest.mark.parametrize(("text", "code", "expected"), DELETE)
def test_a_statement_is_deleted(text: str, code: str, expected: str) -> None:
    assert fixed(text, [DeleteStatement(place(text, code, cst.BaseSmallStatement))]) == expected


def test_a_statement_line_is_deleted() -> None:
    assert fixed("a()\nb()\n", [DeleteStatement(Place(PATH, 1, -1))]) == "a()\n"


def test_compound_statements_are_not_deleted() -> None:
    text = "if x:\n    pass\n"
    assert "simple statement" in refused(text, [DeleteStatement(place(text, "if x", cst.If))])


def test_the_only_statement_of_a_long_block() -> None:
    body = "".join(f"    a{number}()\n" for number in range(40))
    text = f"if x:\n{body}else:\n    b()\n"
    expected = f"if x:\n{body}else:\n    pass\n"
    assert fixed(text, [DeleteStatement(place(text, "b()", cst.Expr))]) == expected


AFTER = [
    ("a()\n", "a()", "a()\nnew()\n"),
    ("a()", "a()", "a()\nnew()"),
    ("a()  # c\nb()\n", "a()", "a()  # c\nnew()\nb()\n"),
    ("def f():\n    a()\n    b()\n", "a()", "def f():\n    a()\n    new()\n    b()\n"),
    ("def f():\n    a()\n", "a()", "def f():\n    a()\n    new()\n"),
    ("a(\n  1,\n)\n", "a(\n  1,\n)", "a(\n  1,\n)\nnew()\n"),
    ("if a():\n    b()\n# c\nd()\n", "a()", "if a():\n    b()\nnew()\n# c\nd()\n"),
    (
        "if x:\n    b()\nelif a():\n    c()\nelse:\n    d()\n",
        "a()",
        "if x:\n    b()\nelif a():\n    c()\nelse:\n    d()\nnew()\n",
    ),
    ("if __name__ == '__main__':\n  a()\n", "a()", "if __name__ == '__main__':\n  a()\n  new()\n"),
    (
        "class A:\n\tdef f(self):\n\t\ta()\n\n\tb = 1\n",
        "a()",
        "class A:\n\tdef f(self):\n\t\ta()\n\t\tnew()\n\n\tb = 1\n",
    ),
    ("a()\r\nb()\r\n", "a()", "a()\r\nnew()\r\nb()\r\n"),
    (
        "async def f():\n    async with a():\n        pass\n    b()\n",
        "a()",
        "async def f():\n    async with a():\n        pass\n    new()\n    b()\n",
    ),
]


@pytest.mark.parametrize(("text", "code", "expected"), AFTER)
def test_a_statement_is_inserted_after(text: str, code: str, expected: str) -> None:
    intent = InsertStatement(place(text, code, cst.BaseExpression), "new()")
    assert fixed(text, [intent]) == expected
    assert refused(expected, [InsertStatement(place(expected, code, cst.BaseExpression), "new()")])


BEFORE = [
    ("a()\n", "a()", "new()\na()\n"),
    ("# c\na()", "a()", "new()\n# c\na()"),
    ("b()\n\n# c\n# d\na()", "a()", "b()\n\nnew()\n# c\n# d\na()"),
    ("def f():\n    a()\n", "a()", "def f():\n    new()\n    a()\n"),
    ("@a()\ndef f():\n    pass\n", "a()", "new()\n@a()\ndef f():\n    pass\n"),
    ("@a()\nclass A:\n    x = 1\n", "a()", "new()\n@a()\nclass A:\n    x = 1\n"),
    ("def f():\n    @a()\n    def g(): pass\n", "a()", "def f():\n    new()\n    @a()\n    def g(): pass\n"),
]


@pytest.mark.parametrize(("text", "code", "expected"), BEFORE)
def test_a_statement_is_inserted_before(text: str, code: str, expected: str) -> None:
    intent = InsertStatement(place(text, code, cst.BaseExpression), "new()", "before")
    assert fixed(text, [intent]) == expected
    assert refused(expected, [InsertStatement(place(expected, code, cst.BaseExpression), "new()", "before")])


def test_a_statement_after_a_class() -> None:
    text = "class A:\n    x = 1\n    def f(self):\n        pass\n\nb()\n"
    intent = InsertStatement(Place(PATH, 0, -1), "new()")
    assert fixed(text, [intent]) == "class A:\n    x = 1\n    def f(self):\n        pass\nnew()\n\nb()\n"


def test_a_statement_after_and_before_a_long_block() -> None:
    body = "".join(f"    a{number}()\n" for number in range(40))
    text = f"if x:\n{body}else:\n    b()\nc()\n"
    here = place(text, "x", cst.Name)
    assert fixed(text, [InsertStatement(here, "new()")]) == f"if x:\n{body}else:\n    b()\nnew()\nc()\n"
    assert fixed(text, [InsertStatement(here, "new()", "before")]) == f"new()\n{text}"
    inside = InsertStatement(place(text, "b()", cst.Expr), "new()")
    assert fixed(text, [inside]) == f"if x:\n{body}else:\n    b()\n    new()\nc()\n"


def test_lines_take_the_indentation_of_the_file() -> None:
    text = "def f():\n\tx = 1\n\ta()\n"
    intent = InsertStatement(place(text, "a()"), "for x in y:\n    if x:\n        b()\n\n    c()")
    assert fixed(text, [intent]) == "def f():\n\tx = 1\n\ta()\n\tfor x in y:\n\t\tif x:\n\t\t\tb()\n\n\t\tc()\n"
    text = "if x:\n  a()\n"
    intent = InsertStatement(place(text, "a()"), "if x:\n    b()")
    assert fixed(text, [intent]) == "if x:\n  a()\n  if x:\n    b()\n"


@pytest.mark.parametrize("text", ["if x: a()\n", "a(); b()\n", "b(); a()\n", "if x: pass\nelse: a()\n"])
def test_lines_with_more_on_them_are_refused(text: str) -> None:
    assert refused(text, [InsertStatement(place(text, "a()"), "new()")])


def test_two_statements_at_one_place_keep_their_order() -> None:
    text = "a()\n"
    intents = [InsertStatement(place(text, "a()"), "one()"), InsertStatement(place(text, "a()"), "two()")]
    assert fixed(text, intents) == "a()\none()\ntwo()\n"


def test_insert_and_delete_side_by_side() -> None:
    text = "a()\nb()\n"
    intents = [InsertStatement(place(text, "a()"), "new()"), DeleteStatement(place(text, "b()", cst.Expr))]
    assert fixed(text, intents) == "a()\nnew()\n"


def test_a_change_in_what_is_deleted_is_refused() -> None:
    text = "a(b)\nc()\n"
    intents = [DeleteStatement(place(text, "a(b)", cst.Expr)), Wrap(place(text, "b", cst.Name), "f(", ")")]
    assert "overlap" in refused(text, intents)


REPLACE = [
    ("a()\nb()\n", "a()", cst.Expr, "c()", "c()\nb()\n"),
    ("a()  # c\n", "a()", cst.Expr, "c()", "c()  # c\n"),
    ("a(); b()\n", "a()", cst.Expr, "c()", "c(); b()\n"),
    ("def f():\n    a()\n", "a()", cst.Expr, "if x:\n    b()", "def f():\n    if x:\n        b()\n"),
    ("@d\ndef f():\n    a()\n\nx()\n", "def f", cst.FunctionDef, "def f():\n    b()", "def f():\n    b()\n\nx()\n"),
    ("if x:\r\n\ta()\r\n", "a()", cst.Expr, "if y:\n    b()", "if x:\r\n\tif y:\r\n\t\tb()\r\n"),
]


@pytest.mark.parametrize(("text", "code", "kind", "new", "expected"), REPLACE)
def test_a_statement_is_replaced(text: str, code: str, kind: type[cst.CSTNode], new: str, expected: str) -> None:
    assert fixed(text, [Replace(place(text, code, kind), new)]) == expected


def test_more_lines_for_one_of_several_statements_are_refused() -> None:
    text = "a(); b()\n"
    assert refused(text, [Replace(place(text, "a()", cst.Expr), "c()\nd()")])
    text = "if x: a()\n"
    assert refused(text, [Replace(place(text, "a()", cst.Expr), "c()\nd()")])
