"""Make lambdas and nested functions functions of the module."""

from __future__ import annotations

import builtins
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst
from msgspec.structs import replace

from loaderlint.findings.finding import Hoist
from loaderlint.fixes.added_functions import free_name, plan_source, tokens_of
from loaderlint.fixes.draft import EXPRESSION, Draft, NewFunction
from loaderlint.fixes.edit_statements import first_offset
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.layout import above_comments
from loaderlint.fixes.name_scopes import binding_nodes, bindings
from loaderlint.fixes.piece_tree import Tree
from loaderlint.syntax.notebook import SUFFIX

#: A statement that may become a function in the same way.
_NAMED_LAMBDA = re.compile(r"\w+[ \t]*=[ \t]*lambda\b")
_BLANK = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\n\r|\r|\n")
_HEAD = re.compile(r"def\s+\w+\s*\(")
_CONSTANTS = ("True", "False", "None")


class Hoisted(NamedTuple):
    """What stands where the function stood: `text`, with marks; None if nothing has to."""

    text: str | None


def plan_hoist(intent: Hoist, draft: Draft) -> Hoisted:
    """Add the function to the plan as one of the module.

    Raises Refused."""
    tree, node = draft.find(intent.place)
    inside = any(isinstance(above, cst.FunctionDef | cst.Lambda) for above in tree.above(node))
    run_at = len(draft.pieces) if inside else intent.place.piece
    if isinstance(node, cst.Lambda):
        forwarded = _forwarded(draft, tree, node, intent)
        if forwarded is not None:
            return Hoisted(forwarded)
        if not inside and _defined_in_place(draft, tree, node, intent):
            return Hoisted(None)
        source = _of_lambda(draft, tree, node, intent)
        return Hoisted(_use(plan_source(intent.name, source, draft, intent.place.piece, run_at), intent))
    if not isinstance(node, cst.FunctionDef) or node.decorators or not inside:
        raise Refused("this is not a function that can be moved")
    name = node.name.value
    if not intent.captures and _is_only(draft, node, name):
        _move(draft, tree, node, intent)
        return Hoisted(None)
    own = f"_{name.lstrip('_')}" if intent.name == name else intent.name
    source = _of_def(draft, (tree.start(node), tree.end(node)), own, intent.captures)
    return Hoisted(f"{name} = {_use(plan_source(own, source, draft, intent.place.piece, run_at), intent)}")


def _use(name: str, intent: Hoist) -> str:
    if not intent.captures:
        return name
    return f"{{functools}}.partial({', '.join((name, *intent.captures))})"


def _forwarded(draft: Draft, tree: Tree, node: cst.Lambda, intent: Hoist) -> str | None:
    """What stands for a lambda that only calls a function of the file, or one that it imports, with its own parameters:
    that function, or a partial of it with what the call adds (`lambda row: pad(row, size=size)`). None for others."""
    call, names = node.body, [param.name.value for param in node.params.params]
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or not names:
        return None
    if tree.module.code_for_node(node.params).strip() != ", ".join(names) or not _is_function(
        draft, call.func.value, intent
    ):
        return None
    passed, added = call.args[: len(names)], call.args[len(names) :]
    if [_word(arg.value) for arg in passed] != names or any(arg.keyword or arg.star for arg in passed):
        return None
    given = []
    for arg in added:
        word = _word(arg.value)
        if arg.keyword is None or word is None or (word.isidentifier() and word not in {*intent.captures, *_CONSTANTS}):
            return None
        given.append(f"{arg.keyword.value}={word}")
    return f"{{functools}}.partial({', '.join((call.func.value, *given))})" if given else call.func.value


