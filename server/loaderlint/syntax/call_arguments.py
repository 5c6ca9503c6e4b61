"""The places of the arguments of a call, from its text."""

from __future__ import annotations

import ast

from loaderlint.syntax.source import lines_of
from loaderlint.syntax.span import Span


def argument_span(text: str, call: Span, keyword: str) -> Span | None:
    """The span of a keyword argument, such as `collate_fn=merge`, of the call at `call` in `text`; None if there is no
    such call, or it has no such argument."""
    lines = lines_of(text)[call.line : call.end_line + 1]
    if not lines:
        return None
    lines[-1] = lines[-1][: call.end_column]
    lines[0] = f"({lines[0][call.column :]}"
    try:
        tree = ast.parse("\n".join([*lines, ")"]), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    found = [one for one in tree.keywords if one.arg == keyword] if isinstance(tree, ast.Call) else []
    if len(found) != 1:
        return None
    (one,) = found
    assert one.end_lineno is not None and one.end_col_offset is not None
    line, column = _place(lines, one.lineno, one.col_offset, call)
    return Span(line, column, *_place(lines, one.end_lineno, one.end_col_offset, call))


def _place(lines: list[str], line: int, column: int, call: Span) -> tuple[int, int]:
    """The line and column, in characters, of a place in the parsed text: `line` from 1, `column` in bytes of UTF-8."""
    characters = len(lines[line - 1].encode()[:column].decode())
    return call.line + line - 1, characters + (call.column - 1 if line == 1 else 0)
