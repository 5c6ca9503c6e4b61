"""Break the lines that a fix makes too long, as formatters do: at the outermost brackets around what it changed, or
else at parentheses around the value of the statement."""

from __future__ import annotations

import ast
import contextlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import libcst as cst

from loaderlint.fixes.brackets import Brackets, Width, broken_at, of_call, of_comprehension
from loaderlint.fixes.draft import EXPRESSION, WRAP_END, WRAP_START, Draft
from loaderlint.fixes.file_edits import Change
from loaderlint.fixes.layout import DIRECTIVE
from loaderlint.fixes.long_calls import Layout
from loaderlint.fixes.parentheses import in_parentheses

#: Ranks of changes within an expression.
_WITHIN = (WRAP_START, WRAP_END, EXPRESSION)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

#: What a line break inserts, with a parenthesis on either side of the new line.
_INSERTED = re.compile(r"([,(]?(?:\r\n|\n)[ \t]*)(\))?")

#: From where to where something goes, as offsets in the text of a line.
_Span = tuple[int, int]


def with_lines_broken(draft: Draft, changes: Sequence[Change]) -> list[Change]:
    """The changes of a file, which are sorted. Those of a statement that stands on one line, which they make longer
    than lines of the file are, also break it."""
    lines: dict[int, list[Change]] = {}
    for change in changes:
        lines.setdefault(draft.line_start(change.start), []).append(change)
    return [change for start, own in lines.items() for change in _broken(draft, start, own) or own]


def _broken(draft: Draft, start: int, own: Sequence[Change]) -> list[Change]:
    """What changes and breaks the line at `start`; nothing if it fits, or no line breaks make it fit."""
    end = draft.line_end(start)
    if any(one.rank not in _WITHIN or one.end > end or "\n" in one.text for one in own):
        return []
    length = end - start
    longer = length + sum(len(one.text) - (one.end - one.start) for one in own)
    limit = draft.original.code_length
    if length > limit:  # a formatter leaves it; others let it grow as long as the longest line
        limit = longer if draft.original.formatted_length is not None else draft.original.line_length
    if longer <= max(length, limit) or DIRECTIVE.search(draft.text, start, end):
        return []
    code, spans = _with_changes(draft.text[start:end], start, own)
    width = Width(draft.indentation(start), draft.unit, draft.original.call_length(limit))
    lines = broken_around(code, spans, width, draft.layout)
    if not lines and _is_statement(draft, start):
        lines = in_parentheses(code, width, draft.layout)
    breaks = _breaks(code, draft.newline.join(lines)) if lines else None
    return _with_breaks(breaks, own, spans, start) if breaks else []


def _is_statement(draft: Draft, start: int) -> bool:
    """Whether a statement begins in the line at `start`. An argument on a line of its own, `key=a or b,`, may look like
    one."""
    tree = draft.known_tree(bisect_right(draft.original.starts, start) - 1)
    if tree is None or not tree.exact:
        return False
    statements = (node for node in tree.nodes if isinstance(node, cst.BaseStatement))
    return any(draft.line_start(tree.start(node)) == start for node in statements)


def indented(draft: Draft, line: str) -> list[str]:
    """A line of code, without its line end, one level deeper: as several lines if that makes it too long, and if it is
    a statement that ends with a call or a comprehension, or holds later arguments of a call."""
    deeper = draft.unit + line
    limit = draft.original.code_length
    if len(deeper) <= limit or len(line) > limit or DIRECTIVE.search(line):
        return [deeper]
    text = line.lstrip()
    shift = len(deeper) - len(text)
    value = _value(text.rstrip())
    end = shift + (value.end_col_offset or 0) if value is not None else 0
    width = Width(deeper[:shift], draft.unit, draft.original.call_length(limit))
    return broken_around(deeper, [(end - 1, end)], width, draft.layout) or [deeper]


def _with_changes(line: str, start: int, own: Sequence[Change]) -> tuple[str, list[_Span]]:
    """The line after the changes, and where in it these are."""
    parts, spans, at, length = [], [], 0, 0
    for one in own:
        kept = line[at : one.start - start]
        length += len(kept)
        spans.append((length, length + len(one.text)))
        length += len(one.text)
        parts += [kept, one.text]
        at = one.end - start
    return "".join([*parts, line[at:]]), spans


def _breaks(line: str, broken: str) -> list[tuple[int, str]] | None:
    """What was inserted into `line` to make `broken` of it, and where; None if more was done."""
    found = []
    at = done = 0
    while done < len(broken):
        if broken[done] == line[at : at + 1]:
            at, done = at + 1, done + 1
            continue
        text = _inserted(line[at:], broken, done)
        if text is None:
            return None
        found.append((at, text))
        done += len(text)
    return found if at == len(line) else None


