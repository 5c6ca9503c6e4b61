"""The text that must surround a piece so that it can be parsed as a module."""

from __future__ import annotations

import re

from loaderlint.syntax.cutter import Piece

_INDENT = re.compile(r"[ \t\f]*")
_LINE_END = re.compile(r"\r\n|\r|\n")

#: The text before a clause so that it can be parsed.
_BEFORE = {"elif": "if 1:", "else": "if 1:", "except": "try:", "finally": "try:"}
_AFTER = {"try": "finally:"}

#: The body that is added after the heads of classes and clauses.
BODY = " pass"
#: The same for a clause on one line, which contains its body.
NO_BODY = "#"


def is_indented(text: str) -> bool:
    """Whether the first line of a piece is indented. A form feed in the indentation resets it, as in Python's
    tokenizer."""
    if not text.startswith((" ", "\t", "\f")):
        return False
    return not _INDENT.match(text)[0].endswith("\f")  # type: ignore[index]  # matches always


def wrapping(piece: Piece, body: str) -> tuple[str, str]:
    """The text to add before and after the piece's text. `body` is added after the heads of classes and clauses."""
    text = piece.text
    if piece.kind == "statement" and not is_indented(text):
        return "", ""
    found = _LINE_END.search(text)
    newline = found[0] if found else "\n"
    indent = _INDENT.match(text)[0].rpartition("\f")[2]  # type: ignore[index]  # matches always
    lines = ["if 1:"] if indent else []
    if piece.kind == "clause" and piece.keyword in _BEFORE:
        lines += [indent + _BEFORE[piece.keyword], indent + " pass"]
    before = "".join(line + newline for line in lines)
    if piece.kind == "statement":
        return before, ""
    after = "" if text.endswith(("\n", "\r")) else newline
    after += f"{indent}{body}{newline}"
    if piece.keyword in _AFTER:
        after += f"{indent}{_AFTER[piece.keyword]}{newline}{indent} pass{newline}"
    return before, after
