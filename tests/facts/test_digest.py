"""Edits that mean nothing keep the digest, edits that mean something change it."""

from __future__ import annotations

import pickle

import pytest

from loaderlint.facts.piece_facts import PieceFacts, lower
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import parse_piece


def lowered(text: str) -> PieceFacts:
    parsed = parse_piece(Piece("statement", "", text, 0, 0, -1, len(text)))
    assert parsed is not None, text
    return lower(parsed)


FUNCTION = """\
@wraps(g)
def f(self, index, *, seed=1):
    x = self.data[index]
    if x is None or seed > 2:
        return [0, 1.0], (x for x in y)
    for z in range(3):
        x += np.random.rand(z, size=(2,))
    with open("a") as file:
        self.cache[index] = {"k": file.read()}
    return lambda a: a + x
"""

SAME = [
    ("    if x", "    # a comment\n    if x"),
    ("x += ", "x  +=  "),
    ("range(3):", "range(3):  # three"),
    ("range(3):", "range(  3,\n  ):"),
    ("\n", "\n\n"),
    ('"a"', "'a'"),
    ('"a"', "('a')"),
    ("x is None", "(x is None)"),
    ("seed=1):\n", 'seed=1):\n    """What f does."""\n'),
    ("1.0", "1.00"),
    ("> 2", "> 0x2"),
    ("return [0", "return \\\n   [0"),
    ("    ", "\t"),
]

DIFFERENT = [
    ("wraps(g)", "wraps(h)"),
    ("def f", "def g"),
    ("def f", "async def f"),
    ("seed=1", "seed=True"),
    ("seed=1", "seed=1.0"),
    ("*, ", ""),
    ("x is None", "x is not None"),
    (" or ", " and "),
    ("> 2", ">= 2"),
    ("[0, 1.0]", "[0, 1]"),
    ("[0, 1.0]", "(0, 1.0)"),
    ("[0, 1.0]", "{0, 1.0}"),
    ("(x for x in y)", "[x for x in y]"),
    ("x += ", "x -= "),
    ("x += ", "x = x + "),
    ("rand(z", "randn(z"),
    ("size=", "shape="),
    ("(2,)", "(2)"),
    ('"a"', 'b"a"'),
    ('"a"', '"A"'),
    (" as file", ""),
    ("self.cache[index]", "self.cache[x]"),
    ("self.cache[index]", "self.store[index]"),
    ("        return [0", "        yield [0"),
    ("    return lambda a: a + x", "    return lambda a: a + a"),
    ("    return lambda a: a + x", "    return lambda *a: a + x"),
    ("    return lambda", "        return lambda"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_layout_does_not_count(old: str, new: str) -> None:
    assert old in FUNCTION
    facts, edited = lowered(FUNCTION), lowered(FUNCTION.replace(old, new))
    assert edited.ir == facts.ir
    assert edited.digest == facts.digest


@pytest.mark.parametrize(("old", "new"), DIFFERENT)
def test_meaning_counts(old: str, new: str) -> None:
    assert old in FUNCTION
    assert lowered(FUNCTION.replace(old, new)).digest != lowered(FUNCTION).digest


def test_names_of_one_value_are_told_apart() -> None:
    """Which local a value goes by is part of the facts, as a message may name it."""
    assert lowered("x = 1\n").digest != lowered("y = 1\n").digest


def test_digest_survives_pickling_and_shared_strings() -> None:
    facts = lowered(FUNCTION)
    copied = pickle.loads(pickle.dumps(facts))
    assert copied == facts
    parts = ["".join(part) for part in ("se", "lf")]
    # The same text from other string objects: what is shared must not enter the digest.
    assert lowered(FUNCTION.replace("self", "".join(parts))).digest == facts.digest


def test_digest_is_the_same_in_every_run() -> None:
    """Facts are kept on disk: a change of this value must come with a change of the cache's schema."""
    assert lowered("x = f(1, a=True)\n").digest == "a2d726746dc7e13daa58315ae4a8c43d"