def _defined_in_place(draft: Draft, tree: Tree, node: cst.Lambda, intent: Hoist) -> bool:
    """Plan to make `identity = lambda row: row` at module level a `def identity`, if it is the only value of the name.
    False if it is something else."""
    assignment = tree.parent(node)
    line = tree.parent(assignment) if isinstance(assignment, cst.Assign) else None
    if not isinstance(assignment, cst.Assign) or not isinstance(line, cst.SimpleStatementLine) or intent.captures:
        return False
    target = assignment.targets[0].target
    is_only = len(assignment.targets) == 1
    if not is_only or not isinstance(target, cst.Name) or binding_nodes(draft, target.value) != [target]:
        return False
    start, end = first_offset(tree, line), draft.line_end(tree.end(line))
    is_alone = draft.begins_line(start) and not draft.indentation(start) and len(line.body) == 1
    if not is_alone or draft.path.suffix == SUFFIX:
        return False
    head, *body = _of_lambda(draft, tree, node, replace(intent, name=target.value)).split("\n")
    comment = draft.text[tree.end(line) : end].strip()
    source = "\n".join([f"{head}  {comment}" if comment else head, *body])
    first, rest = above_comments(draft, start), draft.text[draft.next_line(end) :]
    below = 0 if _NAMED_LAMBDA.match(rest) else _missing_blank_lines(rest)
    above = draft.newline * _missing_blank_lines(draft.text[:first][::-1], 1)
    text = draft.lines(source, "").removesuffix(draft.newline) + draft.newline * below
    if first < start:
        draft.change(Change(first, first, above, EXPRESSION), Change(start, end, text, EXPRESSION))
    else:
        draft.change(Change(start, end, above + text, EXPRESSION))
    return True


def _missing_blank_lines(text: str, ended: int = 0) -> int:
    """How many blank lines a function of the module needs beside a text: two, and none at an end of the file. The text
    begins at the function, so the one above it comes backwards, with `ended` line ends that end no blank line."""
    blank = _BLANK.match(text)
    if blank is None or blank.end() == len(text):
        return 0
    return max(0, 2 + ended - len(_LINE_END.findall(blank[0])))


def _word(value: cst.BaseExpression) -> str | None:
    """The source of a name, a number or a string without marks; None for another expression."""
    if not isinstance(value, cst.Name | cst.Integer | cst.Float | cst.SimpleString) or value.lpar:
        return None
    return value.value if "{" not in value.value else None


def _is_function(draft: Draft, name: str, intent: Hoist) -> bool:
    """Whether a name is that of a function at module level, or of one that is imported there, and of nothing else."""
    found = bindings(draft, name)
    if len(found) != 1 or binding_nodes(draft, name) != [found[0].node]:
        return False
    meaning = found[0].meaning
    if meaning is not None:
        return found[0].sure and meaning.name is not None and name in intent.named
    return re.match(rf"def\s+{name}\b", draft.pieces[found[0].piece].text) is not None


def _is_only(draft: Draft, node: cst.FunctionDef, name: str) -> bool:
    """Whether nothing else in the file binds the name, so that it can mean the module's function everywhere."""
    planned = {function.name for function in draft.plan.functions} | {new.bound for new in draft.plan.imports}
    return name not in planned and not hasattr(builtins, name) and binding_nodes(draft, name) == [node.name]


def _move(draft: Draft, tree: Tree, node: cst.FunctionDef, intent: Hoist) -> None:
    """Plan to take the nested function out, with the comments above it, and to add it to the module. Only it has its
    name, so with another one it is renamed wherever that is read."""
    start = above_comments(draft, draft.line_start(first_offset(tree, node)))
    end = _end(draft, tree, node)
    old = node.name.value
    name = old if intent.name == old else free_name(intent.name, draft)
    source = _of_def(draft, (start, end), name)
    tokens = tokens_of(source, name)
    if tokens is None or not draft.begins_line(tree.start(node)):
        raise Refused("the function cannot be moved")
    while end < len(draft.text) and not draft.text[end : draft.line_end(end)].strip():
        end = draft.next_line(end)  # the blank lines below it
    new = NewFunction(name, tokens, source, intent.place.piece, near=True)
    draft.plan = replace(draft.plan, functions=(*draft.plan.functions, new))
    draft.change(Change(start, end, "", EXPRESSION))
    for use in _reads(tree, old) if name != old else ():
        if not start <= tree.start(use) < end:
            draft.change(Change(tree.start(use), tree.end(use), name, EXPRESSION))


