"""The parts of a file that no parser reads, and why."""

from __future__ import annotations

import re
import symtable
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from loaderlint.syntax.bare_tree import FILE, hide_warnings
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.nesting_depth import measure
from loaderlint.syntax.piece_size import is_too_large
from loaderlint.syntax.wrapping import BODY, NO_BODY, wrapping

#: Characters of a file that is parsed in one go. What is longer is parsed piece by piece, in less memory.
_LONG = 1_000_000

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

    False does not mean that something is unread: syntax may be newer than the running Python. `symtable` runs the
    parser without making objects of its tree, which takes two thirds of the time of `ast.parse`."""
    if len(text) > _LONG:
        return False
    hide_warnings()
    try:
        symtable.symtable(text, FILE, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def unread_parts(pieces: Sequence[Piece], is_read: Callable[[int], bool]) -> Iterator[UnreadPart]:
    """The pieces that no parser reads, in the order of the file. `is_read` is asked about pieces (by their index) that
    Python's parser does not take: whether another one does. A piece that is too large to be parsed is left out here:
    it is named as a problem of the file."""
    for index, piece in enumerate(pieces):
        if is_too_large(piece.text):
            continue
        found = _unread(index, piece)
        if found is not None and not is_read(index):
            yield found


def _unread(index: int, piece: Piece) -> UnreadPart | None:
    """Why Python's parser does not take a piece, in its own words; None if it does."""
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
    """The parser's complaint about a piece: line (0-based in the piece), column (0-based) and message; None if it has
    none."""
    for body in (BODY, NO_BODY):
        before, after = wrapping(piece, body)
        hide_warnings()
        try:
            symtable.symtable(before + piece.text + after, FILE, "exec")
        except SyntaxError as error:
            line = (error.lineno or 1) - 1 - len(_LINE_END.findall(before))
            return line, (error.offset or 1) - 1, error.msg
        except (ValueError, RecursionError, MemoryError) as error:
            return 0, 0, str(error) or "too complex for the parser"
        if piece.kind != "clause":
            break
    return None
