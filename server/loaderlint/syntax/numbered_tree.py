"""The tree of Python's own parser with the numbers and places that the nodes have in libcst's tree.

An anchor is the index of a node in libcst's tree (`loaderlint.syntax.walk`), and libcst takes ten times as long. Both
can be derived from the tree of Python's parser: it is walked in the order of the text, and each node counts for as many
nodes as it has in libcst's tree (an argument is an `Arg`, perhaps with a `Name`, around its value). If a number is not
certain, there is no answer at all; if a place is not, there is none for that node; libcst then decides. This is the
case for patterns, type parameters, template strings, and whatever else is rare or differs between versions of
Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from loaderlint.syntax.bare_tree import Anchors, Tree, bare
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.source import LineIndex
from loaderlint.syntax.span import Span
from loaderlint.syntax.strings import TRIVIA, Parts, Unclear, parts_of_strings
from loaderlint.syntax.wrapping import BODY, wrapping

_LINE_END = re.compile(r"\r\n|\n")
_COMMENT = re.compile(r"#[^\r\n]*")
_HEAD = re.compile(r"(?:async(?:\s|\\)+)?(?:def|class)(?:\s|\\)+(\w+)")
_AS_NAME = re.compile(r"(?:\s|\\)*\bas(?:\s|\\)+\w+")
_WORD = re.compile(r"\w+")
#: Bytes of a line that is not ASCII: in longer ones it takes too long to count the characters before each node.
_MOST_BYTES = 10_000
#: Behind a statement: the line goes on behind a backslash.
_CONTINUED = re.compile(r"[ \t]*;?[ \t]*\\")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A bare tree, the anchors of its nodes, how many nodes libcst's tree has, and of each anchor what tells its
    place."""

    tree: Tree
    anchors: Anchors
    count: int
    _walk: _Walk
    _first_line: int
    _end: int

    def spans(self, anchors: Collection[int]) -> dict[int, Span]:
        """The places of those `anchors` whose place is certain, as `loaderlint.syntax.positions.spans` has them."""
        walk = self._walk
        index = LineIndex(walk.source)
        found: dict[int, Span] = {}
        for anchor in anchors:
            node = walk.found.get(anchor)
            place = None if node is None else _PLACES.get(node.__class__, _whole)(walk, node)
            if place is None:
                continue
            # The body that was put behind the head of a class or clause is not in the file.
            line, column = index.position(min(place[0], self._end))
            end_line, end_column = index.position(min(place[1], self._end))
            found[anchor] = Span(line - self._first_line, column, end_line - self._first_line, end_column)
        return found


def numbered(piece: Piece) -> Numbered | None:
    """The tree of `piece` with its anchors; None if libcst has to say which they are."""
    tree = bare(piece)
    if tree is None:
        return None
    before, after = wrapping(piece, BODY)
    walk = _Walk(before + piece.text + after)
    try:
        count = walk.number(tree)
    except Unclear:
        return None
    return Numbered(tree, walk.anchors, count, walk, len(_LINE_END.findall(before)), len(before) + len(piece.text))


class _NameOf(NamedTuple):
    """The node of a name of which Python's tree has the text only: that of a def, the `as` of a handler."""

    owner: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler


class _Hidden(NamedTuple):
    """What stands between here and the next one with False is inside a formatted string, where Python before 3.12 tells
    wrong places."""

    begins: bool


#: What the walk goes over: a node of Python's tree, or None for a node that only libcst's tree has.
_Item = ast.AST | _NameOf | _Hidden | None
_NODE: tuple[None] = (None,)


