"""Lines that a fix makes too long."""

from __future__ import annotations

import pytest

from loaderlint.findings.finding import Replace, Wrap
from loaderlint.fixes.brackets import Width
from loaderlint.fixes.long_calls import Layout, on_few, on_one_each
from loaderlint.fixes.long_lines import broken_around
from tests.fixes.fixing import fixed, place

#: A call that is to be sorted, the longest line of the file, the line with it, and what becomes of that.
BROKEN = [
    # It fits.
    ("listed(a)", 21, "x = listed(a)", "x = sorted(listed(a))"),
    # What is sorted goes on a line of its own.
    ("listed(a)", 20, "xxxx = listed(a)", "xxxx = sorted(\n    listed(a)\n)"),
    ("listed(a)", 20, "    return listed(a)", "    return sorted(\n        listed(a)\n    )"),
    ("listed(a)", 20, "xxxx.y[0] = listed(a)", None),
    ("listed(a)", 21, "xxxx.y[0] = listed(a)", "xxxx.y[0] = sorted(\n    listed(a)\n)"),
    ("listed(a)", 22, "xxxx = listed(a)[:100]", "xxxx = sorted(\n    listed(a)\n)[:100]"),
    ("listed(a)", 24, "xxxx = listed(a)  # why", "xxxx = sorted(\n    listed(a)\n)  # why"),
    ("listed(a)", 24, "for x in listed(a):", "for x in sorted(\n    listed(a)\n):\n    pass"),
    # The outermost brackets around it.
    ("listed(a)", 24, "xxxx = called(listed(a))", "xxxx = called(\n    sorted(listed(a))\n)"),
    ("listed(a)", 32, "xxxx = [y for y in listed(a)]", "xxxx = [\n    y for y in sorted(listed(a))\n]"),
    ("listed(a)", 29, "xxxx = [y for y in listed(a)]", None),
    (
        "listed(a)",
        34,
        "xxxx = [y for y in listed(a) if y]",
        "xxxx = [\n    y\n    for y in sorted(listed(a))\n    if y\n]",
    ),
    (
        "listed(a)",
        32,
        "xxxx = f(y for y in listed(a))",
        "xxxx = f(\n    y for y in sorted(listed(a))\n)",
    ),
    ("listed(a)", 26, "for x, y in f(listed(a)):", "for x, y in f(\n    sorted(listed(a))\n):\n    pass"),
    # No brackets hold it: the last ones of the value, or parentheses around it.
    ("listed(a)", 24, "if x == listed(a):", "if x == sorted(\n    listed(a)\n):\n    pass"),
    ("listed(a)", 27, "xxxx = listed(a) + b", "xxxx = (\n    sorted(listed(a)) + b\n)"),
    ("listed(a)", 24, "xxxx = listed(a) + b", "xxxx = (\n    sorted(listed(a))\n    + b\n)"),
    ("listed(a)", 29, "xxxx = listed(a) + b  # why", "xxxx = (\n    sorted(listed(a)) + b\n)  # why"),
    ("listed(a)", 20, "xxxx = listed(a) + b", None),
    (
        "listed(a)",
        24,
        "if a:\n    pass\nelif b or listed(a):",
        "if a:\n    pass\nelif b or sorted(\n    listed(a)\n):\n    pass",
    ),
    ("listed(a)", 28, "xxxx = (b + listed(a))", "xxxx = (\n    b + sorted(listed(a))\n)"),
    ("listed(a)", 24, "xxxx = (b) + listed(a) - c", None),
    ("listed(a)", 24, "x = a[listed(a)]  # why", "x = a[\n    sorted(listed(a))\n]  # why"),
    # Or the line is no whole statement.
    ("listed(a)", 18, "x = 1; y = listed(a)", None),
    ("listed(a)", 20, "xxxx = f(\n    'long one' + listed(a)\n)", None),
    # A later line of a call is broken between its arguments; an argument that does not fit leaves it.
    ("listed(a)", 25, "xxxx = f(1,\n     2, y=listed(a))", "xxxx = f(1,\n     2,\n     y=sorted(listed(a)))"),
    (
        "listed(a)",
        24,
        "xxxx = f(\n    2, *listed(a), z=1,\n)",
        "xxxx = f(\n    2,\n    *sorted(listed(a)),\n    z=1,\n)",
    ),
    ("listed(a)", 20, "xxxx = f(\n    'long one', listed(a)\n)", None),
    ("listed(a)", 34, "xxxx = f(\n    yyyyyyyyyy=z or listed(a),\n)", None),
    ("listed(a)", 24, "xxxx = [\n    y, listed(a), z, w,\n]", None),
    # A comment for a tool is about the line.
    ("listed(a)", 24, "xxxx = listed(a)  # noqa", None),
    # Nothing would make it fit.
    ("listed_in(aaaaaaaa)", 20, "x = listed_in(aaaaaaaa)", None),
]


