"""The value of a statement that is too long for a line, on lines of its own, as black and ruff write it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from loaderlint.fixes.brackets import Brackets, Width, broken_at, of_call
from loaderlint.fixes.long_calls import Layout

_DISPLAYS = ast.List | ast.Set | ast.Dict
#: Values that formatters put into parentheses. (A tuple may have its own.)
_PARENTHESIZED = (
    ast.Attribute,
    ast.Await,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
#: Operators that bind alike and associate to the left: `a + b - c` has three operands.
_ALIKE = ((ast.Add, ast.Sub), (ast.Mult, ast.MatMult, ast.Div, ast.FloorDiv, ast.Mod))
#: A chain of so many methods (`a().b().c()` has two) is broken before each of them.
_CHAIN = 2


def in_parentheses(line: str, width: Width, layout: Layout) -> list[str]:
    """`line` as several lines, where it is one whole statement or the head of one: broken at the brackets that its
    value ends with; else with the value in parentheses on a line of its own, or with each operand, element or method on
    one. Empty if no line breaks make it fit."""
    text = line.strip()
    statement = _statement(text) if text.isascii() else None
    value = _value(statement)
    if statement is None or value is None:
        return []
    lines = _lines(statement, value, text, width, layout)
    # Brackets may belong to a part of the value: `(a), (b)`.
    same = _statement("\n".join(lines).strip()) if lines else None
    return lines if same is not None and ast.dump(same) == ast.dump(statement) else []


def _lines(statement: ast.stmt, value: ast.expr, text: str, width: Width, layout: Layout) -> list[str]:
    own = _own_brackets(value, text)
    if own is not None:
        return _within(own, value, text, width, layout)
    stays_bare = _stays_bare(value, statement)
    last = _last_brackets(value, text) if stays_bare or not _is_chain(value, text) else None
    broken = broken_at(last, text, width, layout) if last is not None else []
    if broken or stays_bare:
        return broken
    if text[value.col_offset] == "(":  # around a part of it: which of two was inserted would not be clear
        return []
    return _within((value.col_offset, value.end_col_offset or 0), value, text, width, layout)


def _within(inside: tuple[int, int], value: ast.expr, text: str, width: Width, layout: Layout) -> list[str]:
    """The statement with its value, whose text is `inside` its brackets, on lines of its own. There may be none yet."""
    start, end = inside
    head, tail = width.indent + text[:start], text[end:]
    opening, closing = ("", "") if tail[:1] in (")", "]", "}") else ("(", ")")
    for inner in _inner(value, text[:end], start, width, layout):
        lines = [head + opening, *inner, width.indent + closing + tail]
        if width.holds(lines):
            return lines
    return []


def _inner(value: ast.expr, text: str, start: int, width: Width, layout: Layout) -> Iterator[list[str]]:
    """The lines that may stand between the brackets, best first. The value ends where the text does."""
    deeper = width.indent + width.unit
    parts = [text[first:last].strip() for first, last in pairwise([start, *_cuts(value, text), len(text)])]
    if isinstance(value, ast.Tuple | _DISPLAYS):
        yield layout([part.strip(",").strip() for part in parts], deeper, width.limit)
        return
    yield [deeper + text[start:].strip()]
    yield [deeper + part for part in parts]


# --- statements -------------------------------------------------------------------------------------------------------


def _statement(text: str) -> ast.stmt | None:
    """The statement that a text is, or is the head of; None for other texts."""
    simple = _parsed(text)
    if simple:
        return simple[0] if len(simple) == 1 and not hasattr(simple[0], "body") else None
    for code in (f"{text}\n pass", f"if 0: pass\n{text}\n pass"):  # the second for an `elif`, which begins no statement
        match _parsed(code):
            case [ast.If(orelse=[ast.If() as one])]:
                return one
            case [one]:
                return one
    return None


def _parsed(code: str) -> list[ast.stmt]:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(code).body
    return []


def _value(statement: ast.stmt | None) -> ast.expr | None:
    """What a statement assigns, returns, yields, asks, goes through or opens."""
    match statement:
        case ast.Expr(value=ast.Yield(value=value)):
            return value
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr():
            return statement.value
        case ast.If() | ast.While() | ast.Assert(msg=None):
            return statement.test
        case ast.For():
            return statement.iter
        case ast.With(items=[ast.withitem(context_expr=value)]):
            return value
    return None


def _stays_bare(value: ast.expr, statement: ast.stmt) -> bool:
    """Whether formatters put no parentheses around the value of a statement."""
    is_alone = isinstance(statement, ast.Expr) and statement.value is value
    return is_alone or isinstance(statement, ast.With) or not isinstance(value, _PARENTHESIZED)


# --- values -----------------------------------------------------------------------------------------------------------


def _own_brackets(value: ast.expr, text: str) -> tuple[int, int] | None:
    """What is inside the brackets of a value in parentheses, of a display or a tuple; None for other values."""
    start, end = value.col_offset, value.end_col_offset or 0
    if isinstance(value, _DISPLAYS) or isinstance(value, ast.Tuple) and _has_parentheses(value, text):
        return start + 1, end - 1
    if text[:start].rstrip().endswith("("):
        return len(text[:start].rstrip()), text.index(")", end)
    return None


def _has_parentheses(value: ast.Tuple, text: str) -> bool:
    """Whether a tuple has its own: its place begins with them, but so it may with those of its first element."""
    return (
        bool(value.elts)
        and value.col_offset < value.elts[0].col_offset
        and text[(value.end_col_offset or 0) - 1] == ")"
    )


def _last_brackets(value: ast.expr, text: str) -> Brackets | None:
    """The brackets that a value ends with, if formatters break it there: it has at most one operator."""
    while isinstance(value, ast.UnaryOp):
        value = value.operand
    if isinstance(value, ast.BinOp | ast.BoolOp | ast.Compare):
        _, right, *more = _operands(value, text)
        if more:
            return None
        before = text[: right.col_offset].rstrip()
        if before.endswith("("):
            return _around_one(len(before) - 1, text.index(")", right.end_col_offset), text)
        return _last_brackets(right, text)
    if isinstance(value, ast.Call) and (value.args or value.keywords):
        return of_call(value, text)
    if isinstance(value, ast.Subscript):
        return _around_one(text.index("[", value.value.end_col_offset), (value.end_col_offset or 0) - 1, text)
    return None


def _around_one(opening: int, closing: int, text: str) -> Brackets:
    """Brackets with one expression in them, which stays whole."""
    return Brackets(opening, closing, [text[opening + 1 : closing].strip()], False)


def _cuts(value: ast.expr, text: str) -> list[int]:
    """Where a value may be broken: before each operator but the first operand, behind each element, or before each
    method of a chain."""
    if isinstance(value, ast.Attribute | ast.Call | ast.Subscript):
        return _methods(value, text) if _is_chain(value, text) else []
    return [_behind(before, after, text) for before, after in pairwise(_operands(value, text))]


def _is_chain(value: ast.expr, text: str) -> bool:
    return len(_methods(value, text)) >= _CHAIN


def _methods(value: ast.expr, text: str) -> list[int]:
    """The dots of a chain that stand behind a call or an item."""
    found: list[int] = []
    while isinstance(value, ast.Attribute | ast.Call | ast.Subscript):
        inner = value.func if isinstance(value, ast.Call) else value.value
        if isinstance(value, ast.Attribute) and isinstance(inner, ast.Call | ast.Subscript):
            found.insert(0, text.index(".", inner.end_col_offset))
        value = inner
    return found


def _operands(value: ast.expr, text: str) -> Sequence[ast.expr]:
    match value:
        case ast.BinOp():
            return _terms(value, text)
        case ast.BoolOp():
            return [inner for one in value.values for inner in _conditions(one, text)]
        case ast.Compare():
            return [value.left, *value.comparators]
        case ast.IfExp():
            return [value.body, value.test, value.orelse]
        case ast.Tuple() | ast.List() | ast.Set():
            return value.elts
        case ast.Dict():
            return value.values
    return [value]


def _terms(value: ast.BinOp, text: str) -> list[ast.expr]:
    """The operands of operators that bind alike: `a + (b - c) - d` has three."""
    left = value.left
    alike = next((kinds for kinds in _ALIKE if isinstance(value.op, kinds)), ())
    is_one = isinstance(left, ast.BinOp) and isinstance(left.op, alike)
    if not isinstance(left, ast.BinOp) or not is_one or text[left.end_col_offset :].lstrip().startswith(")"):
        return [left, value.right]
    return [*_terms(left, text), value.right]


def _conditions(value: ast.expr, text: str) -> Sequence[ast.expr]:
    """The operands of an operand of `and` or `or`: `a and b` has two, `(a and b)` is one."""
    before, after = text[: value.col_offset].rstrip(), text[value.end_col_offset :].lstrip()
    if not isinstance(value, ast.BoolOp) or before.endswith("(") and after.startswith(")"):
        return [value]
    return _operands(value, text)


def _behind(before: ast.expr, after: ast.expr, text: str) -> int:
    """Where the operator or comma between two expressions begins."""
    end = before.end_col_offset or 0
    gap = text[end : after.col_offset]
    return end + len(gap) - len(gap.lstrip(") \t"))
