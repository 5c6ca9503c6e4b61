"""Put the rest of a module under a line of its own, such as a main guard."""

from __future__ import annotations

import re

import libcst as cst

from loaderlint.findings.finding import Place
from loaderlint.fixes.draft import LINES, Draft
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.layout import above_comments, statement_piece
from loaderlint.fixes.long_lines import indented

_STRINGS = (cst.SimpleString, cst.FormattedString, cst.TemplatedString)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
#: Marks of cells, which editors look for at the start of a line.
_CELL = re.compile(r"^#[ \t]*(?:%%|<codecell>|In\[)", re.MULTILINE)

#: A line that binds a name, and a comment that would.
_BOUND = re.compile(r"(?P<name>\w+)[ \t]*=(?!=)")
_BOUND_IN_COMMENT = re.compile(r"#[# \t]*(?P<name>\w+)[ \t]*=(?!=)")


def enclose_rest(draft: Draft, place: Place, head: str) -> None:
    """Plan to put the module-level statement at `place` and all below it under `head`, but for strings at the end of
    the file, which hold code that is switched off. One change: what another fix changes there has to wait.

    Raises Refused if the file is cut into cells."""
    draft.find(place)
    first = statement_piece(draft, place.piece)
    start = _above_own_comments(draft, draft.line_start(draft.pieces[first].start))
    rest = draft.text[start:]
    if _CELL.search(rest):
        raise Refused("the file is cut into cells")
    inside, end = _inside_strings(draft, first), _before_last_strings(draft, first)
    lines = []
    offset = start
    for line in _LINE.findall(rest):
        code = line.rstrip("\r\n")
        kept = not code.strip() or offset in inside or offset >= end
        lines.append(line if kept else draft.newline.join(indented(draft, code)) + line[len(code) :])
        offset += len(line)
    text = f"{head}{draft.newline}{''.join(lines)}"
    draft.change(Change(start, len(draft.text), text, LINES))


def _above_own_comments(draft: Draft, line: int) -> int:
    """The start of the first of the comment lines directly above a line, without those that hold another value of what
    the statement above them binds: `# Tensor = torch.cuda.DoubleTensor`."""
    start = above_comments(draft, line)
    if start == 0:
        return start
    above = _BOUND.match(draft.text, draft.line_start(start - 1))
    while above is not None and start < line:
        other = _BOUND_IN_COMMENT.match(draft.text, start)
        if other is None or other["name"] != above["name"]:
            break
        start = draft.next_line(start)
    return start


def _before_last_strings(draft: Draft, first: int) -> int:
    """The offset at which the strings begin that are the last statements of the file, below piece `first`; the end of
    the file if there are none. The lines of a string keep their places, and its first line should be in line with
    them."""
    end = len(draft.text)
    for piece in range(len(draft.pieces) - 1, first, -1):
        statements = [node for node in draft.tree(piece).nodes if isinstance(node, cst.SimpleStatementLine)]
        if draft.pieces[piece].parent >= 0 or len(statements) != 1 or not _is_string(statements[0]):
            return end
        end = above_comments(draft, draft.line_start(draft.tree(piece).start(statements[0])))
    return end


def _is_string(statement: cst.SimpleStatementLine) -> bool:
    only = statement.body[0] if len(statement.body) == 1 else None
    return isinstance(only, cst.Expr) and isinstance(only.value, cst.SimpleString)


def _inside_strings(draft: Draft, first: int) -> frozenset[int]:
    """The offsets of lines that begin inside a string, from piece `first` on."""
    found: set[int] = set()
    for piece in range(first, len(draft.pieces)):
        tree = draft.tree(piece)
        for node in tree.nodes:
            if not isinstance(node, _STRINGS):
                continue
            line = draft.next_line(tree.start(node))
            while line < tree.end(node):
                found.add(line)
                line = draft.next_line(line)
    return frozenset(found)
