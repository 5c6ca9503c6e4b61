"""Wrap and replace expressions."""

from __future__ import annotations

import libcst as cst

from loaderlint.fixes.draft import EXPRESSION, WRAP_END, WRAP_START, Draft
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.name_scopes import bindings, is_stored
from loaderlint.fixes.piece_tree import Tree

_PRIMARY = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
)
_NUMBER = (cst.Integer, cst.Float, cst.Imaginary)
#: What must have parentheses inside a call's parentheses as well.
_LOOSE = (cst.Tuple, cst.Yield, cst.NamedExpr, cst.GeneratorExp)
_OPENING, _CLOSING = ("(", "[", ", "), (")", "]", ",")
#: Where any expression but a tuple without parentheses, yield and walrus may stand.
_OPEN = (
    cst.Assign,
    cst.AnnAssign,
    cst.AugAssign,
    cst.Return,
    cst.Expr,
    cst.Arg,
    cst.Index,
    cst.Element,
    cst.DictElement,
    cst.If,
    cst.While,
)


def wrap(draft: Draft, tree: Tree, node: cst.CSTNode, before: str, after: str) -> None:
    """Plan to put `before` and `after` around the expression `node`, with parentheses where they are needed; of a `for`
    loop or a `yield from` statement, around what it goes over."""
    expression = readable(tree, _iterable_of(node) or node)
    start, end = tree.whole(expression)
    call = before.endswith("(") and after.startswith(")")
    if call and draft.text.endswith(before, 0, start) and draft.text.startswith(after, end):
        return  # the code reads so already
    listed = _list_of(draft, tree, expression) if before == "sorted(" else None
    if listed is not None:
        _sort_instead(draft, tree, listed, after[:-1])
        return
    tight = _fits(tree, expression, f"{before}x{after}")
    if call and expression.lpar and (isinstance(expression, cst.GeneratorExp) or not isinstance(expression, _LOOSE)):
        before, after = before[:-1], after[1:]  # its own parentheses become the call's
    elif _needs_parentheses(expression, call, before, after):
        before, after = before + "(", ")" + after
    if not tight:
        before, after = "(" + before, after + ")"
    before, after = _parted(draft, start, before, ""), _parted(draft, end, "", after)
    changes = (Change(start, start, before, WRAP_START), Change(end, end, after, WRAP_END))
    draft.change(*(change for change in changes if change.text))


def _list_of(draft: Draft, tree: Tree, expression: cst.BaseExpression) -> cst.Call | None:
    """The call of the builtin `list` that `expression` is the only argument of; None without one."""
    argument = tree.parent(expression)
    call = tree.parent(argument) if argument is not None else None
    if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call) or len(call.args) != 1:
        return None
    if argument.star or argument.keyword is not None or not _is_builtin(draft, tree, call.func, "list"):
        return None
    return call


def _is_builtin(draft: Draft, tree: Tree, function: cst.BaseExpression, name: str) -> bool:
    """Whether `function` is the builtin `name`: neither the module nor the piece of `tree` binds that name."""
    if not isinstance(function, cst.Name) or function.value != name or bindings(draft, name):
        return False
    return not any(isinstance(node, cst.Name) and node.value == name and is_stored(tree, node) for node in tree.nodes)


def _sort_instead(draft: Draft, tree: Tree, call: cst.Call, more: str) -> None:
    """Plan to write `sorted(...)` for `list(...)`: it gives a list as well. `more` is said behind its argument."""
    draft.change(Change(*tree.whole(call.func), "sorted", EXPRESSION))
    if more:
        end = tree.whole(call.args[0].value)[1]
        draft.change(Change(end, end, more, WRAP_END))


def _iterable_of(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What a `for` loop or a `yield from` statement goes over; None for other nodes."""
    match node:
        case cst.For(iter=iterable) | cst.Expr(value=cst.Yield(value=cst.From(item=iterable))):
            return iterable
    return None


def replace_expression(draft: Draft, tree: Tree, node: cst.CSTNode, text: str) -> None:
    """Plan to write `text` for the expression `node`, with parentheses where they are needed."""
    expression = readable(tree, node)
    start, end = tree.start(expression), tree.end(expression)
    if draft.text[start:end] == text:
        return
    if _binding(text) == "tight":
        start, end = tree.whole(expression)
    if not expression.lpar and not _fits(tree, expression, text):  # its own parentheses stay
        text = f"({text})"
    if draft.text[start:end] != text:
        draft.change(Change(start, end, _parted(draft, end, "", _parted(draft, start, text, "")), EXPRESSION))


def _parted(draft: Draft, offset: int, first: str, last: str) -> str:
    """The text that begins (`first`) or ends (`last`) at `offset`, with a space if it would run into a word there."""
    if _is_word(first[:1]) and _is_word(draft.text[offset - 1 : offset]):
        return " " + first
    if _is_word(last[-1:]) and _is_word(draft.text[offset : offset + 1]):
        return last + " "
    return first + last


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def readable(tree: Tree, node: cst.CSTNode) -> cst.BaseExpression:
    """`node` if it is an expression that is read, so that another can stand there. Raises Refused if not."""
    if not isinstance(node, cst.BaseExpression):
        raise Refused("this is not an expression")
    if is_stored(tree, node):
        raise Refused("this is not an expression that is read")
    for above in tree.above(node):
        if isinstance(above, cst.BaseFormattedStringContent):
            raise Refused("the place is inside an f-string")
        if isinstance(above, cst.Annotation | cst.MatchPattern):
            raise Refused("the place is not an ordinary expression")
    return node


def _needs_parentheses(expression: cst.BaseExpression, call: bool, before: str, after: str) -> bool:
    """Whether `expression` must get parentheses between `before` and `after`. `call`: the parentheses in these hold
    nothing else."""
    if expression.lpar or call and isinstance(expression, cst.GeneratorExp):
        return False
    if before.endswith(_OPENING) and after.startswith(_CLOSING):  # brackets or commas part it from the rest
        return isinstance(expression, _LOOSE)
    if isinstance(expression, _NUMBER):
        return after.startswith(".")
    return not isinstance(expression, _PRIMARY)


def _fits(tree: Tree, expression: cst.BaseExpression, text: str) -> bool:
    """Whether `text` can stand for `expression` and its parentheses without any."""
    binding = _binding(text)
    parent = tree.parent(expression)
    if binding == "number":
        return not isinstance(parent, cst.Attribute)
    if binding == "tight":
        return True
    if binding == "loose":
        return isinstance(parent, cst.Assign | cst.Return | cst.Expr)
    return isinstance(parent, _OPEN) and not (isinstance(parent, cst.Arg) and bool(parent.star))


def _binding(text: str) -> str:
    """How `text` binds: 'tight' as a call, 'number', 'ordinary', or 'loose' as a tuple without parentheses."""
    try:
        expression = cst.parse_expression(text)
    except cst.ParserSyntaxError as error:
        raise Refused("the fix is not a valid expression") from error
    if isinstance(expression, _NUMBER):
        return "number"
    if expression.lpar or isinstance(expression, _PRIMARY):
        return "tight"
    return "loose" if isinstance(expression, _LOOSE) else "ordinary"
