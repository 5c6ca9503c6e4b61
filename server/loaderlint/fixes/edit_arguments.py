"""Set and remove arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import libcst as cst

from loaderlint.fixes.draft import ARGUMENT, EXPRESSION, Draft, NewArgument
from loaderlint.fixes.edit_expressions import wrap
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.layout import DIRECTIVE
from loaderlint.fixes.piece_tree import Tree

#: In the value of an argument: the text of another (or the same) keyword argument of the call.
_OTHER = re.compile(r"\{argument:(\w+)\}")


def argument_changes(draft: Draft) -> list[Change]:
    """The changes that the plan's arguments need. Raises Refused if one cannot be set."""
    calls: dict[tuple[int, int], list[NewArgument]] = {}
    for argument in draft.plan.arguments:
        calls.setdefault((argument.piece, argument.anchor), []).append(argument)
    changes = []
    for (piece, anchor), arguments in calls.items():
        tree = draft.tree(piece)
        node = tree.at(anchor)
        if not isinstance(node, cst.Call):
            raise Refused("this is not a call")
        changes += _change_call(draft, tree, node, arguments)
    return changes


def override(draft: Draft, tree: Tree, call: cst.CSTNode, value: str) -> None:
    """Plan to put items of a dict after the one `**` argument of `call`. Raises Refused if it has several."""
    more = [arg.value for arg in call.args if arg.star == "**"] if isinstance(call, cst.Call) else []
    if not isinstance(call, cst.Call) or len(more) != 1:
        raise Refused("this is not a call with one ** argument")
    value = _OTHER.sub(lambda mark: _text(draft, tree, call, mark[1]), value)
    wrap(draft, tree, more[0], "{**", f", {value}}}")


def _change_call(draft: Draft, tree: Tree, call: cst.Call, arguments: Sequence[NewArgument]) -> list[Change]:
    if any(isinstance(above, cst.BaseFormattedStringContent) for above in tree.above(call)):
        raise Refused("the call is inside an f-string")
    changes = []
    fresh = []
    removed: list[cst.Arg] = []
    for argument in arguments:
        if sum(other.keyword == argument.keyword for other in arguments) > 1:
            raise Refused(f"two fixes set {argument.keyword} of one call")
        there = _find(call, argument)
        if argument.value is None:
            removed += [there] if there is not None else []
            continue
        value = _OTHER.sub(lambda mark: _text(draft, tree, call, mark[1]), argument.value)
        if there is None:
            fresh.append(f"{argument.keyword}{_equal_sign(draft, tree, call)}{value}")
        else:
            start, end = tree.whole(there.value)
            if draft.text[start:end] != value:
                changes.append(Change(start, end, value, EXPRESSION))
    if (fresh or len(removed) > 1) and any(arg is call.args[-1] for arg in removed):
        raise Refused("the last argument cannot be removed and others be added at once")
    changes += [_remove(draft, tree, call, arg) for arg in removed]
    if fresh:
        changes += _append(draft, tree, call, fresh)
    return changes


def _equal_sign(draft: Draft, tree: Tree, call: cst.Call) -> str:
    """The equal sign of keyword arguments: with spaces if those of the call have some."""
    spans = [(tree.end(arg.keyword), tree.whole(arg.value)[0]) for arg in call.args if arg.keyword is not None]
    return " = " if spans and all(draft.text[start:end] == " = " for start, end in spans) else "="


def _text(draft: Draft, tree: Tree, call: cst.Call, keyword: str) -> str:
    """The text of a keyword argument that can be evaluated twice: a constant, a name or an attribute of one."""
    node = next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == keyword), None)
    inner = node
    while isinstance(inner, cst.Attribute):
        inner = inner.value
    if node is None or not isinstance(inner, cst.Name | cst.Integer | cst.Float | cst.SimpleString):
        raise Refused(f"{keyword} cannot be written twice")
    return draft.text[tree.start(node) : tree.end(node)]


