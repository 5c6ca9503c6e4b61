"""Bytes to text and back."""

from __future__ import annotations

import codecs

import pytest

from loaderlint.syntax import source
from loaderlint.syntax.source import LineIndex, UnreadableSource, decode, find_newline, lines_of


@pytest.mark.parametrize(
    ("data", "text", "encoding", "newline", "oddities"),
    [
        (b"", "", "utf-8", "", ()),
        (b"x = 1\n", "x = 1\n", "utf-8", "\n", ()),
        ("x = 'ä𝒳'\r\n".encode(), "x = 'ä𝒳'\r\n", "utf-8", "\r\n", ()),
        (b"a\rb\r", "a\rb\r", "utf-8", "\r", ("line ends of old Mac OS",)),
        (b"a\nb\r\n", "a\nb\r\n", "utf-8", "mixed", ("mixed line ends",)),
        (b"a\x0c\n", "a\x0c\n", "utf-8", "\n", ("form feed",)),
        (codecs.BOM_UTF8 + b"a\n", "a\n", "utf-8", "\n", ("byte order mark",)),
        (b"# -*- coding: latin-1 -*-\n'\xe4'\n", "# -*- coding: latin-1 -*-\n'ä'\n", "iso8859-1", "\n", ()),
        (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, "cp1252", "\n", ()),
        (b"\n\n# coding: latin-1\n", "\n\n# coding: latin-1\n", "utf-8", "\n", ()),
        (b"x = 1\n# coding: latin-1\n", None, "utf-8", "\n", ()),
        (codecs.BOM_UTF8 + b"# coding: utf8\n", "# coding: utf8\n", "utf-8", "\n", ("byte order mark",)),
    ],
)
def test_decode(data: bytes, text: str | None, encoding: str, newline: str, oddities: tuple[str, ...]) -> None:
    found = decode(data)
    assert text is None or found.text == text
    assert (found.encoding, found.newline, found.oddities) == (encoding, newline, oddities)
    assert found.bom == data.startswith(codecs.BOM_UTF8)
    assert found.encode(found.text) == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\0b", "binary"),
        ("x = 1".encode("utf-16"), "UTF-16"),
        ("x = 1".encode("utf-32"), "UTF-32"),
        (b"# coding: nonsense\n", "unknown encoding: nonsense"),
        (b"# coding: rot13\n", "no encoding"),
        (b"# coding: hex\n", "no encoding"),
        (b"# coding: utf-16\n", "no encoding"),
        (b"x = 1\ny = '\xe4'\n", "byte 0xe4 on line 2"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "the byte order mark says UTF-8"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableSource, match=message):
        decode(data)


def test_large_files_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 10)
    assert decode(b"x" * 10).text == "x" * 10
    with pytest.raises(UnreadableSource, match="too large: 11 bytes, the limit is 10"):
        decode(b"x" * 11)


def test_a_sign_that_the_encoding_does_not_have_is_an_error_not_a_question_mark() -> None:
    with pytest.raises(UnicodeEncodeError):
        decode(b"# coding: latin-1\n").encode("𝒳")


@pytest.mark.parametrize(("text", "newline"), [("", ""), ("a\n", "\n"), ("\r\n\r\n", "\r\n"), ("\r\r\n", "mixed")])
def test_find_newline(text: str, newline: str) -> None:
    assert find_newline(text) == newline


def test_only_three_line_ends_count() -> None:
    index = LineIndex("a\x0b\x0c\x1c\x85\u2028b\r\nc\rd\n")
    assert [index.line_start(line) for line in range(5)] == [0, 9, 11, 13, 13]
    assert index.position(8) == (0, 8)
    assert index.position(-1) == (0, 0)
    assert index.position(99) == (3, 0)
    assert index.offset(0, 99) == 9


def test_lines_without_their_ends() -> None:
    assert lines_of("a\x0cb\r\nc\rd\n") == ["a\x0cb", "c", "d"]
    assert lines_of("a\n\nb") == ["a", "", "b"]
    assert lines_of("") == []
