"""Inserts the imports and functions that a fix needs, below the imports of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import libcst as cst

from loaderlint.fixes.draft import LINES, Draft, NewFunction, NewImport
from loaderlint.fixes.exported_names import export_changes
from loaderlint.fixes.extend_import import extensions
from loaderlint.fixes.file_edits import Change
from loaderlint.fixes.import_order import FUTURE, Import, placed
from loaderlint.fixes.layout import above_comments, statement_piece
from loaderlint.fixes.name_scopes import dotted, has_word, module_imports
from loaderlint.syntax.cutter import GOES_ON, Piece
from loaderlint.syntax.main_guard import is_main_guard

_IMPORT = re.compile(r"[ \t]*(?:import|from)\b", re.MULTILINE)
_IMPORT_BLOCK = re.compile(r".*:(?:[ \t]*(?:#.*)?(?:\r\n|\n))*[ \t]*(?:import|from)\b")
#: An import that is commented out, at the start of a line.
_OLD_IMPORT = re.compile(r"#[ \t]*(?:import[ \t]+[\w.]+|from[ \t]+[\w.]+[ \t]+import[ \t])")
_ABOUT = re.compile(r"__\w+__ *=")
#: What begins a statement with statements in it.
_SUITE = re.compile(r"(?:if|for|while|with|try|match|async)\b")
_COOKIE = re.compile(r"#!|#.*coding[:=]")
#: The most lines of settings between the imports and the first definition, above which a new function would stand too
#: far from the imports.
_MAX_SETTINGS = 40


def header_changes(draft: Draft) -> list[Change]:
    """The changes that add the plan's imports and functions."""
    plan = draft.plan
    if not plan.imports and not plan.functions:
        return []
    at, head = _head(draft)
    extended = dict(extensions(plan.imports, draft, _first_planned(draft)))
    imports = dict(_placed_imports([one for one in plan.imports if one not in extended], draft, at, head))
    places: dict[int, list[NewFunction]] = {}
    for function in plan.functions:
        if function.near:
            place = _above(draft, function.before)
        else:
            place = _below_needed(draft, function, _function_place(draft, function.before, at))
        places.setdefault(place, []).append(function)
    if at in imports and not _has_groups(head) and at not in places and _starts_with_code(draft, at):
        imports[at] += draft.newline
    changes = [draft.insert_lines(offset, text) for offset, text in imports.items() if offset not in places]
    more = [change for changes in extended.values() for change in changes]
    return [*more, *changes, *_function_changes(draft, places, imports), *export_changes(draft)]


def _placed_imports(new: Sequence[NewImport], draft: Draft, at: int, head: Sequence[Import]) -> list[tuple[int, str]]:
    """Where new imports go: offsets, each with the lines to insert there."""
    if not new:
        return []
    if _has_groups(head):
        return placed(new, head, _imports_below(draft, at), draft)
    text = "".join(dict.fromkeys(one.statement + draft.newline for one in new))
    if at and _blank_lines_before(draft, at) == 0 and not _in_comment(draft, at):
        text = draft.newline + text
    return [(at, text)]


def _function_changes(
    draft: Draft, places: Mapping[int, list[NewFunction]], imports: Mapping[int, str]
) -> list[Change]:
    """The changes that add functions at their places, below the new imports that go there too."""
    changes = []
    for offset, functions in places.items():
        statements = imports.get(offset, "")
        blank = 2 if statements or offset else 0
        if blank and not statements:
            blank = max(0, 2 - _blank_lines_before(draft, offset))
        gap = draft.newline * blank
        text = statements + gap + (draft.newline * 2).join(draft.lines(function.source, "") for function in functions)
        if draft.text[offset:].strip():
            text += draft.newline * max(0, 2 - _blank_lines_after(draft, offset))
        changes.append(draft.insert_lines(offset, text, LINES))
    return changes


def _has_groups(head: Sequence[Import]) -> bool:
    """Whether an import other than of `__future__` is there, below which others go without more ado."""
    return any(one.kind != FUTURE for one in head)


def _head(draft: Draft) -> tuple[int, list[Import]]:
    """Where the docstring and the imports that open the file end, and these imports."""
    end, head = _below_comments(draft), []
    for piece, one in enumerate(draft.pieces):
        if one.parent != -1:
            continue
        is_docstring = piece == 0 and _is_docstring(draft, piece)
        if not is_docstring and not _is_import(draft, piece):
            if _ABOUT.match(one.text):
                continue  # `__author__ = "..."` may stand above the imports
            break
        end = draft.piece_end(piece)
        if not is_docstring:
            head.append(_import_at(draft, piece, end))
    return end, head


