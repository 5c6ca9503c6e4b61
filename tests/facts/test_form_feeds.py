"""Form feeds in an indentation, which reset it for Python's tokenizer."""

from __future__ import annotations

import pytest

from loaderlint.facts.piece_facts import piece_facts
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.wrapping import is_indented


@pytest.mark.parametrize(
    "code",
    [
        "\x0cloader = DataLoader(data, num_workers=2)\n",
        "\x0cfrom torch.utils.data import DataLoader\n",
        "  \x0cdef build():\n    return DataLoader(data)\n",
        "\x0cclass Data:\n    def __len__(self):\n        return 1\n",
        "if debug:\n  \x0c    workers = 0\n\x0celse:\n    workers = 2\n",
    ],
)
def test_code_after_a_form_feed_is_read_as_without_it(code: str) -> None:
    found, without = (
        list(map(piece_facts, cut(text))) for text in (code, code.replace("  \x0c", "").replace("\x0c", ""))
    )
    assert None not in found
    assert [one and one.ir for one in found] == [one and one.ir for one in without]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", False),
        (" x", True),
        ("\tx", True),
        ("\x0cx", False),
        ("  \x0cx", False),
        ("\x0c x", True),
        ("  \x0c x", True),
    ],
)
def test_indentation(text: str, expected: bool) -> None:
    assert is_indented(text) == expected
