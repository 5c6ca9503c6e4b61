"""Bytes to text and back."""

from __future__ import annotations

import codecs
import encodings
import encodings.aliases
import pkgutil

import pytest

from loaderlint.syntax import source
from loaderlint.syntax.source import LineIndex, UnreadableSource, decode, find_newline, lines_of


@pytest.mark.parametrize(
    ("data", "text", "encoding", "newline", "oddities"),
    [
        (b"", "", "utf-8", "", ()),
        (b"x = 1\n", "x = 1\n", "utf-8", "\n", ()),
        ("x = 'ä𝒳'\r\n".encode(), "x = 'ä𝒳'\r\n", "utf-8", "\r\n", ()),
        (b"a\rb\r", "a\rb\r", "utf-8", "\r", ("line endings of old Mac OS",)),
        (b"a\nb\r\n", "a\nb\r\n", "utf-8", "mixed", ("mixed line endings",)),
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
        (b"# coding: nonsense\n\xe4", "unknown encoding nonsense, and not valid utf-8"),
        (b"# coding: rot13\n", "not a Python source encoding"),
        (b"# coding: hex\n", "not a Python source encoding"),
        (b"# coding: idna\n", "not a Python source encoding: idna; save the file as UTF-8"),
        (b"# coding: utf-16\n", "not a Python source encoding"),
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


@pytest.mark.parametrize("name", ["future_fstrings", "utf8-with-extras", "x" * 3_000, "-", "..", "a.b"])
def test_an_encoding_that_python_does_not_know_is_read_as_utf_8(name: str) -> None:
    data = f"# -*- coding: {name} -*-\nx = 'ä'\n".encode()
    found = decode(data)
    assert (found.text, found.encoding, found.unknown_encoding) == (data.decode(), "utf-8", name)
    assert found.oddities == (f"unknown encoding {name}",), "it is not fixed"
    assert not source.is_plain(data)


CODECS = sorted({*encodings.aliases.aliases.values(), *(one.name for one in pkgutil.iter_modules(encodings.__path__))})


@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("name", CODECS)
def test_every_codec_gives_text_or_says_why_not(name: str, bom: bytes) -> None:
    for body in (b"x = 1\n", b"x = '\\u0041 +AGE- xn--a ~{ \x1b$B'\n", b"'\xe4\xff\x80'\r", b"\x0c\n" * 50):
        data = bom + b"# coding: " + name.encode() + b"\n" + body
        try:
            found = decode(data)
        except UnreadableSource as error:
            assert str(error)
            continue
        assert found.text.startswith(f"# coding: {name}\n")
        if not found.oddities:
            assert found.encode(found.text) == data