def _imports_below(draft: Draft, end: int) -> list[Import]:
    """The imports at module level that stand below those that open the file, which end at `end`: above the first
    definition and above all that the plan changes, so that a new one among them is run in time."""
    first = _first_planned(draft)
    found = []
    for piece, one in enumerate(draft.pieces):
        if one.start >= first or _is_definition(one):
            break
        if one.start >= end and one.parent == -1 and _is_import(draft, piece):
            found.append(_import_at(draft, piece, draft.piece_end(piece)))
    return found


def _first_planned(draft: Draft) -> int:
    """The offset of the first code that is changed, or that uses a new function."""
    plan = draft.plan
    pieces = [*(function.before for function in plan.functions), *(argument.piece for argument in plan.arguments)]
    starts = [draft.pieces[piece].start for piece in pieces if piece < len(draft.pieces)]
    return min([*starts, *(change.start for change in plan.changes), len(draft.text)])


def _is_definition(piece: Piece) -> bool:
    return piece.kind == "class" or piece.text.startswith(("def ", "async def ", "@"))


def _import_at(draft: Draft, piece: int, end: int) -> Import:
    """The first import of a piece that is a line of imports."""
    tree = draft.known_tree(piece)
    assert tree is not None and isinstance(tree.node, cst.SimpleStatementLine)
    first = tree.node.body[0]
    start = draft.pieces[piece].start
    if isinstance(first, cst.ImportFrom):
        module = dotted(first.module) if first.module is not None else ""
        return Import("." * len(first.relative) + module, True, start, end)
    assert isinstance(first, cst.Import)
    return Import(dotted(first.names[0].name), False, start, end)


def _above(draft: Draft, piece: int) -> int:
    """Where a function is to be added directly above the module-level statement that the piece is or stands in."""
    first = statement_piece(draft, piece)
    return above_comments(draft, draft.line_start(draft.pieces[first].start))


def _function_place(draft: Draft, before: int, lowest: int) -> int:
    """Where a function that the piece `before` uses is to be added: below the last import above the first definition,
    and below the settings between them (`logger = ...`), not above `lowest`."""
    place, open_block = lowest, False
    limit = draft.text.count("\n", 0, lowest) + _MAX_SETTINGS
    piece = 0
    while piece < len(draft.pieces):
        one = draft.pieces[piece]
        last = draft.last_inside(piece)
        if last >= before or _is_definition(one):
            break
        goes_on = one.keyword in GOES_ON
        is_block = piece != last or one.text.startswith(("if", "try"))
        if (
            goes_on
            and open_block
            or not goes_on
            and _has_import(draft, piece, last)
            and (not is_block or one.line <= limit)
        ):
            place, open_block = max(place, draft.piece_end(last)), True
            limit = draft.text.count("\n", 0, place) + _MAX_SETTINGS
        else:
            open_block = False
        piece = last + 1
    # Never between the clauses of one statement.
    following = draft.pieces[piece].keyword if piece < len(draft.pieces) else ""
    if open_block and following in GOES_ON:
        return _start_of_block(draft, piece)
    return _below_settings(draft, _below_closing_comments(draft, _below_old_imports(draft, place)), before)


def _below_needed(draft: Draft, function: NewFunction, place: int) -> int:
    """The place of a function; below the imports that it needs, and those that follow them, where these stand below the
    first definitions: the imports that open the file are another script's, or those of a part of it."""
    first: dict[str, int] = {}
    for binding in module_imports(draft):
        if binding.sure and binding.piece < function.before and has_word(function.source, binding.name):
            first.setdefault(binding.name, binding.piece)
    last = max(first.values(), default=-1)
    if last < 0 or draft.pieces[last].parent != -1 or draft.pieces[last].start < place:
        return place
    while last + 1 < len(draft.pieces) and _is_import(draft, last + 1):
        last += 1
    return draft.piece_end(last)


def _below_old_imports(draft: Draft, offset: int) -> int:
    """Where the imports end that are commented out at `offset`, below at most one empty line; `offset` if there are
    none."""
    first = offset if _starts_with_code(draft, offset) else draft.next_line(offset)
    end = first
    while _OLD_IMPORT.match(draft.text, end):
        end = draft.next_line(end)
    return end if end > first else offset


