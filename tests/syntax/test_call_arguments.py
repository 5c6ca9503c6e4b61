"""The places of the arguments of a call."""

from __future__ import annotations

import pytest

from loaderlint.syntax.call_arguments import argument_span
from loaderlint.syntax.span import Span

TEXT = """size = 1
a = Loader(é, merge=é)
b = Loader(
    data,
    merge=[
        1,
    ],  # a comment
    size=size,
)
"""
ONE, SEVERAL = Span(1, 4, 1, 22), Span(2, 4, 8, 1)


@pytest.mark.parametrize(
    ("call", "keyword", "span"),
    [
        (ONE, "merge", Span(1, 14, 1, 21)),
        (SEVERAL, "merge", Span(4, 4, 6, 5)),
        (SEVERAL, "size", Span(7, 4, 7, 13)),
    ],
)
def test_a_keyword_argument_is_found(call: Span, keyword: str, span: Span) -> None:
    assert argument_span(TEXT, call, keyword) == span


@pytest.mark.parametrize(
    ("text", "call", "keyword"),
    [
        (TEXT, ONE, "size"),
        (TEXT, Span(0, 0, 0, 4), "size"),
        ("f(a=1, a=2)", Span(0, 0, 0, 11), "a"),
        ("f(a=", Span(0, 0, 0, 4), "a"),
        (TEXT, Span(20, 0, 20, 4), "merge"),
    ],
)
def test_what_is_no_such_call_has_no_place(text: str, call: Span, keyword: str) -> None:
    assert argument_span(text, call, keyword) is None
