"""Anchors to places, and edits."""

from __future__ import annotations

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaderlint.syntax.cutter import Piece, cut
from loaderlint.syntax.libcst_tree import ParsedPiece, parse_piece
from loaderlint.syntax.positions import Span, TextEdit, apply_edits, generate, lossless, spans
from loaderlint.syntax.source import LineIndex


def parsed(text: str, index: int = 0) -> tuple[Piece, ParsedPiece]:
    piece = cut(text)[index]
    tree = parse_piece(piece)
    assert tree is not None
    return piece, tree


def marked(text: str, name: str, index: int = 0) -> list[str]:
    """What stands at the places of all names `name` in a piece."""
    piece, tree = parsed(text, index)
    lines = LineIndex(piece.text)
    found = spans(tree, dict(enumerate(names(tree, name)))).values()
    return [piece.text[lines.offset(*span[:2]) : lines.offset(*span[2:])] for span in found]


def names(tree: ParsedPiece, name: str) -> list[cst.CSTNode]:
    nodes = generate(tree.module).nodes
    return [node for node in nodes if isinstance(node, cst.Name) and node.value == name]


@pytest.mark.parametrize(
    "text",
    [
        "x = 'äöü𝒳', wanted\n",
        "x = '\t', \twanted\n",
        "x = f(\r\n  wanted)\r\n",
        "x = (1, # 𝒳\n\twanted)\n",
        "if 1: x = '''a\r\nb''' + wanted\r\n",
        "x = [\n\n  # c\n  wanted]",
        "x = 1; y = 2; wanted\n",
        "x = \\\n  wanted\n",
        "def f():\n    a\n    \x0c\n    wanted\n",
        "def f():\n    a\n\x0c\n    wanted\n",
        "def f():\n    a \x0c+ wanted\n",
        "x = '\x0c' + wanted\n",
        "x = '\u2028\x85\x0b\x1c', wanted\n",
    ],
)
def test_a_name_is_found_where_it_stands(text: str) -> None:
    assert marked(text, "wanted") == ["wanted"]


def test_places_in_nested_pieces_have_the_columns_of_the_file() -> None:
    text = "class A:\n    class B:\n        def f(self, a):\n            return a\n"
    piece, tree = parsed(text, 2)
    assert piece.line == 2
    assert spans(tree, {0: tree.node}) == {0: Span(0, 8, 1, 20)}


@pytest.mark.parametrize("clause", ["elif wanted:", "else: wanted", "except wanted:", "finally: wanted", "try: wanted"])
def test_places_in_clauses(clause: str) -> None:
    keyword = clause.split()[0].rstrip(":")
    piece = Piece("clause", keyword, f"  {clause}\n", 0, 0, 0, 0)
    tree = parse_piece(piece)
    assert tree is not None and lossless(piece, tree)
    column = piece.text.index("wanted")
    assert spans(tree, {7: names(tree, "wanted")[0]}) == {7: Span(0, column, 0, column + 6)}


def test_a_head_ends_where_its_text_ends() -> None:
    _, tree = parsed("class A:\n    x = 1\n")
    assert spans(tree, {0: tree.node}) == {0: Span(0, 0, 1, 0)}


def test_no_anchors_no_work() -> None:
    _, tree = parsed("x = 1\n")
    assert spans(tree, {}) == {}


def test_lossless_tells_when_the_tree_lost_something() -> None:
    assert lossless(*parsed("def f():\n    a\n"))
    piece, tree = parsed("def f():\n    a \x0c+ wanted\n")
    changed = tree._replace(module=cst.parse_module("def f():\n    b\n"))
    assert not lossless(piece, changed)
    assert not lossless(piece, tree._replace(end=tree.end - 1))


def test_a_tree_that_is_another_text_gives_the_whole_piece() -> None:
    _, tree = parsed("x = 1\ny = 2\n")
    other = cst.parse_module("x = 2\n")
    assert spans(tree._replace(module=other), {1: other.body[0]}) == {1: Span(0, 0, 1, 0)}


def test_a_name_is_found_behind_a_form_feed_that_was_lost() -> None:
    _, tree = parsed("x = \x0c1 + wanted\n")
    lossy = cst.parse_module("x = 1 + wanted\n")
    tree = tree._replace(module=lossy)
    assert spans(tree, {1: names(tree, "wanted")[0]}) == {1: Span(0, 9, 0, 15)}


def test_edits() -> None:
    text = "a\r\nbcd\ne"
    edits = [TextEdit(Span(1, 1, 1, 2), "XX"), TextEdit(Span(0, 0, 0, 0), "1"), TextEdit(Span(0, 0, 0, 0), "2")]
    assert apply_edits(text, edits) == "12a\r\nbXXd\ne"
    assert apply_edits(text, []) == text
    assert apply_edits(text, [TextEdit(Span(0, 1, 1, 0), " "), TextEdit(Span(2, 1, 2, 1), "!")]) == "a bcd\ne!"


@pytest.mark.parametrize("second", [Span(0, 1, 0, 3), Span(0, 3, 0, 2)])
def test_edits_that_overlap_are_refused(second: Span) -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", [TextEdit(Span(0, 0, 0, 2), ""), TextEdit(second, "")])


@given(st.text("ab\r\n\f𝒳"), st.data())
def test_lines_and_columns_there_and_back(text: str, data: st.DataObject) -> None:
    index = LineIndex(text)
    offset = data.draw(st.integers(0, len(text)))
    assert index.offset(*index.position(offset)) == offset
    lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert index.position(len(text))[0] == lines - 1
