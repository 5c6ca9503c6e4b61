"""The anchors of the nodes of a bare tree, and their places from Python's parser.

An anchor is the number of a node: parents before their children, children in the order of the text. Nodes without a
place of their own (operators, an argument's keyword, the text of a formatted string) have no number."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from loaderlint.syntax.bare_tree import Tree
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.source import LineIndex
from loaderlint.syntax.span import Span
from loaderlint.syntax.wrapping import BODY, wrapping

#: Before 3.12, Python gives wrong places inside formatted strings.
_TELLS_PLACES_IN_STRINGS = sys.version_info >= (3, 12)

_LINE_END = re.compile(r"\r?\n")
_WORD = re.compile(r"(\w+)")
_HEAD = re.compile(r"(?:async(?:\s|\\)+)?(?:def|class)(?:\s|\\)+(\w+)")
#: The text after the type of a handler, which may begin with its closing parentheses.
_AS_NAME = re.compile(r"(?:[\s\\)]|#[^\r\n]*)*as(?:\s|\\)+(\w+)")


class NameOf(NamedTuple):
    """The name of a def or a handler, which the tree stores only as text."""

    owner: Any


Node = ast.AST | NameOf


class Anchors(NamedTuple):
    """The anchors of the nodes of a bare tree, and those of the names of defs and handlers, by the `id` of nodes."""

    nodes: dict[int, int]
    names: dict[int, int]


def preorder(tree: Tree) -> list[Node]:
    """The nodes of a tree, parents first. The index of a node is its anchor.

    Does not recurse, so that the depth of a tree does not matter."""
    found: list[Node] = []
    stack: list[Node] = [*reversed(tree.nodes)]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind not in _PLACELESS:
            found.append(node)
        if kind in _LEAVES:
            continue
        children = _CHILDREN.get(kind, _in_fields)(node)
        children.reverse()
        stack += children
    return found


def anchors(nodes: Sequence[Node]) -> Anchors:
    """The anchors by node, of the nodes by anchor."""
    found = Anchors({}, {})
    for number, node in enumerate(nodes):
        if isinstance(node, NameOf):
            found.names[id(node.owner)] = number
        else:
            found.nodes[id(node)] = number
    return found


def are_alike(some: Sequence[Node], others: Sequence[Node]) -> bool:
    """Whether the nodes of two trees of one piece are the same, so that an anchor means the same in both."""
    if len(some) != len(others):
        return False
    kinds = ((one.__class__, other.__class__) for one, other in zip(some, others, strict=True))
    return all(one is other or _PLAINER.get(one, one) is _PLAINER.get(other, other) for one, other in kinds)


# --- children ---------------------------------------------------------------------------------------------------------


def _in_fields(node: Any) -> list[Node]:
    kind = node.__class__
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple([name for name in kind._fields if name not in _LEFT_OUT])
    found: list[Node] = []
    for name in names:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif value.__class__ is list:
            found += [one for one in value if isinstance(one, ast.AST)]
    return found


def _in_string(node: Any) -> list[Node]:
    return [*_expressions(node.values)]


def _expressions(values: Sequence[Any]) -> Iterator[ast.AST]:
    """The expressions between the braces of a formatted string, those of format specifications included."""
    for value in values:
        if value.__class__ is not ast.Constant:
            yield value.value
            if value.format_spec is not None:
                yield from _expressions(value.format_spec.values)


def _in_dict(node: ast.Dict) -> list[Node]:
    pairs = zip(node.keys, node.values, strict=True)
    return [one for pair in pairs for one in pair if one is not None]


def _in_mapping_pattern(node: Any) -> list[Node]:
    return [one for pair in zip(node.keys, node.patterns, strict=True) for one in pair]


def _in_call(node: ast.Call) -> list[Node]:
    return [node.func, *_arguments(node.args, node.keywords)]


def _arguments(args: list[ast.expr], keywords: list[ast.keyword]) -> list[Any]:
    found: list[Any] = [*args, *keywords]
    if keywords and args and args[-1].__class__ is ast.Starred:  # the only arguments that may follow keywords
        found.sort(key=lambda one: (one.lineno, one.col_offset))
    return found


def _in_parameters(node: ast.arguments) -> list[Node]:
    plain = [*node.posonlyargs, *node.args]
    defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
    pairs = [*zip(plain, defaults, strict=True), (node.vararg, None)]
    pairs += [*zip(node.kwonlyargs, node.kw_defaults, strict=True), (node.kwarg, None)]
    return [one for pair in pairs for one in pair if one is not None]


def _in_function(node: Any) -> list[Node]:
    returns = [node.returns] if node.returns is not None else []
    return [*node.decorator_list, NameOf(node), node.args, *returns, *node.body]


def _in_class(node: ast.ClassDef) -> list[Node]:
    return [*node.decorator_list, NameOf(node), *_arguments(node.bases, node.keywords), *node.body]


def _in_handler(node: ast.ExceptHandler) -> list[Node]:
    found: list[Node] = [node.type] if node.type is not None else []
    if node.name is not None:
        found.append(NameOf(node))
    return [*found, *node.body]


#: Nodes without a number whose children have one.
_PLACELESS = frozenset({ast.arguments, ast.comprehension, ast.keyword, ast.withitem, ast.match_case})
_LEAVES = frozenset({ast.Name, ast.Constant, ast.alias, NameOf})
#: Fields whose nodes have no place, or are not in facts.
_LEFT_OUT = frozenset({"ctx", "op", "ops", "type_params"})
#: Node class -> the fields with its children, in the order of the text; filled from the class if the class has that
#: order.
_FIELDS: dict[type, tuple[str, ...]] = {ast.IfExp: ("body", "test", "orelse")}
#: Node class -> function that returns the children, for classes whose fields are not in order.
_CHILDREN: dict[type, Callable[[Any], list[Node]]] = {
    ast.JoinedStr: _in_string,
    ast.Dict: _in_dict,
    ast.Call: _in_call,
    ast.arguments: _in_parameters,
    ast.FunctionDef: _in_function,
    ast.AsyncFunctionDef: _in_function,
    ast.ClassDef: _in_class,
    ast.ExceptHandler: _in_handler,
    ast.MatchMapping: _in_mapping_pattern,
}
#: Node class that only some versions of Python have -> the class that trees from libcst have instead.
_PLAINER: dict[type, type] = {}
if hasattr(ast, "TryStar"):
    _PLAINER[ast.TryStar] = ast.Try
if hasattr(ast, "TypeAlias"):
    _PLAINER[ast.TypeAlias] = ast.Assign
if hasattr(ast, "TemplateStr"):
    _PLAINER[ast.TemplateStr] = ast.JoinedStr
    _CHILDREN[ast.TemplateStr] = _in_string


# --- places -----------------------------------------------------------------------------------------------------------


def spans(piece: Piece, nodes: Sequence[Node], wanted: Collection[int]) -> dict[int, Span]:
    """The places of the anchors `wanted` of Python's tree of `piece`, relative to the piece: line 0 is its first line.
    Those that Python does not give are left out."""
    hidden = frozenset() if _TELLS_PLACES_IN_STRINGS else _inside_strings(nodes)
    text = _Text(piece)
    found = {}
    for anchor in wanted:
        node = nodes[anchor]
        if id(node) not in hidden:
            place = _PLACES.get(node.__class__, _Text.whole)(text, node)
            if place is not None:
                found[anchor] = Span(*text.index.position(place[0]), *text.index.position(place[1]))
    return found


def _inside_strings(nodes: Sequence[Node]) -> frozenset[int]:
    strings = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    return frozenset(id(inner) for string in strings for inner in ast.walk(string) if inner is not string)


_Place = tuple[int, int]


class _Text:
    """The text of a piece, which Python parsed in its wrapping. Python's lines are 1-based, its columns are UTF-8
    bytes."""

    def __init__(self, piece: Piece) -> None:
        self.text = piece.text
        self.index = LineIndex(piece.text)
        self._first = len(_LINE_END.findall(wrapping(piece, BODY)[0])) + 1
        self._lines = [] if piece.text.isascii() else piece.text.encode().split(b"\n")

    def _offset(self, line: int, column: int) -> int:
        line -= self._first
        if line < len(self._lines):
            column = len(self._lines[line][:column].decode())
        # The body that was added after the head of a class or clause is not in the text.
        return min(self.index.line_start(line) + column, len(self.text))

    def whole(self, node: Any) -> _Place:
        """The place of a whole node."""
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def parameter(self, node: ast.arg) -> _Place | None:
        """The name of a parameter."""
        return self._matched(_WORD, self.whole(node)[0])

    def name(self, node: NameOf) -> _Place | None:
        """The name of a def or handler."""
        owner = node.owner
        if isinstance(owner, ast.ExceptHandler):
            return self._matched(_AS_NAME, self.whole(owner.type)[1])
        return self._matched(_HEAD, self.whole(owner)[0])

    def _matched(self, pattern: re.Pattern[str], offset: int) -> _Place | None:
        found = pattern.match(self.text, offset)
        return None if found is None else found.span(1)


_PLACES: dict[type, Callable[[_Text, Any], _Place | None]] = {ast.arg: _Text.parameter, NameOf: _Text.name}
