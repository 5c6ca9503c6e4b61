"""Converts the places in findings to their current spans."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.findings.finding import Place
from loaderlint.sources.store import Store
from loaderlint.syntax.call_arguments import argument_span
from loaderlint.syntax.source import lines_of

if TYPE_CHECKING:
    from loaderlint.syntax.cutter import Piece
    from loaderlint.syntax.span import Span


class Places:
    """The places in one project."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def owner(self, place: Place) -> str:
        """The def or class around a place, as its first line and those of the enclosing classes. It is part of a
        fingerprint."""
        opened = self._store.open(place.path)
        if opened is None or place.piece >= len(opened.pieces):
            return ""
        lines = [_first_line(opened.shown_piece(place.piece)[0].text)]
        above = opened.pieces[place.piece].parent
        while above >= 0:
            if opened.pieces[above].kind == "class":
                lines.append(_first_line(opened.pieces[above].text))
            above = opened.pieces[above].parent
        return "\0".join(reversed(lines))

    def find(self, places: Iterable[Place]) -> None:
        """Look up many places at once, so that each piece is parsed only once."""
        wanted: dict[Path, dict[int, set[int]]] = {}
        for place in places:
            wanted.setdefault(place.path, {}).setdefault(place.piece, set()).add(place.anchor)
        for path, pieces in wanted.items():
            opened = self._store.open(path)
            for piece, anchors in pieces.items():
                if opened is not None and piece < len(opened.pieces):
                    opened.find_spans(opened.shown_piece(piece)[0], anchors)

    def span(self, place: Place) -> Span | None:
        """The current span of a place. In a half-typed piece: the span of its last valid line; None if that line is
        gone."""
        opened = self._store.open(place.path)
        if opened is None or place.piece >= len(opened.pieces):
            return None
        piece, present = opened.shown_piece(place.piece)
        relative = opened.relative_span(piece, place.anchor)
        if relative is None:
            return None
        if place.argument:
            relative = argument_span(piece.text, relative, place.argument) or relative
        now = opened.pieces[place.piece]
        return _moved(relative, now.line) if present else _still_standing(piece, now, relative)


def _first_line(text: str) -> str:
    """The first line, without copying the rest: a piece may be long, and have thousands of findings."""
    end = text.find("\n")
    return (text if end < 0 else text[:end]).strip()


def last_line(span: Span) -> int:
    """The last line that a span covers, 0-based."""
    return span.end_line if span.end_column or span.end_line == span.line else span.end_line - 1


def _moved(span: Span, lines: int) -> Span:
    return span._replace(line=span.line + lines, end_line=span.end_line + lines)


def _still_standing(old: Piece, now: Piece, span: Span) -> Span | None:
    """The span of the source line of `span` in the half-typed piece; None if the line is not there, or is there
    twice."""
    line = lines_of(old.text)[span.line]
    places = [number for number, text in enumerate(lines_of(now.text)) if text == line]
    if len(places) != 1:
        return None
    height = span.end_line - span.line
    return span._replace(line=now.line + places[0], end_line=now.line + places[0] + height)
