"""The source line and its carets."""

from __future__ import annotations

import pytest

from loaderlint.report.text_format import excerpt


@pytest.mark.parametrize(
    ("line", "start", "end", "shown", "marks"),
    [
        ("x = bad", 4, 7, "x = bad", "    ^^^"),
        ("\tbad\t", 1, 4, "    bad", "    ^^^"),
        ("日本 bad", 3, 6, "日本 bad", "     ^^^"),
        ("日本", 0, 1, "日本", "^^"),
        ("e\u0301 bad", 3, 6, "e\u0301 bad", "  ^^^"),
        ("a\x1b[31m bad", 7, 10, "a?[31m bad", "       ^^^"),
        ("a\x0cbad", 2, 5, "a?bad", "  ^^^"),
        ("bad", 0, 0, "bad", "^"),
        ("bad", 3, 3, "bad", "   ^"),
        ("bad", 9, 12, "bad", "   ^"),
    ],
)
def test_carets_stand_under_the_place(line: str, start: int, end: int, shown: str, marks: str) -> None:
    assert excerpt(line, start, end, 100) == (shown, marks)


def test_a_long_line_is_cut_around_the_place() -> None:
    line = "a" * 500 + "bad" + "c" * 500
    shown, marks = excerpt(line, 500, 503, 80)
    assert shown == "..." + "a" * 40 + "bad" + "c" * 34 + "..."
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "bad"


def test_a_long_line_with_an_early_place_keeps_its_start() -> None:
    shown, marks = excerpt("bad" + "c" * 500, 0, 3, 80)
    assert shown == "bad" + "c" * 77 + "..."
    assert marks == "^^^"
