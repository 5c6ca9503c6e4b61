"""Finds the parts of a file with a syntax error, which no parser reads, and why."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from loaderlint.syntax.bare_tree import FILE, hide_warnings
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.nesting_depth import measure
from loaderlint.syntax.piece_size import is_too_large
from loaderlint.syntax.wrapping import BODY, NO_BODY, wrapping

#: The maximum number of words that open a scope. Beyond it, a tree is built.
_MANY_SCOPES = 2_000

#: The maximum length, in characters, of a file that is parsed as a whole. A longer one is parsed piece by piece, in
#: less memory.
_LONG = 1_000_000

_SCOPE = re.compile(r"\b(?:def|class|lambda|for)\b")
_LINE_END = re.compile(r"\r\n|\r|\n")
_CONFLICT = re.compile(r"(?m)^(?:<{7}|={7}|>{7})(?=[ \r\n]|\Z)")


class UnreadPart(NamedTuple):
    """A piece that no parser reads: `piece` is its index, `line` and `column` are where the parser stopped (0-based in
    the file, in characters), `reason` is the parser's own message."""

    piece: int
    line: int
    column: int
    reason: str


def is_valid(text: str) -> bool:
    """Whether Python's parser accepts the text of a whole file.

    False does not mean that something is unread: syntax may be newer than the running Python."""
    if len(text) > _LONG:
        return False
    try:
        _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _parse(text: str) -> None:
    """Run Python's parser. `symtable` runs it without creating objects for its tree, which takes two thirds of the time
    of `ast.parse`; but it copies all names of a scope into each scope inside it.

    Raises what the parser does: `SyntaxError`, `ValueError`, `RecursionError` or `MemoryError`."""
    hide_warnings()
    if len(_SCOPE.findall(text)) > _MANY_SCOPES:
        ast.parse(text, FILE)
    else:
        symtable.symtable(text, FILE, "exec")


def unread_parts(pieces: Sequence[Piece], is_read: Callable[[int], bool]) -> Iterator[UnreadPart]:
    """The pieces that no parser reads, in the order of the file. `is_read` is called with the index of each piece that
    Python's parser rejects, and returns whether another parser accepts it. A piece that is too large to be parsed is
    left out: it is reported as a problem of the file."""
    for index, piece in enumerate(pieces):
        if is_too_large(piece.text):
            continue
        found = _unread(index, piece)
        if found is not None and not is_read(index):
            yield found


def _unread(index: int, piece: Piece) -> UnreadPart | None:
    """Why Python's parser rejects a piece, with its own message; None if it accepts it."""
    if conflict := _CONFLICT.search(piece.text):
        line = len(_LINE_END.findall(piece.text, 0, conflict.start()))
        return UnreadPart(index, piece.line + line, 0, "marker of a merge conflict")
    indent = len(piece.text) - len(piece.text.lstrip(" \t\f"))
    if measure(piece.text).is_too_deep:
        return UnreadPart(index, piece.line, indent, "nested too deeply")
    error = _error(piece)
    if error is None:
        return None
    line, column = error[0], error[1]
    lines = _LINE_END.split(piece.text)
    line = min(max(line, 0), len(lines) - 1)
    return UnreadPart(index, piece.line + line, min(max(column, 0), len(lines[line])), error[2])


def _error(piece: Piece) -> tuple[int, int, str] | None:
    """The parser's error for a piece: line (0-based in the piece), column (0-based) and message; None if it has
    none."""
    for body in (BODY, NO_BODY):
        before, after = wrapping(piece, body)
        try:
            _parse(before + piece.text + after)
        except SyntaxError as error:
            line = (error.lineno or 1) - 1 - len(_LINE_END.findall(before))
            return line, (error.offset or 1) - 1, error.msg
        except (ValueError, RecursionError, MemoryError) as error:
            return 0, 0, str(error) or "too complex for the parser"
        if piece.kind != "clause":
            break
    return None
