"""One piece to its tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from loaderlint.syntax.cutter import Piece

_INDENT = re.compile(r"[ \t\f]*")
_LINE_END = re.compile(r"\r\n|\r|\n")

#: What must stand before a clause so that it can be parsed.
_BEFORE = {"elif": "if 1:", "else": "if 1:", "except": "try:", "finally": "try:"}
_AFTER = {"try": "finally:"}


class ParsedPiece(NamedTuple):
    """The tree of a piece.

    `node` is what the piece stands for: the statement (a `SimpleStatementLine` or compound statement), the `ClassDef`
    of a class head, or the node that carries the clause (`If`, `Else`, `For`, `While`, `With`, `Try`, `ExceptHandler`,
    `ExceptStarHandler`, `Finally`); the body of heads is one `pass`. `first_line` is the line of `source` on which the
    piece begins; columns are those of the file. `source` is the text that was parsed: the piece, which is
    `source[start:end]`, and its wrapping."""

    module: cst.Module
    node: cst.CSTNode
    first_line: int
    source: str
    start: int
    end: int


def parse_piece(piece: Piece) -> ParsedPiece | None:
    """The tree of `piece`; None if it is no valid Python or nested too deep to be parsed safely.

    Depends on `piece.kind`, `piece.keyword` and `piece.text` only."""
    if too_deep(piece.text):
        return None
    before, after = _wrapping(piece)
    source = before + piece.text + after
    try:
        module = cst.parse_module(source)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a panic of the native parser is no Exception
        return None
    node = _find(module, piece)
    if node is None:
        return None
    first_line = len(_LINE_END.findall(before))
    return ParsedPiece(module, node, first_line, source, len(before), len(before) + len(piece.text))


def _wrapping(piece: Piece) -> tuple[str, str]:
    """What must stand before and after the piece's text so that it can be parsed as a module."""
    text = piece.text
    found = _LINE_END.search(text)
    newline = found[0] if found else "\n"
    indent = _INDENT.match(text)[0]  # type: ignore[index]  # matches always
    lines = ["if 1:"] if indent else []
    if piece.kind == "clause" and piece.keyword in _BEFORE:
        lines += [indent + _BEFORE[piece.keyword], indent + " pass"]
    before = "".join(line + newline for line in lines)
    if piece.kind == "statement":
        return before, ""
    after = "" if text.endswith(("\n", "\r")) else newline
    after += f"{indent} pass{newline}"
    if piece.keyword in _AFTER:
        after += f"{indent}{_AFTER[piece.keyword]}{newline}{indent} pass{newline}"
    return before, after


def _find(module: cst.Module, piece: Piece) -> cst.CSTNode | None:
    """The node of the piece in its wrapping; None if the text holds something else than the cutter thought."""
    body: Sequence[cst.BaseStatement] = module.body
    if piece.text.startswith((" ", "\t", "\f")):
        wrapper = body[0] if len(body) == 1 else None
        if not isinstance(wrapper, cst.If) or wrapper.orelse is not None:
            return None
        if not isinstance(wrapper.body, cst.IndentedBlock):
            return None
        body = wrapper.body.body
    if len(body) != 1:
        return None
    node: cst.CSTNode = body[0]
    if piece.kind == "class":
        return node if isinstance(node, cst.ClassDef) else None
    if piece.kind == "clause":
        return _clause(node, piece.keyword)
    return node


def _clause(node: cst.CSTNode, keyword: str) -> cst.CSTNode | None:
    if keyword in ("elif", "else"):
        return node.orelse if isinstance(node, cst.If) else None
    if keyword == "except":
        return node.handlers[0] if isinstance(node, cst.Try | cst.TryStar) and node.handlers else None
    if keyword == "finally":
        return node.finalbody if isinstance(node, cst.Try) else None
    return node


def too_deep(text: str) -> bool:
    """Whether nesting or chains of operators could overflow the stack of libcst's native parser."""
    return len(text) > 5_000_000
