"""Following places of an older text into a newer one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loaderlint.lsp.moved_diagnostics import Moved
from loaderlint.lsp.text_positions import split_lines
from loaderlint.syntax.span import Span

TEXT = "import numpy as np\n\nclass Data:\n    def draw(self):\n        return np.random.rand()\n"
#: The span of `np.random.rand()` in it.
DRAWN = Span(4, 15, 4, 31)


def moved(now: str, span: Span = DRAWN, was: str = TEXT) -> Span | None:
    return Moved(split_lines(was), split_lines(now))(span)


@pytest.mark.parametrize(
    ("old", "new", "lines", "columns"),
    [
        ("np\n\n", "np\nimport os\n\n", 1, 0),
        ("np\n\n", "np\n", -1, 0),
        ("return np", "return 1 + np", 0, 4),
        ("return ", "x = ", 0, -3),
        ("        return", "    return", 0, -4),
        ("rand()\n", "rand() + 1  # drawn\n", 0, 0),
        ("rand()\n", "rand()\n        # drawn\n", 0, 0),
        ("(self):\n        return", "(self): return", -1, 12),
        ("return np", "return \\\n  np", 1, -13),
    ],
)
def test_it_moves_with_what_it_speaks_of(old: str, new: str, lines: int, columns: int) -> None:
    assert old in TEXT
    line, column, end_line, end_column = DRAWN
    assert moved(TEXT.replace(old, new, 1)) == (line + lines, column + columns, end_line + lines, end_column + columns)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rand()", "randn()"),
        ("rand()", "rand"),
        ("np.random.rand()", "0"),
        ("        return np.random.rand()\n", ""),
        ("        return np", "        # return np"),
        ("return np", "return 'np"),
        ("return np", "return xnp"),
        ("return np", "returnnp"),
        ("rand()\n", "rand()if\n"),
    ],
)
def test_it_goes_with_what_it_speaks_of(old: str, new: str) -> None:
    assert old in TEXT
    assert moved(TEXT.replace(old, new, 1)) is None


def test_an_untouched_line_between_two_edits_stays() -> None:
    assert moved("import os\n" + TEXT + "x = 1\n") == DRAWN._replace(line=5, end_line=5)
    twice = TEXT + "        return np.random.rand()\n"
    assert moved("import os\n" + twice + "x = 1\n", was=twice) is None  # which of the two it is cannot be told
    loader = "a\nLoader(\n    data,\n)\nb\n"
    assert moved("\na\nLoader(\n    data,\n)\nB\n", Span(1, 0, 3, 1), loader) == (2, 0, 4, 1)
    assert moved("\na\nLoader(\n    DATA,\n)\nB\n", Span(1, 0, 3, 1), loader) is None


@pytest.mark.parametrize(("was", "now"), [("x\r", "x\r\n"), ("x\r\n", "x\r"), ("x\n", "x\r\n"), ("x\r\n", "x\n")])
def test_a_line_end_that_gets_another_sign_has_changed(was: str, now: str) -> None:
    assert moved(now, Span(0, 0, 1, 0), was) is None  # the line end belongs to it
    assert moved(now, Span(0, 0, 0, 1), was) == (0, 0, 0, 1)
    assert moved(now + "y", Span(1, 0, 1, 1), was + "y") == (1, 0, 1, 1)


#: Few characters, so that many lines are equal; all kinds of line ends.
_TEXTS = st.text(st.sampled_from("ab #(\n\r"), max_size=40)


@given(_TEXTS, _TEXTS, st.data())
def test_it_stands_on_the_same_text_inside_the_newer_one(was: str, now: str, data: st.DataObject) -> None:
    old, new = split_lines(was), split_lines(now)
    start, end = sorted((_place(old, data), _place(old, data)))
    span = Span(*start, *end)
    stands = Moved(old, new)(span)
    if stands is not None:
        assert stands.end_line < len(new)
        assert stands.column <= len(new[stands.line]) and stands.end_column <= len(new[stands.end_line])
        assert _at(new, stands) == _at(old, span)
    if was == now:
        assert stands == span


@given(_TEXTS, st.lists(st.sampled_from(["a\n", "#\n", "\n"]), min_size=1), st.data())
def test_new_lines_take_nothing_away(was: str, typed: list[str], data: st.DataObject) -> None:
    old = split_lines(was)
    at = data.draw(st.integers(0, len(old) - 1))
    line, column = _place(old, data)
    assume(column)
    assert Moved(old, [*old[:at], *typed, *old[at:]])(Span(line, 0, line, column)) is not None


def _place(lines: list[str], data: st.DataObject) -> tuple[int, int]:
    line = data.draw(st.integers(0, len(lines) - 1))
    return line, data.draw(st.integers(0, len(lines[line].rstrip("\r\n"))))


def _at(lines: list[str], span: Span) -> str:
    text = "".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return text[starts[span.line] + span.column : starts[span.end_line] + span.end_column]