def _find(call: cst.Call, wanted: NewArgument) -> cst.Arg | None:
    """The argument that is there; None if there is none. Raises Refused if that is not known."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == wanted.keyword:
            return arg
    if wanted.value is None:
        return None
    for index, arg in enumerate(call.args):
        if arg.keyword is not None or arg.star == "**":
            break
        if arg.star and wanted.position is not None:
            raise Refused("the call's arguments are not all known (*)")
        if index == wanted.position:
            return arg
    if not wanted.beside_unpacked and any(arg.star == "**" for arg in call.args):
        raise Refused("the call's arguments are not all known (**)")
    return None


def _append(draft: Draft, tree: Tree, call: cst.Call, fresh: Sequence[str]) -> list[Change]:
    """Insert keyword arguments after the last argument that is not unpacked (`**`), laid out as that one is. A line
    with a comment for a tool stays one line, however long: the comment is about what stands before it."""
    close = tree.end(call) - 1
    if not call.args:
        opening = tree.extent(call.whitespace_before_args)[0]
        return [Change(opening, opening, ", ".join(fresh), ARGUMENT)]
    index = _last_named(call)
    last, unpacked = call.args[index], call.args[index + 1 :]
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        raise Refused("the call's argument is a generator without parentheses")
    start, end = tree.start(last), tree.whole(last.value)[1]
    has_comma = isinstance(last.comma, cst.Comma)
    after_comma = _after_comma(tree, last)
    if unpacked and draft.begins_line(tree.start(unpacked[0])):
        line_end, line = draft.line_end(after_comma), _line_of(draft, tree.start(unpacked[0]))
        return [Change(line_end, line_end, "".join(f"{line}{text}," for text in fresh), ARGUMENT)]
    if unpacked or not draft.begins_line(start):
        length, limit = sum(len(text) + 2 for text in fresh), _limit(draft, tree, call)
        line_end = draft.line_end(end)
        is_too_long = line_end - draft.line_start(end) + length > limit and not DIRECTIVE.search(
            draft.text, end, line_end
        )
        formatted = _formatted(draft, tree, call, fresh, limit) if is_too_long else None
        if formatted is not None:
            return formatted
        space = _space(draft, tree, call, end, length, limit) if is_too_long else " "
        if has_comma:
            return [Change(after_comma, after_comma, "".join(f"{space}{text}," for text in fresh), ARGUMENT)]
        return [Change(end, end, "".join(f",{space}{text}" for text in fresh), ARGUMENT)]
    line = _line_of(draft, start)
    line_end = draft.line_end(after_comma)
    if line_end > close and "#" in draft.text[close:line_end] and last.keyword is not None:
        # the comment stays with the last argument
        return [Change(start, start, "".join(f"{text},{line}" for text in fresh), ARGUMENT)]
    if line_end > close and DIRECTIVE.search(draft.text, close, line_end) and not has_comma:
        return [Change(end, end, "".join(f", {text}" for text in fresh), ARGUMENT)]
    if line_end > close:  # the closing parenthesis is on the last argument's line
        if has_comma:
            return [Change(after_comma, after_comma, "".join(f"{line}{text}," for text in fresh), ARGUMENT)]
        return [Change(end, end, "".join(f",{line}{text}" for text in fresh), ARGUMENT)]
    if has_comma:
        return [Change(line_end, line_end, "".join(f"{line}{text}," for text in fresh), ARGUMENT)]
    rest = f",{line}".join(fresh)
    if line_end == end:
        return [Change(end, end, f",{line}{rest}", ARGUMENT)]
    return [Change(end, end, ",", ARGUMENT), Change(line_end, line_end, f"{line}{rest}", ARGUMENT)]


def _last_named(call: cst.Call) -> int:
    """The index of the last argument before those at the end that are unpacked (`**`); the last one if all are."""
    plain = [index for index, arg in enumerate(call.args) if arg.star != "**"]
    return plain[-1] if plain else len(call.args) - 1


def _line_of(draft: Draft, start: int) -> str:
    """A new line, indented as what begins its line at `start`."""
    return draft.newline + draft.text[draft.line_start(start) : start]


def _limit(draft: Draft, tree: Tree, call: cst.Call) -> int:
    """How long a line of the call may become."""
    return draft.original.line_length_at(draft.line_start(tree.start(call)), draft.line_end(tree.end(call)))


def _formatted(draft: Draft, tree: Tree, call: cst.Call, fresh: Sequence[str], limit: int) -> list[Change] | None:
    """What lays out the call with its new arguments as black and ruff do: all on one line of their own, or on one each.
    None without such a formatter, and where the call is no statement's only bracket, or holds comments or more lines
    than these do."""
    spans = [(tree.start(arg), tree.whole(arg.value)[1]) for arg in call.args]
    opening, close = tree.extent(call.whitespace_before_args)[0], tree.end(call) - 1
    inside = draft.text[spans[0][0] : close]
    texts = [draft.text[start:end] for start, end in spans]
    is_statement = isinstance(tree.parent(call), cst.Assign | cst.AnnAssign | cst.Return | cst.Expr)
    if draft.original.broken_length is None or not is_statement or "#" in inside or any("\n" in one for one in texts):
        return None
    if 1 < len({draft.line_start(start) for start, _ in spans}) < len(spans):
        return None  # some lines hold several arguments
    base = draft.indentation(tree.start(call))
    line = draft.newline + base + draft.original.unit
    head = draft.text[opening : spans[0][0]]
    if isinstance(call.args[-1].comma, cst.Comma) or ("#" in head and not head.endswith(line)):
        return None
    closes_below = "\n" in draft.text[spans[-1][1] : close]
    if ("\n" in head and not closes_below) or any(" = " in one for one in fresh):
        return (
            None  # formatters close a call below its arguments, and leave no space around `=`: this one is not theirs
        )
    length = len(line.strip("\r\n").expandtabs()) + len(", ".join([*texts, *fresh]))
    together = length <= draft.original.call_length(limit)
    space, comma = (" ", "") if together else (line, ",")
    gaps = [Change(end, start, f",{space}", ARGUMENT) for (_, end), (start, _) in pairwise(spans)]
    first = [] if head.endswith(line) else [Change(opening, spans[0][0], line, ARGUMENT)]
    added, index = "".join(f",{space}{one}" for one in fresh), _last_named(call)
    if index < len(gaps):
        gaps[index] = gaps[index]._replace(text=added + gaps[index].text)
        added = ""
    changes = [*first, *gaps, Change(spans[-1][1], close, added + comma + draft.newline + base, ARGUMENT)]
    return [change for change in changes if draft.text[change.start : change.end] != change.text]


def _space(draft: Draft, tree: Tree, call: cst.Call, end: int, length: int, limit: int) -> str:
    """What parts the argument that ends at `end` from a new one of this `length`, for which its line has no room: a new
    line, aligned with the arguments above, or a space if that leaves no room either."""
    line = draft.line_start(end)
    starts = [start for start in map(tree.start, call.args) if draft.line_start(start) == line]
    aligned = starts[0] if starts else tree.start(call.args[0])
    above = draft.text[draft.line_start(aligned) : aligned]
    indent = re.sub(r"[^\t]", " ", above)
    if len(indent.expandtabs()) + length > limit:
        return " "
    return draft.newline + indent


def _remove(draft: Draft, tree: Tree, call: cst.Call, arg: cst.Arg) -> Change:
    """Remove an argument with its comma and its line if nothing else is on it; comments stay."""
    index = next(number for number, other in enumerate(call.args) if other is arg)
    start, end = tree.start(arg), tree.whole(arg.value)[1]
    after = tree.extent(arg)[1]  # behind the comma and the white space that follows
    if index + 1 < len(call.args):
        following = tree.start(call.args[index + 1])
        if _plain(draft.text[end:following]):
            return Change(start, following, "", EXPRESSION)
        return Change(start, _after_comma(tree, arg), "", EXPRESSION)
    stop = _after_comma(tree, arg)
    if index == 0:
        opening = tree.extent(call.whitespace_before_args)[0]
        if _plain(draft.text[opening:start]) and _plain(draft.text[end:after]):
            return Change(opening, after, "", EXPRESSION)
        return Change(start, stop, "", EXPRESSION)
    previous = call.args[index - 1]
    before = tree.whole(previous.value)[1]
    if stop > end:
        before = _after_comma(tree, previous)
    if _plain(draft.text[before:start]):
        return Change(before, stop, "", EXPRESSION)
    return Change(start, stop, "", EXPRESSION)


def _after_comma(tree: Tree, arg: cst.Arg) -> int:
    """The offset behind the comma of an argument, or behind the argument if it has none."""
    if not isinstance(arg.comma, cst.Comma):
        return tree.whole(arg.value)[1]
    return tree.extent(arg.comma.whitespace_before)[1] + 1


def _plain(text: str) -> bool:
    """Whether there is no comment in what stands between two arguments."""
    return "#" not in text
