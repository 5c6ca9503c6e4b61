"""Putting the rest of a module under a guard."""

from __future__ import annotations

import libcst as cst
import pytest

from loaderlint.findings.finding import EncloseRest, InsertStatement
from tests.fixes.fixing import fixed, place, refused

GUARDED = [
    ("a()\nb()\nc()\n", "b()", "a()\nif G:\n    b()\n    c()\n"),
    ("a()\nb()", "b()", "a()\nif G:\n    b()"),
    ("a()\r\nb()\r\nc()\r\n", "b()", "a()\r\nif G:\r\n    b()\r\n    c()\r\n"),
    (
        "a()\n\n# above\nb()  # beside\n\n# last\n",
        "b()",
        "a()\n\nif G:\n    # above\n    b()  # beside\n\n    # last\n",
    ),
    ("def f():\n\treturn 1\n\n\nb()\n", "b()", "def f():\n\treturn 1\n\n\nif G:\n\tb()\n"),
    ("b('''x\n y\n''')\nc()\n", "b('''x\n y\n''')", "if G:\n    b('''x\n y\n''')\n    c()\n"),
    ("b(f'''{x\n}\n''')\nc()\n", "b(f'''{x\n}\n''')", "if G:\n    b(f'''{x\n}\n''')\n    c()\n"),
    ("b('x\\\ny')\n", "b('x\\\ny')", "if G:\n    b('x\\\ny')\n"),
    ("b(\n    1,\n)\n", "b(\n    1,\n)", "if G:\n    b(\n        1,\n    )\n"),
    (
        "if x:\n    a()\nelse:\n    b()\nc()\n",
        "b()",
        "if G:\n    if x:\n        a()\n    else:\n        b()\n    c()\n",
    ),
    ("x = 1\n# x = 2\nb()\n", "b()", "x = 1\n# x = 2\nif G:\n    b()\n"),
    ("x = 1\n#x = 2\n# Then b.\nb()\n", "b()", "x = 1\n#x = 2\nif G:\n    # Then b.\n    b()\n"),
    ("x = 1\n# y = 2\nb()\n", "b()", "x = 1\nif G:\n    # y = 2\n    b()\n"),
    ("x = 1\n\n# x = 2\nb()\n", "b()", "x = 1\n\nif G:\n    # x = 2\n    b()\n"),
    ("b('\u2028')\nc()\n", "b('\u2028')", "if G:\n    b('\u2028')\n    c()\n"),
]


@pytest.mark.parametrize(("text", "code", "expected"), GUARDED)
def test_the_rest_is_enclosed(text: str, code: str, expected: str) -> None:
    assert fixed(text, [EncloseRest(place(text, code), "if G:")]) == expected


#: Statements that the guard makes too long for lines of 24 characters, and what becomes of them.
LONG = [
    ("xxxxx = called(aa, bbb)", "    xxxxx = called(\n        aa, bbb\n    )"),
    ("xxxxx = called(aa, bbbb)", "    xxxxx = called(\n        aa, bbbb\n    )"),
    ("called(aaaa).run(bbbbb)", "    called(aaaa).run(\n        bbbbb\n    )"),
    ("for x in called(aa, b):\n    c()", "    for x in called(\n        aa, b\n    ):\n        c()"),
    ("while x:\n    y = call(aa, bbb)", "    while x:\n        y = call(\n            aa, bbb\n        )"),
    ("x = called(1,\n     y=22, zzzz=3333)", "    x = called(1,\n         y=22,\n         zzzz=3333)"),
    # It fits.
    ("xxx = called(a, bbb)", "    xxx = called(a, bbb)"),
    # It was too long before, or nothing makes it fit, or a comment for a tool is about the line.
    ("xxxxxx = called(aaaa, bbb)", "    xxxxxx = called(aaaa, bbb)"),
    ("xxxxxxxxxxxxxxxx = aaaa", "    xxxxxxxxxxxxxxxx = aaaa"),
    ("xx = f(aa, b)  # noqa", "    xx = f(aa, b)  # noqa"),
    # Text in strings.
    ("x = '''\nf(aaaaaa, bbbbbbbbbbb)\n'''", "    x = '''\nf(aaaaaa, bbbbbbbbbbb)\n'''"),
]


@pytest.mark.parametrize(("code", "expected"), LONG)
def test_a_line_that_would_be_too_long_is_broken(code: str, expected: str) -> None:
    text = f"b()\n{code}\n"
    assert fixed(text, [EncloseRest(place(text, "b()"), "if G:")], 24) == f"if G:\n    b()\n{expected}\n"


def test_a_long_statement_is_enclosed_from_its_first_clause_on() -> None:
    body = "".join(f"    a{number}()\n" for number in range(40))
    text = f"x = 1\nif x:\n{body}else:\n    b()\n"
    expected = f"x = 1\nif G:\n    if x:\n{body.replace('    ', '        ')}    else:\n        b()\n"
    assert fixed(text, [EncloseRest(place(text, "b()"), "if G:")]) == expected


def test_cells_are_left_alone() -> None:
    text = "b()\n# %%\nc()\n"
    assert "cells" in refused(text, [EncloseRest(place(text, "b()"), "if G:")])


def test_what_does_not_parse_is_left_alone() -> None:
    text = "b()\ndef f(:\n    pass\n"
    assert refused(text, [EncloseRest(place(text, "b()"), "if G:")])


def test_another_change_in_the_rest_has_to_wait() -> None:
    text = "b()\nc()\nd()\n"
    inserted = InsertStatement(place(text, "c()", cst.Expr), "x()")
    assert "overlap" in refused(text, [EncloseRest(place(text, "b()"), "if G:"), inserted])
