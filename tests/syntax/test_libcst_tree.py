"""Pieces to trees."""

from __future__ import annotations

import threading

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaderlint.syntax import libcst_tree
from loaderlint.syntax.cutter import Kind, Piece, cut
from loaderlint.syntax.libcst_tree import ParsedPiece, parse_piece
from loaderlint.syntax.nesting_depth import measure
from loaderlint.syntax.positions import lossless


def parsed(text: str, kind: Kind = "statement", keyword: str = "") -> ParsedPiece | None:
    return parse_piece(Piece(kind, keyword, text, 0, 0, -1, 0))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("indent", ["", "    ", "\t", " \t "])
@pytest.mark.parametrize(
    ("text", "kind", "keyword", "node", "first_line"),
    [
        ("x = 1; y = 2\n", "statement", "", cst.SimpleStatementLine, 0),
        ("def f():\n@    pass\n", "statement", "", cst.FunctionDef, 0),
        ("@@a\n@async def f():\n@    pass", "statement", "", cst.FunctionDef, 0),
        ("class A(B):  # c\n", "class", "", cst.ClassDef, 0),
        ("@@a\n@class A:", "class", "", cst.ClassDef, 0),
        ("if a:\n", "clause", "if", cst.If, 0),
        ("elif a:  # c\n", "clause", "elif", cst.If, 2),
        ("else:\n", "clause", "else", cst.Else, 2),
        ("else: x = 1\n", "clause", "else", cst.Else, 2),
        ("for a in b:\n", "clause", "for", cst.For, 0),
        ("async for a in b:\n", "clause", "async for", cst.For, 0),
        ("while a:\n", "clause", "while", cst.While, 0),
        ("with (\n a as b\n):\n", "clause", "with", cst.With, 0),
        ("try:\n", "clause", "try", cst.Try, 0),
        ("try: x\n", "clause", "try", cst.Try, 0),
        ("except A as b:\n", "clause", "except", cst.ExceptHandler, 2),
        ("except* A:\n", "clause", "except", cst.ExceptStarHandler, 2),
        ("finally:", "clause", "finally", cst.Finally, 2),
    ],
)
def test_what_a_piece_stands_for(
    text: str, kind: Kind, keyword: str, node: type, first_line: int, indent: str, newline: str
) -> None:
    text = indent + text.replace("\n@", "\n" + indent).replace("@@", "@").replace("\n", newline)
    tree = parsed(text, kind, keyword)
    assert tree is not None
    assert type(tree.node) is node
    assert tree.first_line == first_line + bool(indent)
    assert tree.source[tree.start : tree.end] == text
    if newline != "\r":
        assert lossless(Piece(kind, keyword, text, 0, 0, -1, 0), tree)


@pytest.mark.parametrize(
    ("text", "kind", "keyword"),
    [
        ("x = = 1\n", "statement", ""),
        ("x = 'abc\n", "statement", ""),
        ("x = (\n", "statement", ""),
        ("@dec\n", "statement", ""),
        ("x = 1\n    y = 2\n", "statement", ""),
        ("def f():\n", "statement", ""),
        ("    x = 1\n  y = 2\n", "statement", ""),
        ("x = 1\ny = 2\n", "statement", ""),
        ("  x = 1\nelse:\n  y\n", "statement", ""),
        ("class A(:\n", "class", ""),
        ("class A: pass\n", "class", ""),
        ("if a\n", "clause", "if"),
        ("else: x = = 1\n", "clause", "else"),
        ("\0", "statement", ""),
        ("x = '\ud800'\n", "statement", ""),
        ("", "statement", ""),
    ],
)
def test_what_is_no_python_gives_nothing(text: str, kind: Kind, keyword: str) -> None:
    assert parsed(text, kind, keyword) is None


@settings(max_examples=300)
@given(st.text("abif:()[]{}\"'\\\n\r\t \x0c=.,@#*123\0ä", max_size=40))
def test_nothing_is_raised(text: str) -> None:
    for piece in cut(text):
        parse_piece(piece)


def test_deep_pieces_are_parsed_on_a_large_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(" " * depth + "if a:\n" for depth in range(30)) + " " * 30 + "pass\n"
    usual = threading.stack_size()
    sources = []
    large = libcst_tree._parse_on_large_stack
    monkeypatch.setattr(libcst_tree, "_parse_on_large_stack", lambda source: sources.append(source) or large(source))
    assert parsed(text) is not None
    assert sources == [text]
    assert threading.stack_size() == usual


def test_no_thread_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert parsed("".join(" " * depth + "if a:\n" for depth in range(30)) + " " * 30 + "pass\n") is None


def test_large_flat_code_is_not_deep() -> None:
    assert not measure("x = [\n" + "    (1.5, -2, 'a' 'b', f'{x}', a.b(c)),\n" * 5000 + "]\n").is_too_deep
    assert not measure("def f():\n" + "    x = a.b(c[1], [d for e in f], *g)  # del case ((((((((\n" * 2000).is_too_deep
    assert not measure('x = """\n' + "a + " * 1000 + "((((" * 100 + '"""\n').is_too_deep
    assert not measure("x = f'''\n" + "a + ( . {x} {{ {y:{z}}\n" * 500 + "'''\n").is_too_deep