class _Walk:
    """One walk over a tree. `found` is what tells the place of an anchor, `source` the text with its wrapping."""

    __slots__ = ("_lines", "_starts", "anchors", "found", "inside", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.anchors = Anchors({}, {}, {})
        self.found: dict[int, ast.AST | _NameOf] = {}
        self.inside = False
        self._starts = [0, *(one.end() for one in _LINE_END.finditer(source))]
        self._lines = [] if source.isascii() else source.encode().split(b"\n")

    def number(self, tree: Tree) -> int:
        """Give all nodes of `tree` their numbers, and say how many there are. Raises Unclear where they are not
        certain.

        Does not recurse, so that the depth of a tree does not matter."""
        if any(len(line) > _MOST_BYTES for line in self._lines):
            raise Unclear
        nodes, names, found, inner = self.anchors.nodes, self.anchors.names, self.found, _INNER
        stack: list[_Item] = [*reversed(tree.nodes)]
        if tree.nodes and _is_simple(tree.nodes[0]):
            stack.append(None)
        pop = stack.pop
        number = 0
        while stack:
            node = pop()
            if node is None:
                number += 1
                continue
            if isinstance(node, _Hidden):
                self.inside = node.begins
                continue
            if isinstance(node, _NameOf):
                names[id(node.owner)] = number
            else:
                nodes[id(node)] = number
            if not self.inside:
                found[number] = node
            number += 1
            if node.__class__ in _LEAVES:
                continue
            get = inner.get(node.__class__)
            if get is None:
                raise Unclear
            stack += get(self, node)[::-1]
        return number

    def start(self, node: Any) -> int:
        """The offset in the source at which `node` begins."""
        return self._offset(node.lineno - 1, node.col_offset)

    def end(self, node: Any) -> int:
        """The offset in the source at which `node` ends."""
        return self._offset(node.end_lineno - 1, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        if self._lines:  # Python counts bytes
            column = len(self._lines[line][:column].decode())
        return self._starts[line] + column

    def past(self, offset: int) -> int:
        """Where the next token begins, from `offset` on."""
        return TRIVIA.match(self.source, offset).end()  # type: ignore[union-attr]  # matches always

    def before(self, offset: int) -> int:
        """Where what stands before `offset` ends, spaces and line ends left out."""
        while self.source[offset - 1].isspace():
            offset -= 1
        return offset

    def closed(self, offset: int, limit: int) -> tuple[int, int, int]:
        """Behind the closing parentheses that follow an expression from `offset` on, those behind `limit` left out; how
        many they are, and where the next token begins."""
        count = 0
        following = self.past(offset)
        while following < limit and self.source[following] == ")":
            offset = following + 1
            count += 1
            following = self.past(offset)
        return offset, count, following

    def opened(self, start: int, end: int) -> int:
        """How many parentheses open between two tokens."""
        return _COMMENT.sub("", self.source[start:end]).count("(")

    def encloses(self, node: ast.Tuple) -> bool:
        """Whether a tuple has parentheses of its own."""
        start = self.start(node)
        if self.source[start] != "(":
            return False
        if not node.elts:
            return True
        first = node.elts[0]
        return self.opened(start, self.start(first)) > self.closed(self.end(first), self.end(node))[1]


def _is_simple(node: ast.AST) -> bool:
    return node.__class__ in _SIMPLE


# --- expressions: the nodes inside of each, in the order of libcst's tree ---------------------------------------------


def _attribute(walk: _Walk, node: ast.Attribute) -> Sequence[_Item]:
    return node.value, None


def _constant(walk: _Walk, node: ast.Constant) -> Sequence[_Item]:
    """A string may be several, which are nested to the right. Inside formatted strings there are none of these."""
    if walk.inside or not isinstance(node.value, str | bytes):
        return ()
    parts = parts_of_strings(walk.source, walk.start(node), walk.end(node))
    return _NODE * (2 * len(parts) - 2)


def _formatted(walk: _Walk, node: ast.JoinedStr) -> Sequence[_Item]:
    """Each string has parts, texts and expressions with their format; several strings are nested to the right."""
    if walk.inside:
        raise Unclear
    strings = parts_of_strings(walk.source, walk.start(node), walk.end(node))
    items: list[_Item] = [_Hidden(True)]
    values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
    values.reverse()
    for number, parts in enumerate(strings):
        if 0 < number < len(strings) - 1:
            items.append(None)
        if len(strings) > 1:
            items.append(None)
        _add_parts(parts, values, items)
    if values:
        raise Unclear
    return [*items, _Hidden(False)]


def _add_parts(parts: Parts, values: list[ast.FormattedValue], items: list[_Item]) -> None:
    """Add the nodes of the `parts` of a formatted string, whose expressions are the last ones of `values`."""
    for part in parts:
        items.append(None)
        if part is None:
            continue
        if not values:
            raise Unclear
        value = values.pop()
        items.append(value.value)
        inner = getattr(value.format_spec, "values", ())
        nested = [one for one in inner if isinstance(one, ast.FormattedValue)]
        nested.reverse()
        _add_parts(part, nested, items)
        if nested:
            raise Unclear


def _call(walk: _Walk, node: ast.Call) -> Sequence[_Item]:
    return [node.func, *_arguments(node.args, node.keywords)]


def _arguments(args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[_Item]:
    """Each argument in an `Arg`; one with a star is the node of the star itself."""
    nodes: list[Any] = [*args, *keywords]
    if keywords and args and args[-1].__class__ is ast.Starred:  # the only ones that may stand behind keywords
        nodes.sort(key=_place)
    items: list[_Item] = []
    for node in nodes:
        if node.__class__ is ast.keyword:
            items += (None, node.value) if node.arg is None else (None, None, node.value)
        elif node.__class__ is ast.Starred:
            items.append(node)
        else:
            items += (None, node)
    return items


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _starred(walk: _Walk, node: ast.Starred) -> Sequence[_Item]:
    return (node.value,)


def _sequence(walk: _Walk, node: Any) -> Sequence[_Item]:
    return _elements(node.elts)


def _elements(nodes: Iterable[ast.expr]) -> list[_Item]:
    items: list[_Item] = []
    for node in nodes:
        if node.__class__ is not ast.Starred:
            items.append(None)
        items.append(node)
    return items


def _dict(walk: _Walk, node: ast.Dict) -> Sequence[_Item]:
    items: list[_Item] = []
    for key, value in zip(node.keys, node.values, strict=True):
        items += (None, value) if key is None else (None, key, value)
    return items


def _subscript(walk: _Walk, node: ast.Subscript) -> Sequence[_Item]:
    """Several indices are a tuple for Python, and for libcst nothing of their own: the tuple stands where the subscript
    does."""
    index: ast.expr = node.slice
    if index.__class__ is not ast.Tuple:
        return [node.value, *_index(index)]
    assert isinstance(index, ast.Tuple)
    if walk.inside:
        raise Unclear
    if walk.encloses(index):
        return [node.value, *_index(index)]
    walk.anchors.nodes[id(index)] = walk.anchors.nodes[id(node)]
    return [node.value, *(item for one in index.elts for item in _index(one))]


def _index(node: ast.expr) -> Sequence[_Item]:
    if node.__class__ is ast.Starred:
        raise Unclear
    return (None, node) if node.__class__ is ast.Slice else (None, None, node)


def _slice(walk: _Walk, node: ast.Slice) -> Sequence[_Item]:
    return [one for one in (node.lower, node.upper, node.step) if one is not None]


def _binary(walk: _Walk, node: ast.BinOp) -> Sequence[_Item]:
    return node.left, node.right


def _boolean(walk: _Walk, node: ast.BoolOp) -> Sequence[_Item]:
    """libcst reads `a and b and c` as `(a and b) and c`. So does the lowering; the tree is changed to that, since each
    of the two has a place."""
    values = node.values
    if len(values) > 2:
        left = values[0]
        for value in values[1:-1]:
            left = ast.BoolOp(node.op, [left, value], lineno=node.lineno, col_offset=node.col_offset)
        node.values = [left, values[-1]]
    return node.values


def _unary(walk: _Walk, node: ast.UnaryOp) -> Sequence[_Item]:
    return (node.operand,)


def _comparison(walk: _Walk, node: ast.Compare) -> Sequence[_Item]:
    items: list[_Item] = [node.left]
    for value in node.comparators:
        items += (None, value)
    return items


def _if_expression(walk: _Walk, node: ast.IfExp) -> Sequence[_Item]:
    return node.body, node.test, node.orelse


def _named_expression(walk: _Walk, node: ast.NamedExpr) -> Sequence[_Item]:
    return node.target, node.value


def _value(walk: _Walk, node: Any) -> Sequence[_Item]:
    return () if node.value is None else (node.value,)


def _yield_from(walk: _Walk, node: ast.YieldFrom) -> Sequence[_Item]:
    return None, node.value


def _comprehension(walk: _Walk, node: Any) -> Sequence[_Item]:
    if node.elt.__class__ is ast.Starred:  # Python 3.15
        raise Unclear
    return [node.elt, *_generators(node.generators)]


def _dict_comprehension(walk: _Walk, node: ast.DictComp) -> Sequence[_Item]:
    value: ast.expr | None = node.value
    if value is None:  # Python 3.15
        raise Unclear
    return [node.key, value, *_generators(node.generators)]


def _generators(nodes: Iterable[ast.comprehension]) -> list[_Item]:
    items: list[_Item] = []
    for node in nodes:
        items += (None, node.target, node.iter)
        for test in node.ifs:
            items += (None, test)
    return items


def _lambda(walk: _Walk, node: ast.Lambda) -> Sequence[_Item]:
    return [*_parameters(node.args), node.body]


def _parameters(node: ast.arguments) -> list[_Item]:
    items: list[_Item] = [None]
    plain = [*node.posonlyargs, *node.args]
    defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
    for param, default in zip(plain, defaults, strict=True):
        _add_parameter(param, default, items)
    if node.vararg is not None:
        _add_parameter(node.vararg, None, items)
    for param, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        _add_parameter(param, default, items)
    if node.kwarg is not None:
        _add_parameter(node.kwarg, None, items)
    return items


def _add_parameter(node: ast.arg, default: ast.expr | None, items: list[_Item]) -> None:
    items += (node, None)
    annotation = node.annotation
    if annotation.__class__ is ast.Starred:  # `*args: *Ts`
        raise Unclear
    if annotation is not None:
        items += (None, annotation)
    if default is not None:
        items.append(default)


# --- simple statements ------------------------------------------------------------------------------------------------


def _assign(walk: _Walk, node: ast.Assign) -> Sequence[_Item]:
    items: list[_Item] = []
    for target in node.targets:
        items += (None, target)
    return [*items, node.value]


def _annotated(walk: _Walk, node: ast.AnnAssign) -> Sequence[_Item]:
    if walk.start(node) != walk.start(node.target):  # `(x): int`, which libcst does not read
        raise Unclear
    return (node.target, None, node.annotation, *(() if node.value is None else (node.value,)))


def _augmented(walk: _Walk, node: ast.AugAssign) -> Sequence[_Item]:
    return node.target, node.value


def _delete(walk: _Walk, node: ast.Delete) -> Sequence[_Item]:
    """Several targets are a tuple for libcst, and so is one with a comma behind."""
    targets = node.targets
    if len(targets) == 1 and walk.source[walk.end(node) - 1] != ",":
        return targets
    return [None, *_elements(targets)]


def _raise(walk: _Walk, node: ast.Raise) -> Sequence[_Item]:
    if node.exc is None:
        return ()
    return (node.exc,) if node.cause is None else (node.exc, None, node.cause)


def _assert(walk: _Walk, node: ast.Assert) -> Sequence[_Item]:
    return (node.test,) if node.msg is None else (node.test, node.msg)


def _import(walk: _Walk, node: ast.Import) -> Sequence[_Item]:
    return node.names


def _import_from(walk: _Walk, node: ast.ImportFrom) -> Sequence[_Item]:
    module = _NODE * _dotted(node.module) if node.module else ()
    return [*module, None] if node.names[0].name == "*" else [*module, *node.names]


def _alias(walk: _Walk, node: ast.alias) -> Sequence[_Item]:
    return _NODE * (_dotted(node.name) + (2 if node.asname is not None else 0))


def _dotted(name: str) -> int:
    return 2 * name.count(".") + 1


def _names(walk: _Walk, node: ast.Global | ast.Nonlocal) -> Sequence[_Item]:
    return _NODE * (2 * len(node.names))


# --- compound statements ----------------------------------------------------------------------------------------------


def _suite(walk: _Walk, body: Sequence[ast.stmt]) -> list[_Item]:
    """A block, with a node for each line of simple statements; or the statements behind the colon."""
    items: list[_Item] = [None]
    first = body[0]
    if _is_simple(first):
        source, start = walk.source, walk.start(first)
        line = source.rfind("\n", 0, start) + 1
        if source[line:start].strip(" \t"):
            return [None, *body]
        if source[max(line - 3, 0) : line].rstrip("\r\n").endswith("\\"):
            raise Unclear
    last = -1
    for node in body:
        if _is_simple(node):
            if node.lineno != last:
                items.append(None)
            last = node.end_lineno or -1
            if _CONTINUED.match(walk.source, walk.end(node)):
                raise Unclear
        items.append(node)
    return items


def _else(walk: _Walk, body: Sequence[ast.stmt]) -> list[_Item]:
    return [None, *_suite(walk, body)] if body else []


def _if(walk: _Walk, node: ast.If) -> Sequence[_Item]:
    orelse: Sequence[ast.stmt] = node.orelse
    if len(orelse) == 1 and isinstance(orelse[0], ast.If) and walk.source.startswith("elif", walk.start(orelse[0])):
        return [node.test, *_suite(walk, node.body), orelse[0]]
    return [node.test, *_suite(walk, node.body), *_else(walk, orelse)]


def _for(walk: _Walk, node: ast.For | ast.AsyncFor) -> Sequence[_Item]:
    return [node.target, node.iter, *_suite(walk, node.body), *_else(walk, node.orelse)]


def _while(walk: _Walk, node: ast.While) -> Sequence[_Item]:
    return [node.test, *_suite(walk, node.body), *_else(walk, node.orelse)]


def _with(walk: _Walk, node: ast.With | ast.AsyncWith) -> Sequence[_Item]:
    return [*node.items, *_suite(walk, node.body)]


def _with_item(walk: _Walk, node: ast.withitem) -> Sequence[_Item]:
    return (node.context_expr,) if node.optional_vars is None else (node.context_expr, None, node.optional_vars)


def _try(walk: _Walk, node: ast.Try) -> Sequence[_Item]:
    return [
        *_suite(walk, node.body),
        *node.handlers,
        *_else(walk, node.orelse),
        *_else(walk, node.finalbody),
    ]


def _handler(walk: _Walk, node: ast.ExceptHandler) -> Sequence[_Item]:
    if isinstance(node.type, ast.Tuple) and not walk.encloses(node.type):  # Python 3.14
        raise Unclear
    items: list[_Item] = [] if node.type is None else [node.type]
    if node.name is not None:
        items += (_NameOf(node), None)
    return [*items, *_suite(walk, node.body)]


def _function(walk: _Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Sequence[_Item]:
    _refuse_type_parameters(node)
    items = [*_decorators(node.decorator_list), _NameOf(node), *_parameters(node.args)]
    if node.returns is not None:
        items += (None, node.returns)
    return [*items, *_suite(walk, node.body)]


def _class(walk: _Walk, node: ast.ClassDef) -> Sequence[_Item]:
    _refuse_type_parameters(node)
    bases, keywords = node.bases, node.keywords
    if bases and keywords and _place(bases[-1]) > _place(keywords[0]):  # which libcst does not read
        raise Unclear
    arguments = _arguments(bases, keywords)
    return [*_decorators(node.decorator_list), _NameOf(node), *arguments, *_suite(walk, node.body)]


def _refuse_type_parameters(node: Any) -> None:
    if getattr(node, "type_params", None):
        raise Unclear


def _decorators(nodes: Iterable[ast.expr]) -> list[_Item]:
    items: list[_Item] = []
    for node in nodes:
        items += (None, node)
    return items


# --- places -----------------------------------------------------------------------------------------------------------

_Place = tuple[int, int] | None


def _whole(walk: _Walk, node: Any) -> _Place:
    return walk.start(node), walk.end(node)


def _tuple_place(walk: _Walk, node: ast.Tuple) -> _Place:
    """Without the parentheses."""
    start, end = walk.start(node), walk.end(node)
    if not walk.encloses(node):
        return start, end
    if not node.elts:
        return (start + 1, start + 1) if end == start + 2 else None
    last, _, following = walk.closed(walk.end(node.elts[-1]), end - 1)
    return walk.past(start + 1), following + 1 if walk.source[following] == "," else last


def _generator_place(walk: _Walk, node: ast.GeneratorExp) -> _Place:
    """Without the parentheses."""
    last = node.generators[-1]
    inside = walk.end(last.ifs[-1] if last.ifs else last.iter)
    return walk.past(walk.start(node) + 1), walk.closed(inside, walk.end(node) - 1)[0]


def _boolean_place(walk: _Walk, node: ast.BoolOp) -> _Place:
    """One of our own ends where its last operand does, behind which stands an operator."""
    if getattr(node, "end_lineno", None) is not None:
        return _whole(walk, node)
    return walk.start(node), walk.closed(walk.end(node.values[-1]), len(walk.source))[0]


def _slice_place(walk: _Walk, node: ast.Slice) -> _Place:
    """libcst counts spaces behind a colon to the slice."""
    end = walk.end(node)
    return None if walk.source[end - 1] == ":" and walk.past(end) > end else (walk.start(node), end)


def _parameter_place(walk: _Walk, node: ast.arg) -> _Place:
    """Its stars and its name."""
    source, start = walk.source, walk.start(node)
    end = _WORD.match(source, start).end()  # type: ignore[union-attr]  # a name is there
    stars = walk.before(start)
    if source[stars - 1] == "*":
        start = stars - 2 if source[stars - 2] == "*" else stars - 1
    return start, end


def _item_place(walk: _Walk, node: ast.withitem) -> _Place:
    """With the parentheses of what is entered and of the target; others around several items do not count."""
    target = node.optional_vars
    if target is None:
        return None
    source, limit = walk.source, len(walk.source)
    _, closed, following = walk.closed(walk.end(node.context_expr), limit)
    start = walk.start(node.context_expr)
    for _ in range(closed):
        start = walk.before(start) - 1
        if source[start] != "(":
            return None
    end = walk.end(target)
    for _ in range(walk.opened(following, walk.start(target))):
        end = walk.past(end) + 1
    return start, end


def _compound_place(walk: _Walk, node: ast.stmt) -> _Place:
    """Up to the end of its last simple statement, without a semicolon behind that."""
    last: Any = node
    while not _is_simple(last):
        inner = getattr(last, "handlers", None)
        last = (getattr(last, "finalbody", None) or getattr(last, "orelse", None) or inner or last.body)[-1]
    return walk.start(node), walk.end(last)


def _name_place(walk: _Walk, name: _NameOf) -> _Place:
    owner = name.owner
    if not isinstance(owner, ast.ExceptHandler):
        found = _HEAD.match(walk.source, walk.start(owner))
        return None if found is None else found.span(1)
    if owner.type is None:
        return None
    found = _AS_NAME.match(walk.source, walk.closed(walk.end(owner.type), len(walk.source))[0])
    return None if found is None else found.span()


_Inner = Callable[[_Walk, Any], Sequence[_Item]]

#: Node class -> function that gives the nodes inside; what is not here makes the numbers unclear.
_INNER: dict[type, _Inner] = {
    ast.Attribute: _attribute,
    ast.Constant: _constant,
    ast.JoinedStr: _formatted,
    ast.Call: _call,
    ast.Starred: _starred,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.IfExp: _if_expression,
    ast.NamedExpr: _named_expression,
    ast.Await: _value,
    ast.Yield: _value,
    ast.YieldFrom: _yield_from,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Lambda: _lambda,
    ast.Expr: _value,
    ast.Return: _value,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.alias: _alias,
    ast.Global: _names,
    ast.Nonlocal: _names,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.withitem: _with_item,
    ast.Try: _try,
    ast.ExceptHandler: _handler,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
}
if hasattr(ast, "TryStar"):
    _INNER[ast.TryStar] = _try
#: A parameter's name and annotation are counted where it is.
_LEAVES = frozenset({ast.Name, ast.arg, ast.Pass, ast.Break, ast.Continue, _NameOf})

#: Node class -> function that gives the place, where it is not simply that of the node.
_PLACES: dict[type, Callable[[_Walk, Any], _Place]] = {
    ast.Tuple: _tuple_place,
    ast.GeneratorExp: _generator_place,
    ast.BoolOp: _boolean_place,
    ast.Slice: _slice_place,
    ast.arg: _parameter_place,
    ast.withitem: _item_place,
    _NameOf: _name_place,
}
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.ExceptHandler)
_PLACES.update(dict.fromkeys((*_COMPOUND, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), _compound_place))
if hasattr(ast, "TryStar"):
    _PLACES[ast.TryStar] = _compound_place

_SIMPLE = frozenset(
    {
        *(ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Return, ast.Raise, ast.Assert),
        *(ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal),
    }
)