def _below_closing_comments(draft: Draft, offset: int) -> int:
    """Where the comments end that directly follow the imports, if an empty line parts them from the code below: they
    close a part of the file (`# ----`). Otherwise `offset`."""
    end = offset
    while end < len(draft.text) and draft.text.startswith("#", end):
        end = draft.next_line(end)
    return end if end >= len(draft.text) or not _starts_with_code(draft, end) else offset


def _below_settings(draft: Draft, offset: int, before: int) -> int:
    """Where the plain statements from `offset` on end, with the comments that close them, if the first definition or
    the main guard directly follows; else `offset`: the script's own work begins there."""
    end, limit = offset, draft.text.count("\n", 0, offset) + _MAX_SETTINGS
    piece = next((n for n, one in enumerate(draft.pieces) if one.start >= offset), len(draft.pieces))
    while piece < len(draft.pieces):
        one, last = draft.pieces[piece], draft.last_inside(piece)
        if _is_definition(one) or is_main_guard(one.text):
            return _below_closing_comments(draft, end)
        if last != piece or last >= before or _SUITE.match(one.text) or one.line > limit:
            return offset
        end, piece = draft.piece_end(piece), piece + 1
    return offset


def _start_of_block(draft: Draft, piece: int) -> int:
    """Where the statement begins that the clause `piece` goes on."""
    while draft.pieces[piece].parent != -1 or draft.pieces[piece].keyword in GOES_ON:
        piece -= 1
    return draft.pieces[piece].start


def _has_import(draft: Draft, piece: int, last: int) -> bool:
    if (
        piece == last
        and draft.pieces[piece].kind == "statement"
        and not draft.pieces[piece].text.startswith(("if", "try"))
    ):
        return _is_import(draft, piece)
    if "__name__" in draft.pieces[piece].text:
        return False
    # A block that begins with something else is the script's work, not a choice of imports.
    return bool(_IMPORT_BLOCK.match(draft.text, draft.pieces[piece].start, draft.piece_end(last)))


def _is_docstring(draft: Draft, piece: int) -> bool:
    tree = draft.known_tree(piece) if draft.pieces[piece].text[:3].lstrip("rRuU").startswith(('"', "'")) else None
    if tree is None or not isinstance(tree.node, cst.SimpleStatementLine):
        return False
    first = tree.node.body[0]
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString | cst.ConcatenatedString)


def _is_import(draft: Draft, piece: int) -> bool:
    """Whether the piece is a line of nothing but imports."""
    if not _IMPORT.match(draft.pieces[piece].text):
        return False
    tree = draft.known_tree(piece)
    if tree is None or not isinstance(tree.node, cst.SimpleStatementLine):
        return False
    return all(isinstance(small, cst.Import | cst.ImportFrom) for small in tree.node.body)


def _below_comments(draft: Draft) -> int:
    """Where a file without docstring and imports begins: below the first lines' `#!` and encoding, and below a comment
    that a blank line parts from the rest."""
    first = draft.pieces[0].start if draft.pieces else len(draft.text)
    offset = 0
    while offset < first and _COOKIE.match(draft.text, offset):
        offset = draft.next_line(offset)
    end = offset
    while end < first and draft.text[end : draft.line_end(end)].strip():
        end = draft.next_line(end)
    if end >= first or end == offset:
        return offset
    return min(first, draft.next_line(end))


def _in_comment(draft: Draft, offset: int) -> bool:
    """Whether the line above `offset` is a comment."""
    start = draft.line_start(max(0, offset - len(draft.newline)))
    return draft.text.startswith("#", start)


def _starts_with_code(draft: Draft, offset: int) -> bool:
    return bool(draft.text[offset : draft.line_end(offset)].strip())


def _blank_lines_after(draft: Draft, offset: int) -> int:
    count = 0
    while offset < len(draft.text) and not _starts_with_code(draft, offset):
        offset, count = draft.next_line(offset), count + 1
    return count


def _blank_lines_before(draft: Draft, offset: int) -> int:
    count = 0
    while offset:
        start = draft.line_start(offset - len(draft.newline)) if offset >= len(draft.newline) else 0
        if start >= offset or draft.text[start:offset].strip():
            break
        offset, count = start, count + 1
    return count
