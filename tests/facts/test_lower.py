"""What snippets are lowered to, written out by `show`.

The tables are text files: `== name`, the source, `--`, the facts. In functions.txt the source is the body of a function
of `a`, `b` and `c`; in pieces.txt the name ends in the piece's kind and keyword."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from loaderlint.facts.dump import show
from loaderlint.facts.piece_facts import PieceFacts, lower
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import parse_piece

HERE = Path(__file__).parent


def lowered(text: str, kind: str = "statement", keyword: str = "") -> PieceFacts:
    parsed = parse_piece(Piece(kind, keyword, text, 0, 0, -1, len(text)))  # type: ignore[arg-type]
    assert parsed is not None, text
    return lower(parsed)


def function_text(name: str, source: str) -> str:
    """The facts of a function of a, b and c with the body `source`, without those of the piece's own body."""
    head = "async def" if any(word in source for word in ("async", "await")) else "def"
    facts = lowered(f"{head} f(a, b, c):\n" + textwrap.indent(source, "    "))
    return "\n".join(show(facts).split("\n")[2:])


def piece_text(name: str, source: str) -> str:
    """The facts of the piece `source`; `name` ends in `| kind keyword`."""
    kind, _, keyword = name.split(" | ")[1].partition(" ")
    return show(lowered(source, kind, keyword))


def table(name: str) -> list[tuple[str, str, str]]:
    found = []
    for case in (HERE / name).read_text().removeprefix("== ").split("\n== "):
        title, rest = case.split("\n", 1)
        source, expected = rest.split("\n--\n")
        found.append((title, source + "\n", expected.strip("\n")))
    return found


FUNCTIONS = table("functions.txt")
PIECES = table("pieces.txt")


@pytest.mark.parametrize(("name", "source", "expected"), FUNCTIONS, ids=[case[0] for case in FUNCTIONS])
def test_function(name: str, source: str, expected: str) -> None:
    assert function_text(name, source) == expected, name


@pytest.mark.parametrize(("name", "source", "expected"), PIECES, ids=[case[0] for case in PIECES])
def test_piece(name: str, source: str, expected: str) -> None:
    assert piece_text(name, source) == expected, name
