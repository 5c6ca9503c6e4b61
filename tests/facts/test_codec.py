"""Facts as bytes and back: nothing is lost, and bytes that are no facts do nothing but say so."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaderlint.facts import codec, ir
from loaderlint.facts.piece_facts import PieceFacts, lower, piece_facts
from loaderlint.syntax.cutter import Piece, cut
from loaderlint.syntax.libcst_tree import parse_piece
from tests.syntax import corpus

PAGES = (Path(__file__).with_name("pieces.txt"), Path(__file__).with_name("functions.txt"))

PIECE = Piece("statement", "", "a = 1\n", 0, 0, -1, 6)

ODD = """
a = 340282366920938463463374607431768211456, -340282366920938463463374607431768211456, 9223372036854775808
b = "\\ud800 alone", "\\U0001f600", "plain", 1e999, 0.1, 1j, True, None, ..., b"\\xff"
async def f(*a, k: int = 2 ** 70, **kw):
    async with x as y, z:
        yield [i async for i in y if (n := i)]
    match a:
        case {"k": [1, *rest]} | None: return
    try: del a[1:2], b.c
    except* E as e: raise
    finally: global g; g @= lambda: (yield)
def broken(:
"""


def lowered(piece: Piece) -> PieceFacts | None:
    parsed = parse_piece(piece)
    return lower(parsed) if parsed else None


def known(text: str) -> tuple[tuple[Piece, ...], dict[int, PieceFacts | None]]:
    pieces = cut(text)
    return pieces, {index: lowered(piece) for index, piece in enumerate(pieces)}


def unpacked(back: codec.FileFacts) -> dict[int, PieceFacts | None]:
    return {
        index: None if data is None else codec.unpack(data, back.pieces[index]) for index, data in back.packed.items()
    }


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down: named tuples of two kinds may be equal."""
    return a == b and written(a) == written(b)


def written(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: written(one) for key, one in value.items()}
    return repr((value.ir, value.anchors, value.digest) if isinstance(value, PieceFacts) else value)


def texts() -> list[str]:
    return [ODD, "", *(corpus.text(path) for path in corpus.files(25))]


def cases() -> list[str]:
    """The pieces of the pages of facts, as they are written there."""
    return [case.split("\n--")[0].split("\n", 1)[-1] for page in PAGES for case in page.read_text().split("\n== ")]


def test_facts_of_files_come_back() -> None:
    kinds: set[type] = set()
    for text in texts():
        pieces, facts = known(text)
        back = codec.decode(codec.encode(text, pieces, facts), text)
        assert same(back.pieces, pieces)
        assert same(unpacked(back), facts)
        for one in facts.values():
            if one is not None:
                kinds.update(map(type, (*one.ir.exprs, *(step for d in one.ir.defs for step in d.steps))))
    assert len(kinds) > 40, "the files hold nearly every kind of expression and step"


def test_facts_of_all_cases_come_back() -> None:
    for case in cases():
        for piece in cut(case):
            facts = lowered(piece)
            if facts is not None:
                assert same(codec.unpack(codec.pack(facts), piece), facts)


@settings(max_examples=150)
@given(st.data())
def test_facts_of_any_constants_come_back(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(st.text(st.characters()), st.integers(), st.floats(allow_nan=False))))
    exprs = tuple(ir.Const(type(value).__name__, value) for value in values)
    body = ir.DefIR("body", "", -1, (), (), (), (), (ir.Context(-1, "body", -1, False),), (), True, False)
    facts = PieceFacts(
        ir.PieceIR(exprs, (body,), ()), ir.PieceAnchors((0,) * len(exprs), ((),), ((-1, -1),)), "ab" * 16
    )
    assert same(codec.unpack(codec.pack(facts), PIECE), facts)


def test_only_the_facts_that_are_known_are_kept() -> None:
    pieces, facts = known("a = 1\nb = 2\nc = (\n")
    back = codec.decode(codec.encode("a = 1\nb = 2\nc = (\n", pieces, {1: facts[1], 2: None}), "a = 1\nb = 2\nc = (\n")
    assert same(unpacked(back), {1: facts[1], 2: None})


def test_packed_facts_are_kept_as_they_are() -> None:
    text = "a = 1\nb = 2\n"
    pieces, facts = known(text)
    once = codec.decode(codec.encode(text, pieces, {0: facts[0]}), text)
    twice = codec.decode(codec.encode(text, pieces, {**once.packed, 1: facts[1]}), text)
    assert same(unpacked(twice), facts)


def test_facts_of_another_text_are_refused() -> None:
    pieces, facts = known("a = 1\n")
    with pytest.raises(codec.BadFacts):
        codec.decode(codec.encode("a = 1\n", pieces, facts), "a = 10\n")


def read_all(data: bytes, text: str) -> None:
    unpacked(codec.decode(data, text))


def test_damaged_bytes_are_refused() -> None:
    """Cut short, or with one byte changed: never facts, and no other error than the one that is named."""
    pieces, facts = known(ODD)
    data = codec.encode(ODD, pieces, facts)
    numbers = random.Random(6)
    for _ in range(400):
        at = numbers.randrange(len(data))
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ numbers.randrange(1, 256)]) + data[at + 1 :]):
            with pytest.raises(codec.BadFacts):
                read_all(damaged, ODD)


@settings(max_examples=300)
@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_bytes_are_refused(data: bytes, text: str) -> None:
    for one in (data, codec._sealed(data)):
        with pytest.raises(codec.BadFacts):
            read_all(one, text)
            raise codec.BadFacts  # by chance an empty file's
        with pytest.raises(codec.BadFacts):
            codec.unpack(one, PIECE)


def test_damage_behind_a_right_checksum_raises_nothing_else() -> None:
    """Even who knows how the checksum is made gets facts or BadFacts."""
    pieces, facts = known(ODD)
    body = codec._unsealed(codec.encode(ODD, pieces, facts))
    numbers = random.Random(7)
    for _ in range(1500):
        damaged = bytearray(body)
        for _ in range(numbers.randrange(1, 4)):
            damaged[numbers.randrange(len(damaged))] = numbers.randrange(256)
        try:
            read_all(codec._sealed(bytes(damaged)), ODD)
        except codec.BadFacts:
            pass


def test_facts_whose_anchors_nobody_asked_for_come_back_without() -> None:
    (piece,) = cut("def f(a):\n    return a.b(1)\n")
    facts = piece_facts(piece)
    assert facts is not None
    back = codec.unpack(codec.pack(facts), piece)
    assert back.known_anchors is None
    assert back.anchors == facts.anchors != ir.PieceAnchors((), (), ())
    again = codec.unpack(codec.pack(facts), piece)
    assert again.known_anchors == facts.anchors


class Burglar:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("what was read was run",))


def test_pickled_code_is_not_run() -> None:
    with pytest.raises(codec.BadFacts):
        codec.unpack(pickle.dumps(Burglar()), PIECE)


@pytest.mark.parametrize("head", [b"\xdd", b"\xdf", b"\xdb", b"\xc6"])
def test_a_length_that_no_memory_holds_is_refused(head: bytes) -> None:
    with pytest.raises(codec.BadFacts):
        codec.unpack(b"\x9a" + head + b"\xff" * 4, PIECE)
    with pytest.raises(codec.BadFacts):
        codec.decode(codec._sealed(b"\x93\x00" + head + b"\xff" * 4), "")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(codec.BadFacts):
        codec.unpack(b"\x91" * 1_000_000, PIECE)
