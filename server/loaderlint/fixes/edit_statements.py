"""Insert, replace and delete statements."""

from __future__ import annotations

import libcst as cst

from loaderlint.findings.finding import Place
from loaderlint.fixes.draft import EXPRESSION, LINES, Draft
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.layout import DIRECTIVE, above_comments
from loaderlint.fixes.name_scopes import is_stored
from loaderlint.fixes.piece_tree import Tree
from loaderlint.syntax.cutter import GOES_ON


def is_statement(node: cst.CSTNode) -> bool:
    """Whether `node` is a statement."""
    return isinstance(node, cst.BaseStatement | cst.BaseSmallStatement)


def insert(draft: Draft, place: Place, source: str, where: str) -> None:
    """Plan to insert the lines of `source` before or after the statement at `place`.

    Raises Refused."""
    tree, node = draft.find(place)
    statement = _statement(tree, node)
    start = first_offset(tree, statement)
    indent = draft.indentation(start)
    if not draft.begins_line(start):
        raise Refused("the statement does not begin its line")
    if where == "before":
        if statement is tree.node and draft.pieces[place.piece].keyword in GOES_ON:
            raise Refused("nothing can be inserted before this clause")
        offset = above_comments(draft, draft.line_start(start))
    elif statement is tree.node:
        offset = _end_of_block(draft, place.piece)
    else:
        offset = draft.next_line(tree.end(statement))
    text = draft.lines(source, indent)
    there = draft.text[:offset].endswith(text) if where == "before" else _stands(draft, offset, text)
    if there:
        return
    draft.change(draft.insert_lines(offset, text, LINES))


def replace(draft: Draft, place: Place, tree: Tree, node: cst.CSTNode, source: str) -> None:
    """Plan to write `source` for the statement `node`. A comment behind its last line stays.

    Raises Refused."""
    statement = node
    if isinstance(node, cst.BaseCompoundStatement) and draft.pieces[place.piece].kind != "statement":
        if node is tree.node:
            raise Refused("a statement of this kind cannot be replaced")
    start, end = first_offset(tree, statement), tree.end(statement)
    lines = source.split("\n")
    if len(lines) > 1 and not _is_alone(draft, tree, statement):
        raise Refused("there is more on the statement's line")
    indent = draft.indentation(start)
    text = draft.newline.join([lines[0], *(draft.line(line, indent) for line in lines[1:])])
    if draft.text[start:end] != text:
        draft.change(Change(start, end, text, EXPRESSION))


def name_loop_variable(draft: Draft, place: Place, name: str) -> None:
    """Plan to write `name` for the variable `_` of the `for` loop at `place`.

    Raises Refused if the loop stands in no function, or the function reads `_` or uses `name`."""
    tree, node = draft.find(place)
    loop = next((one for one in (node, *tree.above(node)) if isinstance(one, cst.For)), None)
    function = next((one for one in tree.above(node) if isinstance(one, cst.FunctionDef)), None)
    if loop is None or function is None or not isinstance(loop.target, cst.Name) or loop.target.value != "_":
        raise Refused("this is not a loop without a variable")
    for one in tree.nodes:
        if not isinstance(one, cst.Name) or all(above is not function for above in tree.above(one)):
            continue
        if one.value == name or (one.value == "_" and not is_stored(tree, one)):
            raise Refused(f"the function uses {one.value}")
    draft.change(Change(*tree.whole(loop.target), name, EXPRESSION))


def delete(draft: Draft, place: Place) -> None:
    """Plan to delete the simple statement at `place`; `pass` stays where nothing else would. Comments stay.

    Raises Refused."""
    tree, node = draft.find(place)
    line = node if isinstance(node, cst.SimpleStatementLine) else tree.parent(node)
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        node = node.body[0]
    if not isinstance(node, cst.BaseSmallStatement) or not isinstance(
        line, cst.SimpleStatementLine | cst.SimpleStatementSuite
    ):
        raise Refused("only a simple statement can be deleted")
    if len(line.body) > 1:
        draft.change(_delete_one_of(tree, line, node))
        return
    start, end = tree.start(node), tree.extent(node)[1]
    if isinstance(line, cst.SimpleStatementSuite) or _is_only_one(draft, place.piece, tree, line):
        draft.change(Change(start, tree.end(node), "pass", EXPRESSION))
        return
    line_end = draft.line_end(end)
    comment = draft.text[end:line_end].strip(" \t")
    if comment.startswith("#") and not DIRECTIVE.match(comment):
        draft.change(Change(start, draft.text.index("#", end), "", EXPRESSION))
        return
    draft.change(Change(draft.line_start(start), draft.next_line(end), "", EXPRESSION))


