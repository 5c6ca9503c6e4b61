"""The pieces of real files say what the tree of the whole file says, at its places."""

from __future__ import annotations

import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from loaderlint.syntax.cutter import cut
from loaderlint.syntax.libcst_tree import parse_piece
from loaderlint.syntax.positions import generate, lossless
from loaderlint.syntax.source import LineIndex

from . import corpus


@pytest.mark.parametrize("part", [0, 1, *(pytest.param(part, marks=pytest.mark.slow) for part in range(2, 10))])
def test_pieces_equal_the_full_parse(part: int) -> None:
    compared = 0
    for path in corpus.files(150)[part::10]:
        text = corpus.text(path)
        module = corpus.whole(text)
        pieces = cut(text)
        trees = [parse_piece(piece) for piece in pieces]
        if module is None:
            assert None in trees or not trees, f"{path}: only the whole does not parse"
            continue
        assert corpus.difference(pieces, trees, module) == "", path
        compared += len(pieces)
    assert compared > 100


@pytest.mark.parametrize("part", range(4))
def test_places_are_those_of_the_position_provider(part: int) -> None:
    compared = 0
    for path in corpus.files(150)[part * 6 : part * 6 + 6]:
        for piece in cut(corpus.text(path)):
            parsed = parse_piece(piece)
            if parsed is None or not lossless(piece, parsed):
                continue
            found = generate(parsed.module).spans
            index = LineIndex(parsed.source)
            # The provider of libcst sees the tree of the wrapped piece as it is.
            expected = MetadataWrapper(parsed.module, unsafe_skip_copy=True).resolve(PositionProvider)
            for node, place in expected.items():
                start, end = map(index.position, found[id(node)])
                assert start == (place.start.line - 1, place.start.column), (path, piece.line, node)
                assert end == (place.end.line - 1, place.end.column), (path, piece.line, node)
            compared += len(expected)
    assert compared > 1000
