"""Break what is too long for a line: calls, as formatters do, and comments behind code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

#: One level of indentation in the source of a fix.
_LEVEL = "    "
#: Code with a comment behind it: the indentation, the code, the comment.
_CODE_AND_COMMENT = re.compile(r"([ ]*)([^\s#][^#]*?)  (# [^'\"]*)$")
#: Lays out arguments in lines that begin with an indentation and have at most so many characters.
Layout = Callable[[Sequence[str], str, int], list[str]]


def on_one_each(arguments: Sequence[str], indent: str, length: int) -> list[str]:
    """The arguments on a line each, as black and ruff write them, whatever the `length`."""
    return [f"{indent}{one}," for one in arguments]


def on_few(arguments: Sequence[str], indent: str, length: int) -> list[str]:
    """The arguments on as few lines as possible."""
    lines: list[str] = []
    for number, argument in enumerate(arguments):
        text = argument if number == len(arguments) - 1 else f"{argument},"
        if lines and len(lines[-1]) + 1 + len(text) <= length:
            lines[-1] += f" {text}"
        else:
            lines.append(indent + text)
    return lines


def broken_call(line: str, length: int, layout: Layout = on_one_each) -> list[str]:
    """`line` as several lines where it is a statement that assigns, returns or makes a call: the arguments on a line of
    their own or, where that is longer than `length` characters too, as `layout` lays them out. Any other line stays as
    it is."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    text = line.strip()
    call = _call(text)
    if call is None:
        return [line]
    opening = text.index("(", call.func.end_col_offset)
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    texts = [text[one.col_offset : one.end_col_offset] for one in arguments]
    together = indent + _LEVEL + ", ".join(texts)
    inner = [together] if len(together) <= length else layout(texts, indent + _LEVEL, length)
    return [indent + text[: opening + 1], *inner, f"{indent})"]


def comment_above(line: str) -> tuple[str, str] | None:
    """The comment at the end of a line as a line of its own, and the line without it; None if there is no code before a
    comment."""
    found = _CODE_AND_COMMENT.match(line)
    return (f"{found[1]}{found[3]}", f"{found[1]}{found[2]}") if found is not None else None


def _call(text: str) -> ast.Call | None:
    """The call that a statement ends with; None if it has no arguments, or its offsets would not be those of `text`."""
    if not text.isascii() or not re.search(r"[^(]\)$", text):
        return None
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    one = statements[0] if len(statements) == 1 else None
    call = one.value if isinstance(one, ast.Assign | ast.Return | ast.Expr) else None
    if not isinstance(call, ast.Call) or call.end_col_offset != len(text):
        return None
    return None if any(isinstance(arg, ast.GeneratorExp) for arg in call.args) else call
