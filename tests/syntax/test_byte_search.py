"""What is found in bytes without cutting: never less than the cutter sees."""

from __future__ import annotations

import pytest

from loaderlint.syntax.byte_search import bases, called, calls, entry, imported, words
from loaderlint.syntax.source import decode, is_plain


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("class A(Base): pass", "Base"),
        ("class A(Base):", "Base"),
        ("if x:\n    class A(lib.Base, metaclass=Meta):  # why\n        pass\n", "Meta"),
        ("class A(\n    One,  # a (comment\n    Base[int],\n):\n    pass\n", "Base"),
        ("class A(make(x)(y), Base):\r\n    pass\r\n", "Base"),
        ("class A[T: (int, str)](Base):\n    pass\n", "Base"),
        ("class A(" + "x, " * 3_000 + "Late): pass\nclass B(Base):\n    pass\n", "x"),
    ],
)
def test_the_bases_of_classes_are_found(text: str, word: str) -> None:
    assert word.encode() in bases(text.encode())


def test_imports_of_modules_with_broken_names_are_read() -> None:
    """Such a file is no UTF-8 and cannot be checked: here its bytes are searched nevertheless."""
    assert imported(b"import .\xefb\nimport \xefc\n") == {".\ufffdb", "\ufffdc"}


def test_words_elsewhere_are_no_bases() -> None:
    text = "from a import Base\n\n\nclass A:\n    x = Base\n\n\nclass B(A):\n    y = Base()\n"
    assert bases(text.encode()) == {b"A"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("load(x)", True),
        ("y = a.load (x)", True),
        ("load(load2(x))", True),
        ("def f(): load()", True),
        ("é = load(é)", True),
        ("load", False),
        ("load  (x)", False),
        ("def load(x): ...", False),
        ("    async def load (x): ...", False),
        ("preload(x)", False),
        ("_load(x)", False),
        ("éload(x)", False),
        ("loader(x)", False),
        ("def load(x): ...\nload(1)", True),
    ],
)
def test_a_call_is_a_whole_name_before_a_bracket(text: str, found: bool) -> None:
    assert calls(text, "load") == found
    assert (entry("load") in called(text.encode())) == found


def test_a_word_is_in_the_index_of_all_words_where_it_is_in_the_bytes() -> None:
    index = words("import torch.utils\nx = 'nüll' + _y2(1)\r\n".encode())
    assert all(word.encode() in index for word in ("torch", "utils", "til", "nüll", "_y2", "2", "x"))
    assert not any(word in index for word in (b"torchutils", b".", b"(", b"'"))


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        (b"x = 1\n", True),
        ("x = 'é'\n".encode(), True),
        (b"# -*- coding: utf-8 -*-\n", True),
        (b"\xef\xbb\xbfx = 1\n", True),
        ("x = 'é'\n".encode("latin-1"), False),
        (b"# coding: latin-1\n", False),
        (b"# coding: nonsense\n", False),
        (b"x\0", False),
        ("x = 1\n".encode("utf-16"), False),
    ],
)
def test_what_is_called_plain_can_be_decoded(data: bytes, plain: bool) -> None:
    assert is_plain(data) == plain
    if plain:
        decode(data)