@pytest.mark.parametrize(("listing", "length", "line", "expected"), BROKEN)
def test_a_line_that_a_fix_makes_too_long_is_broken(listing: str, length: int, line: str, expected: str | None) -> None:
    head = "if a:\n" if line.startswith(" ") else ""
    text = f"{head}{line}\n" + ("    pass\n" if line.endswith(":") else "")
    if expected is None:
        expected = text.replace(listing, f"sorted({listing})").removesuffix("\n")
    else:
        expected = head + expected
    assert fixed(text, [Wrap(place(text, listing), "sorted(", ")")], length) == f"{expected}\n"


def test_the_files_own_lines_tell_how_long_one_may_become() -> None:
    line = f"names = listed({'a' * 60})\n"
    listing = f"listed({'a' * 60})"
    broken = f"names = sorted(\n    {listing}\n)\n"
    whole = f"names = sorted({listing})\n"
    for above, expected in (("", broken), (f"x = f({'b' * 80})\n", whole), (f"# {'-' * 90}\n", whole)):
        text = above + line
        assert fixed(text, [Wrap(place(text, listing), "sorted(", ")")]) == above + expected


def test_a_line_that_was_too_long_stays_one() -> None:
    text = "names = listed(aaaaaaaaaaaaaaa)\n"
    edited = fixed(text, [Wrap(place(text, "listed(aaaaaaaaaaaaaaa)"), "sorted(", ")")], 20)
    assert edited == "names = sorted(listed(aaaaaaaaaaaaaaa))\n"


def test_a_line_with_a_long_string_grows_no_longer_than_the_longest() -> None:
    name = "'" + "n" * 90 + "'"
    longest, line = f"x = g({name}, 10000000000)\n", f"y = listed({name})\n"
    text = longest + line
    wrap = [Wrap(place(text, f"listed({name})"), "sorted(", ")")]
    assert fixed(text, wrap) == f"{longest}y = sorted(listed({name}))\n"
    text = line
    assert (
        fixed(text, [Wrap(place(text, f"listed({name})"), "sorted(", ")")]) == f"y = sorted(\n    listed({name})\n)\n"
    )


def test_a_chain_is_broken_where_it_changes_and_elsewhere() -> None:
    text = "row = con.cursor().sort(b).first()  # why\r\n"
    lines = ["row = (", "    self.get_con()", "    .cursor()", "    .sort(b)", "    .first()", ")  # why", ""]
    assert fixed(text, [Replace(place(text, "con"), "self.get_con()")], 41) == "\r\n".join(lines)


def test_two_changes_of_a_line_are_held_by_one_pair_of_brackets() -> None:
    text = "pairs = zip(listed(a), listed(b))\nx, y = listed(a), listed(b)\n"
    wraps = [Wrap(place(text, f"listed({one})", number=n), "sorted(", ")") for one in "ab" for n in (0, 1)]
    expected = (
        "pairs = zip(\n    sorted(listed(a)), sorted(listed(b))\n)\n"
        "x, y = (\n    sorted(listed(a)),\n    sorted(listed(b)),\n)\n"
    )
    assert fixed(text, wraps, 40) == expected


ARGUMENTS = [
    (on_one_each, ["x = f(", "    sorted(a),", "    (b),", "    *c,", "    d=1,", ")"]),
    (on_few, ["x = f(", "    sorted(a), (b),", "    *c, d=1", ")"]),
]


@pytest.mark.parametrize(("layout", "expected"), ARGUMENTS)
def test_arguments_that_do_not_fit_together_are_laid_out_as_elsewhere(layout: Layout, expected: list[str]) -> None:
    line = "x = f(sorted(a), (b), *c, d=1)"
    assert broken_around(line, [(6, 13), (14, 15)], Width("", "    ", 20), layout) == expected
