"""Parses a piece to its bare tree with Python's own parser: without comments and layout, in a tenth of libcst's time.

Facts are lowered from bare trees. If this parser rejects a piece, or may parse it differently from libcst, libcst
decides, and its tree is converted (`loaderlint.syntax.libcst_to_bare`). So code may be newer than the Python that
loaderlint runs on."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.nesting_depth import SMALL_STACK, measure
from loaderlint.syntax.wrapping import BODY, NO_BODY, is_indented, wrapping

#: What the two parsers may interpret differently: form feeds, NUL, line endings of old Mac OS.
_DIFFERENT = re.compile(r"[\f\0]|\r(?!\n)")

#: The file name for the parser's warnings (of `"\d"`, `1if x else y`), which are hidden.
FILE = "<loaderlint piece>"
_SILENT = ("ignore", None, Warning, re.compile(re.escape(FILE) + r"\Z"), 0)

Part = Literal["statements", "except", "else", "finally"]


class Tree(NamedTuple):
    """The bare tree of a piece.

    `nodes` are its statements: one, or several with semicolons between. For a clause that is not a statement of its own
    `part` says what it is; then `nodes` is the one handler of an `except`, and empty for other clauses. `rebinds`: it
    may contain `:=` or `nonlocal`."""

    part: Part
    nodes: Sequence[ast.AST]
    rebinds: bool


class Unreadable(ast.expr):
    """An expression that could not be read, with the `reason`: an integer with more digits than Python converts."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


def bare(piece: Piece) -> Tree | None:
    """The bare tree of `piece`; None if libcst has to parse it.

    Depends on `piece.kind`, `piece.keyword` and `piece.text` only."""
    text = piece.text
    if _DIFFERENT.search(text):
        return None
    depth = measure(text)
    if depth.is_too_deep or depth.stack > SMALL_STACK:
        return None
    module = _module(piece, BODY)
    if module is None and piece.kind == "clause":
        module = _module(piece, NO_BODY)
    found = None if module is None else _find(module.body, piece)
    return None if found is None else Tree(*found, ":=" in text or "nonlocal" in text)


def is_worse(before: str, after: str) -> bool:
    """Whether Python accepts less of the text of a file after an edit than before it."""
    was, now = _validity(before), _validity(after)
    return was is not None and now is not None and now < was


def is_same_code(before: str, after: str) -> bool:
    """Whether Python parses two texts to the same code, ignoring comments and layout; True if it cannot parse the
    first."""
    depth = measure(before)
    if depth.is_too_deep or depth.stack > SMALL_STACK:
        return True
    try:
        was = ast.dump(_compiled(before, "exec"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    try:
        return was == ast.dump(_compiled(after, "exec"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _validity(text: str) -> int | None:
    """How far Python accepts a whole file: 0 not at all, 1 it parses (for example a cell with `await`), 2 it compiles,
    so that `from __future__` comes first and `return` is in a function. None for a text that nests too deep to try."""
    depth = measure(text)
    if depth.is_too_deep or depth.stack > SMALL_STACK:
        return None
    for level, flags in ((2, 0), (1, ast.PyCF_ONLY_AST)):
        try:
            _compiled(text, "exec", flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return level
    return 0


def literal(text: str) -> Any:
    """The value of a literal. Raises SyntaxError or ValueError if the text is not one."""
    return ast.literal_eval(_compiled(text, "eval"))


def _module(piece: Piece, body: str) -> ast.Module | None:
    before, after = wrapping(piece, body)
    try:
        made: ast.Module = _compiled(before + piece.text + after, "exec")
    except (
        SyntaxError,
        ValueError,
        MemoryError,
    ):  # a RecursionError is the caller's, see `loaderlint.runtime.call_stack`
        return None
    return made


def _compiled(source: str, mode: str, flags: int = ast.PyCF_ONLY_AST) -> Any:
    hide_warnings()
    return compile(source, FILE, mode, flags, dont_inherit=True)


def hide_warnings() -> None:
    """Hide the parser's warnings about a source called `FILE`.

    The filter stays: adding and removing it costs more than parsing a small piece, and is not thread-safe."""
    if warnings.filters[0] != _SILENT:
        warnings.filterwarnings("ignore", module=_SILENT[3].pattern)


def _find(body: list[ast.stmt], piece: Piece) -> tuple[Part, Sequence[ast.AST]] | None:
    """The part and the nodes of the piece in its wrapping; None if the text is not what the cutter assumed."""
    if is_indented(piece.text):
        wrapper = body[0] if len(body) == 1 else None
        if not isinstance(wrapper, ast.If) or wrapper.orelse:
            return None
        body = wrapper.body
    if not body:
        return None
    if piece.kind == "statement":
        # Several statements on one line are one piece. A continued line is left to libcst.
        on_one_line = all(after.lineno == before.end_lineno for before, after in pairwise(body))
        return ("statements", body) if on_one_line else None
    if len(body) > 1:
        return None
    node = body[0]
    if piece.kind == "class":
        return ("statements", body) if isinstance(node, ast.ClassDef) else None
    return _clause(node, piece.keyword)


def _clause(node: ast.stmt, keyword: str) -> tuple[Part, Sequence[ast.AST]] | None:
    if keyword in ("elif", "else"):
        if not isinstance(node, ast.If) or not node.orelse:
            return None
        return ("statements", node.orelse) if keyword == "elif" else ("else", ())
    if keyword == "except":
        handlers = getattr(node, "handlers", None)
        return ("except", handlers[:1]) if handlers else None
    if keyword == "finally":
        return ("finally", ()) if isinstance(node, ast.Try) and node.finalbody else None
    return "statements", (node,)
