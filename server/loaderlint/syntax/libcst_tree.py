"""Parses a piece to libcst's concrete tree."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.nesting_depth import SMALL_STACK, measure
from loaderlint.syntax.wrapping import BODY, NO_BODY, is_indented, wrapping

_LINE_END = re.compile(r"\r\n|\r|\n")

#: The stack of the thread for deeper pieces, several times what `MAX_LEVELS` levels can need.
LARGE_STACK = 16 * 1024 * 1024

_STACK_SIZE_LOCK = threading.Lock()


class ParsedPiece(NamedTuple):
    """The tree of a piece.

    `node` is the node of the piece: the statement (a `SimpleStatementLine` or compound statement), the `ClassDef` of a
    class head, or the node of the clause (`If`, `Else`, `For`, `While`, `With`, `Try`, `ExceptHandler`,
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
    """The tree of `piece`; None if it is not valid Python or nested too deep to be parsed safely.

    Depends on `piece.kind`, `piece.keyword` and `piece.text` only."""
    depth = measure(piece.text)
    if depth.is_too_deep:
        return None
    parse = _parse if depth.stack <= SMALL_STACK else _parse_on_large_stack
    before, after = wrapping(piece, BODY)
    module = parse(source := before + piece.text + after)
    if module is None and piece.kind == "clause":  # a clause on one line has its body
        before, after = wrapping(piece, NO_BODY)
        module = parse(source := before + piece.text + after)
    if module is None:
        return None
    node = _find(module, piece)
    if node is None:
        return None
    first_line = len(_LINE_END.findall(before))
    return ParsedPiece(module, node, first_line, source, len(before), len(before) + len(piece.text))


def is_block(text: str) -> bool:
    """Whether whole lines of text, indented or not, are one block of valid statements: nothing in them belongs to the
    code before or after."""
    if measure(text).is_too_deep:
        return False
    if not is_indented(text):
        return _parse(text) is not None
    module = _parse("if 1:\n" + text)
    wrapper = module.body[0] if module is not None and len(module.body) == 1 else None
    return isinstance(wrapper, cst.If) and wrapper.orelse is None and isinstance(wrapper.body, cst.IndentedBlock)


def _find(module: cst.Module, piece: Piece) -> cst.CSTNode | None:
    """The node of the piece in its wrapping; None if the text is not what the cutter assumed."""
    body: Sequence[cst.BaseStatement] = module.body
    if is_indented(piece.text):
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


def _parse(source: str) -> cst.Module | None:
    try:
        return cst.parse_module(source)
    except (KeyboardInterrupt, SystemExit, MemoryError, RecursionError):
        raise
    except BaseException:  # a panic of the native parser is not an Exception
        return None


def _parse_on_large_stack(source: str) -> cst.Module | None:
    """Parse on a separate thread, whose stack is large enough for everything that is not too deep."""
    modules: list[cst.Module | None] = []
    thread = threading.Thread(target=lambda: modules.append(_parse(source)), daemon=True)
    with _STACK_SIZE_LOCK:
        usual = threading.stack_size(LARGE_STACK)
        try:
            thread.start()
        except RuntimeError:  # no memory or no thread left
            return None
        finally:
            threading.stack_size(usual)
    thread.join()
    return modules[0] if modules else None