def _inserted(rest: str, broken: str, at: int) -> str | None:
    """What stands in `broken` at `at`, before the `rest` of the line; None if that is no line break."""
    found = _INSERTED.match(broken, at)
    if found is None:
        return None
    code = rest.lstrip(" ")
    if found[2] and not code.startswith(")"):
        return found[0]
    kept = len(rest) - len(code)  # these spaces are the end of the new indentation
    return found[1][: len(found[1]) - kept] if found[1].endswith(" " * kept) else None


def _with_breaks(
    breaks: Sequence[tuple[int, str]], own: Sequence[Change], spans: Sequence[_Span], start: int
) -> list[Change]:
    """The changes of the line at `start`, which are at `spans` after them, and line breaks at offsets that count from
    there: in the text of a change, or changes of their own."""
    texts = [one.text for one in own]
    new = []
    for at, text in reversed(breaks):
        inside = next((number for number, (first, last) in enumerate(spans) if first <= at <= last), None)
        if inside is not None:
            here = at - spans[inside][0]
            texts[inside] = texts[inside][:here] + text + texts[inside][here:]
            continue
        more = sum(
            len(one.text) - (one.end - one.start) for one, (_, last) in zip(own, spans, strict=True) if last < at
        )
        new.append(Change(start + at - more, start + at - more, text, EXPRESSION))
    changed = [one._replace(text=text) for one, text in zip(own, texts, strict=True)]
    return sorted([*changed, *new])


def broken_around(line: str, spans: Sequence[_Span], width: Width, layout: Layout) -> list[str]:
    """`line` as several lines where it is one whole statement, or the head of a `for` loop, with brackets that hold all
    of `spans`: what is in them on a line of its own; else each part of a comprehension on one, or arguments as `layout`
    lays them out. A later line of a call is broken between its arguments. Empty if no line breaks make it fit."""
    text = line.strip()
    value = _value(text)
    shift = len(width.indent)
    inside = [(start - shift, end - shift) for start, end in spans]
    if value is None:
        return _continued(text, width)
    brackets = _around(value, text, inside)
    if brackets is None:
        return []
    return broken_at(brackets, text, width, layout)


def _continued(text: str, width: Width) -> list[str]:
    """The arguments that a later line of a call holds, as many on each line as fit; empty for other texts, and if one
    of them does not fit."""
    starts = _argument_starts(text)
    if not starts or any(not text[:start].rstrip().endswith(",") for start in starts[1:]):
        return []
    lines = [width.indent]
    for start, end in pairwise([*starts, len(text)]):
        if lines[-1].strip() and len(lines[-1] + text[start:end].rstrip()) > width.limit:
            lines.append(width.indent)
        lines[-1] += text[start:end]
    lines = [line.rstrip() for line in lines]
    return lines if width.holds(lines) else []


def _argument_starts(text: str) -> list[int]:
    """Where the arguments of a call begin of which a text is the rest: `a, b=1)` or `a, b=1,`."""
    for code in (f"f({text}", f"f({text})") if text.isascii() else ():
        with contextlib.suppress(SyntaxError, ValueError):
            call = ast.parse(code, mode="eval").body
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                offsets = [one.col_offset for one in call.args] + [one.col_offset for one in call.keywords]
                return sorted(offset - len("f(") for offset in offsets)
    return []


def _value(text: str) -> ast.expr | None:
    """The expression that a statement ends with, or that a `for` loop goes over; None for other texts."""
    if not text.isascii():
        return None
    try:
        statements = ast.parse(f"{text} pass" if text.endswith(":") else text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match statements:
        case [ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr() as one]:
            return one.value
        case [ast.For(iter=iterable)]:
            return iterable
    return None


def _around(node: ast.expr, text: str, spans: Sequence[_Span]) -> Brackets | None:
    """The outermost brackets of an expression, or of what its trailers (`[0]`, `.name`) belong to, that hold all of
    `spans`, or are made by them."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Call) and (node.args or node.keywords):
            brackets = of_call(node, text)
            if _holds(brackets, node.col_offset, spans):
                return brackets
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, _COMPREHENSIONS):
        return None
    brackets = of_comprehension(node, node.col_offset, node.end_col_offset or 0, text)
    return brackets if _holds(brackets, brackets.opening, spans) else None


def _holds(brackets: Brackets, start: int, spans: Sequence[_Span]) -> bool:
    return spans[-1][1] >= brackets.opening and all(
        start <= first and last <= brackets.closing + 1 for first, last in spans
    )
