"""The server's copy of the editor's text is exact, whatever it contains and however it is edited."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from loaderlint.lsp.documents import Document, Documents
from loaderlint.lsp.text_positions import Encoding, split_lines, to_column, to_position, to_range, to_units

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
URI = "file:///project/a.py"
#: Characters at which `str.splitlines` splits, but the protocol does not.
NO_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def document(text: str) -> Document:
    return Documents().open(types.TextDocumentItem(uri=URI, language_id="python", version=1, text=text))


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(*start), types.Position(*end)), text=text
    )


def edited(text: str, *changes: types.TextDocumentContentChangePartial, encoding: Encoding = "utf-16") -> str:
    doc = document(text)
    for change in changes:
        doc.apply(change, encoding)
    assert doc.lines == split_lines(doc.text), "the lines are no longer those of the text"
    return doc.text


@pytest.mark.parametrize("sign", NO_LINE_ENDS)
def test_signs_that_end_no_line(sign: str) -> None:
    assert edited(f"a{sign}b\nc\n", partial((1, 0), (1, 1), "X")) == f"a{sign}b\nX\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_three_line_ends(newline: str) -> None:
    assert edited(newline.join("abc"), partial((1, 0), (2, 0), "X")) == f"a{newline}Xc"


def test_an_edit_that_splits_a_line_end() -> None:
    # Inserting a carriage return before a line feed makes one line end of two characters; deleting it leaves one of
    # one.
    assert split_lines(edited("a\nb", partial((0, 1), (0, 1), "\r"))) == ["a\r\n", "b"]
    assert split_lines(edited("a\r\nb", partial((0, 1), (1, 0), "\r"))) == ["a\r", "b"]
    assert split_lines(edited("a\rx\nb", partial((1, 0), (1, 1), ""))) == ["a\r\n", "b"]


def test_columns_beyond_the_end_of_a_line_mean_its_end() -> None:
    assert edited("ab\r\ncd\r\n", partial((0, 99), (0, 99), "X")) == "abX\r\ncd\r\n"
    assert edited("ab\r\ncd", partial((1, 99), (9, 9), "X")) == "ab\r\ncdX"
    assert edited("ab", partial((0, 2), (0, 3), "X")) == "abX"


def test_positions_beyond_the_text_mean_its_end() -> None:
    assert edited("ab\n", partial((5, 0), (7, 3), "X")) == "ab\nX"
    assert edited("", partial((0, 0), (0, 0), "X")) == "X"


def test_a_range_that_is_the_wrong_way_round() -> None:
    assert edited("abcd", partial((0, 3), (0, 1), "X")) == "aXd"


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_characters_of_several_units(encoding: Encoding, units: int) -> None:
    text = "x = '\U0001f600'  # BUG\n"
    assert edited(text, partial((0, 5), (0, 5 + units), "y"), encoding=encoding) == "x = 'y'  # BUG\n"


def test_a_position_in_the_middle_of_a_surrogate_pair_means_its_start() -> None:
    assert to_column("\U0001f600b", 1, "utf-16") == 0
    assert to_column("\U0001f600b", 2, "utf-16") == 1
    assert to_column("é", 1, "utf-8") == 0


def test_a_lone_surrogate_is_one_unit() -> None:
    assert to_units("\ud83dx", 2, "utf-16") == 2


def test_reading_a_position_does_not_change_it() -> None:
    position = types.Position(0, 99)
    to_position(["ab"], position, "utf-16")
    assert position == types.Position(0, 99)


def test_changes_of_one_notification_follow_each_other() -> None:
    assert edited("ab\n", partial((0, 0), (0, 0), "1\n"), partial((1, 0), (1, 1), "X")) == "1\nXb\n"


def test_a_whole_text() -> None:
    doc = document("old")
    doc.apply(types.TextDocumentContentChangeWholeDocument(text="new\ntext"), "utf-16")
    assert doc.lines == ["new\n", "text"]


def test_a_change_of_an_unknown_document_is_ignored() -> None:
    assert Documents().change(URI, 2, [types.TextDocumentContentChangeWholeDocument(text="x")]) is None


def test_one_file_under_two_spellings() -> None:
    documents = Documents()
    opened = documents.open(types.TextDocumentItem("file:///project/a%20b/%C3%A9.py", "python", 1, ""))
    assert documents.get("file:///project/a b/é.py") is opened
    assert documents.get("file:///project/c/../a%20b/%c3%a9.py") is opened


@pytest.mark.parametrize(
    ("uri", "language", "analysed"),
    [
        ("file:///a/b.py", "python", True),
        ("file:///a/b.py", "plaintext", True),
        ("file:///a/script", "python", True),
        ("file:///a/b.toml", "toml", False),
        ("untitled:Untitled-1", "python", False),
        ("git:/a/b.py?%7B%22ref%22%3A%22%22%7D", "python", False),
        ("vscode-notebook-cell:/a/b.ipynb#W0", "python", False),
        ("file:///a/\0b.py", "python", False),
        ("file://[/b.py", "python", False),
        ("", "python", False),
    ],
)
def test_which_documents_are_analysed(uri: str, language: str, analysed: bool) -> None:
    documents = Documents()
    assert documents.open(types.TextDocumentItem(uri, language, 1, "x")).analysed is analysed
    assert documents.get(uri) is not None


# --- against the definition -------------------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from("ab \r\n\u2028\x0cé\u20ac\U0001f600"), max_size=30)
PLACES = st.tuples(st.integers(0, 12), st.integers(0, 12))


def offset(text: str, line: int, units: int, encoding: Encoding) -> int:
    """The offset of a position, computed as in the specification."""
    ends = [match.span() for match in re.finditer(r"\r\n|\r|\n", text)]
    if line > len(ends):
        return len(text)
    start = ends[line - 1][1] if line else 0
    stop = ends[line][0] if line < len(ends) else len(text)
    codec = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    for position in range(start, stop):
        if len(text[start : position + 1].encode(codec[0])) // codec[1] > units:
            return position
    return stop


@settings(max_examples=400)
@given(TEXTS, st.lists(st.tuples(PLACES, PLACES, TEXTS), max_size=4), st.sampled_from(ENCODINGS))
def test_edits_do_what_the_specification_says(
    text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], encoding: Encoding
) -> None:
    doc = document(text)
    for start, end, new in edits:
        start, end = min(start, end), max(start, end)
        first, last = offset(text, *start, encoding), offset(text, *end, encoding)
        text = text[:first] + new + text[max(first, last) :]
        doc.apply(partial(start, end, new), encoding)
        assert doc.text == text
        assert doc.lines == split_lines(text)


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_columns_survive_the_way_to_the_client_and_back(text: str, encoding: Encoding) -> None:
    for line in split_lines(text):
        for column in range(len(line.rstrip("\r\n")) + 1):
            assert to_column(line, to_units(line, column, encoding), encoding) == column


def test_a_range_beyond_the_text_is_moved_to_its_end() -> None:
    class Far:
        line, column, end_line, end_column = 0, 1, 9, 9

    assert to_range(["ab\n", "c"], Far(), "utf-16") == types.Range(types.Position(0, 1), types.Position(1, 1))