def _reads(tree: Tree, name: str) -> Iterator[cst.Name]:
    """Where a piece reads a name: not the attributes and keywords that are called so."""
    for node in tree.nodes:
        if isinstance(node, cst.Name) and node.value == name:
            parent = tree.parent(node)
            is_keyword = isinstance(parent, cst.Arg) and parent.keyword is node
            if not is_keyword and not (isinstance(parent, cst.Attribute) and parent.attr is node):
                yield node


def _end(draft: Draft, tree: Tree, node: cst.FunctionDef) -> int:
    """Where the lines of a nested function end, with the comments at the end of its body."""
    end = here = draft.next_line(tree.end(node))
    depth = len(draft.indentation(tree.start(node)))
    while here < len(draft.text):
        line = draft.text[here : draft.line_end(here)].strip()
        if line and (not line.startswith("#") or len(draft.indentation(here)) <= depth):
            break
        here = draft.next_line(here)
        end = here if line else end
    return end


# --- source -----------------------------------------------------------------------------------------------------------


def _of_lambda(draft: Draft, tree: Tree, node: cst.Lambda, intent: Hoist) -> str:
    params = tree.module.code_for_node(node.params).strip()
    head = f"def {intent.name}({', '.join(part for part in (*intent.captures, params) if part)}):"
    start, end = tree.whole(node.body)
    body = "\n".join(line.rstrip() for line in re.split(r"\r\n|\r|\n", draft.text[start:end]))
    if "#" in draft.text[tree.start(node) : start]:
        raise Refused("there is a comment inside the lambda")
    try:
        cst.parse_statement(f"return {body}")
    except cst.ParserSyntaxError:
        body = f"({body})"
    first, *rest = body.split("\n")
    if rest:
        depth = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        closing = rest[-1].strip()[:1] in (")", "]", "}")
        base = 4 if closing else 8
        rest = [" " * base + line[depth:] if line.strip() else "" for line in rest]
    return "\n".join([head, f"    {first}" if _only_acts(tree, node, intent) else f"    return {first}", *rest])


def _only_acts(tree: Tree, node: cst.Lambda, intent: Hoist) -> bool:
    """Whether a lambda only makes a call, and nothing uses what that returns."""
    return not intent.returns and isinstance(node.body, cst.Call) and isinstance(tree.parent(node), cst.Arg)


def _of_def(draft: Draft, span: tuple[int, int], name: str, captures: tuple[str, ...] = ()) -> str:
    """The text of a nested function at module level, with 4 spaces a level."""
    start, end = span
    indent = draft.indentation(start)
    text = re.sub(r"\r\n?", "\n", draft.text[draft.line_start(start) : end])
    if draft.unit != "    " and ('"""' in text or "'''" in text):
        raise Refused("the function contains a multi-line string")
    lines = [_normal(line.removeprefix(indent), draft.unit) for line in text.rstrip().split("\n")]
    source = textwrap.dedent("\n".join(lines))
    head = _HEAD.search(source)
    if head is None:
        raise Refused("the function cannot be moved")
    given = ", ".join(captures)
    if captures and not source[head.end() :].lstrip().startswith(")"):
        given += "," if source[head.end() :].startswith("\n") else ", "
    return f"{source[: head.start()]}def {name}({given}{source[head.end() :]}"


def _normal(line: str, unit: str) -> str:
    body = line.lstrip(" \t")
    space = line[: len(line) - len(body)]
    levels = 0
    while unit and space.startswith(unit):
        space, levels = space[len(unit) :], levels + 1
    return "    " * levels + space + body if body.strip() else ""