def first_offset(tree: Tree, statement: cst.CSTNode) -> int:
    """Where a statement begins, with its decorators."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef) and statement.decorators:
        return tree.start(statement.decorators[0])
    return tree.start(statement)


def _statement(tree: Tree, node: cst.CSTNode) -> cst.CSTNode:
    """The statement that `node` is or stands in, which is not part of a line with others."""
    for above in (node, *tree.above(node)):
        if isinstance(above, cst.BaseSmallStatement):
            line = tree.parent(above)
            if isinstance(line, cst.SimpleStatementSuite):
                raise Refused("the statement is on the line of its block's header")
            if isinstance(line, cst.SimpleStatementLine):
                if len(line.body) > 1:
                    raise Refused("there is more on the statement's line")
                return line
        if isinstance(above, cst.BaseStatement) or above is tree.node:
            if isinstance(above, cst.SimpleStatementLine) and len(above.body) > 1:
                raise Refused("there is more on the statement's line")
            if isinstance(above, cst.If) and _is_elif(tree, above):
                continue
            return above
    raise Refused("this is not a statement")


def _is_elif(tree: Tree, node: cst.If) -> bool:
    parent = tree.parent(node)
    return isinstance(parent, cst.If) and parent.orelse is node


def _end_of_block(draft: Draft, piece: int) -> int:
    """The first offset below the whole statement that begins with (or goes on with) the piece."""
    last = draft.last_inside(piece)
    if draft.pieces[piece].kind == "clause":
        while last + 1 < len(draft.pieces) and _goes_on(draft, piece, last + 1):
            last = draft.last_inside(last + 1)
    return draft.piece_end(last)


def _goes_on(draft: Draft, piece: int, following: int) -> bool:
    other = draft.pieces[following]
    return other.parent == draft.pieces[piece].parent and other.keyword in GOES_ON


def _stands(draft: Draft, offset: int, lines: str) -> bool:
    """Whether `lines` stand at `offset` already, the last one perhaps without a line end."""
    lines = lines.removesuffix(draft.newline)
    end = offset + len(lines)
    return draft.text.startswith(lines, offset) and draft.line_end(end) == end


def _is_alone(draft: Draft, tree: Tree, statement: cst.CSTNode) -> bool:
    """Whether nothing but the statement (and a comment) is on its lines."""
    parent = tree.parent(statement)
    if (
        isinstance(parent, cst.SimpleStatementSuite)
        or isinstance(parent, cst.SimpleStatementLine)
        and len(parent.body) > 1
    ):
        return False
    return draft.begins_line(first_offset(tree, statement))


def _is_only_one(draft: Draft, piece: int, tree: Tree, line: cst.CSTNode) -> bool:
    """Whether the line is the only statement of its block."""
    if line is tree.node:
        parent = draft.pieces[piece].parent
        return parent != -1 and sum(one.parent == parent for one in draft.pieces) == 1
    block = tree.parent(line)
    return isinstance(block, cst.IndentedBlock) and len(block.body) == 1


def _delete_one_of(
    tree: Tree, line: cst.SimpleStatementLine | cst.SimpleStatementSuite, node: cst.BaseSmallStatement
) -> Change:
    """Take one of several statements out of a line, with one semicolon."""
    index = next(number for number, small in enumerate(line.body) if small is node)
    if index + 1 < len(line.body):
        return Change(tree.start(node), tree.start(line.body[index + 1]), "", EXPRESSION)
    return Change(tree.end(line.body[index - 1]), tree.end(node), "", EXPRESSION)
